//! The running node: what it has, and the files that move it on, each named after what it decides.

mod access;
mod agreement;
pub(crate) mod breakdown;
mod broadcast;
mod defer;
mod dispatch;
mod executor;
mod faults;
mod forward;
mod hardware;
mod issue;
pub(crate) mod jobs;
pub(crate) mod node;
mod notices;
pub(crate) mod outcome;
mod remote;
mod serve;
mod step;
