//! Compute units: the wavefronts that they hold, and the instructions that these issue.

mod by_age;
pub(crate) mod decoder;
pub(crate) mod fetch;
pub(crate) mod groups;
pub(crate) mod history;
pub(crate) mod issue;
pub(crate) mod line_queue;
pub(crate) mod occupancy;
pub(crate) mod pipelines;
pub(crate) mod schedule;
pub(crate) mod stalls;
pub(crate) mod unit;
pub(crate) mod wave;
