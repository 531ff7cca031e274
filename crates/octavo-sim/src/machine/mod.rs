//! The running node: what it has, and the files that move it on, each named after what it decides.

mod access;
mod agreement;
mod broadcast;
mod capacity;
mod defer;
mod dispatch;
mod dispatcher;
pub(crate) mod executor;
mod faults;
mod forward;
pub(crate) mod happening;
mod hardware;
mod issue;
mod issue_timed;
pub(crate) mod jobs;
pub(crate) mod node;
mod notices;
pub(crate) mod outcome;
pub(crate) mod program;
mod remote;
mod replays;
mod serve;
mod settle;
pub(crate) mod starts;
mod step;
mod system;
