//! The running node: what it has, and the files that move it on, each named after what it decides.

mod access;
mod agreement;
pub(crate) mod breakdown;
pub(crate) mod broadcast;
mod dispatch;
pub(crate) mod executor;
pub(crate) mod faults;
pub(crate) mod forward;
pub(crate) mod hardware;
mod issue;
pub(crate) mod jobs;
pub(crate) mod node;
mod remote;
mod step;
