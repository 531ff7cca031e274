//! Caches and memory of a GPU.

mod dram;
mod l1;
mod l2;

pub(crate) use dram::Dram;
pub(crate) use l1::L1Caches;
pub(crate) use l2::L2Cache;
