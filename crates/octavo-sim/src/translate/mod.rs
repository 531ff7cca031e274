//! Address translation: page-table entries, TLBs and walkers of the GPUs.

mod entry;
mod tlb;
mod walker;

pub(crate) use entry::{Entry, PageTable};
pub(crate) use tlb::Tlb;
pub(crate) use walker::{TableShape, Walker};
