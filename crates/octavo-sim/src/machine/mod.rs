//! The running node: what it has, and the files that move it on, each named after what it decides.

pub(crate) mod agreement;
pub(crate) mod breakdown;
pub(crate) mod broadcast;
pub(crate) mod carry_out;
pub(crate) mod dispatch;
pub(crate) mod faults;
pub(crate) mod forward;
pub(crate) mod jobs;
pub(crate) mod node;
pub(crate) mod remote;
pub(crate) mod service;
