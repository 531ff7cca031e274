//! Address translation: page-table entries, TLBs and walkers of the GPUs.

mod entry;
mod large;
mod table_lines;
mod tlb;
mod walker;

pub(crate) use entry::{Entry, PageTable};
pub(crate) use large::{LargePages, entries_for};
pub(crate) use table_lines::TableLines;
pub(crate) use tlb::{Tlb, TlbHit};
pub(crate) use walker::{TableShape, Walk, Walker};
