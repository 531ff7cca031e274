//! Caches and memory of a GPU.

mod arrivals;
mod dram;
mod interleave;
mod l1;
mod l2;
mod line_sets;
mod written;

pub(crate) use dram::Dram;
pub(crate) use interleave::Interleave;
pub(crate) use l1::{Arrival, L1Caches};
pub(crate) use l2::L2Cache;

/// What is done to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineAccess {
    Load,
    /// All of its bytes are written.
    Store,
    /// Some of its bytes are written: the others must be there.
    PartialStore,
}
