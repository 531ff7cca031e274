//! The running node: state of all processors, and the files that move it on, each named after what it decides.

mod access;
mod agreement;
mod application;
mod blocking;
mod broadcast;
mod carry_out;
mod counters;
mod defer;
mod dispatch;
mod event;
mod fault;
mod fetch;
mod gpu;
mod hints;
mod history;
mod issue;
mod occupancy;
mod remote;
mod reports;
mod scalar;
mod service;
mod sizes;
mod state;
mod trans_fw;
mod wave;

pub(crate) use application::applications_table;
pub(crate) use occupancy::Lacking;
pub(crate) use state::Node;
