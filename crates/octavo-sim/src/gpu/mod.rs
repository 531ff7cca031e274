//! One GPU: its state, and the execution of its wavefronts.

pub(crate) mod caches;
mod change;
pub(crate) mod counters;
pub(crate) mod counts;
pub(crate) mod fault_buffer;
pub(crate) mod path;
pub(crate) mod reports;
pub(crate) mod run;
pub(crate) mod stand_ins;
pub(crate) mod state;
pub(crate) mod touches;
pub(crate) mod translate;
pub(crate) mod under_way;
pub(crate) mod units;
