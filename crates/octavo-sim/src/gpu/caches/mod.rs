//! Caches and memory of a GPU.

mod arrivals;
mod dirty_lines;
pub(crate) mod dram;
pub(crate) mod either;
pub(crate) mod interleave;
pub(crate) mod l1;
pub(crate) mod l2;
pub(crate) mod line_access;
mod line_sets;
pub(crate) mod memory_traffic;
mod sectors;
pub(crate) mod settled;
