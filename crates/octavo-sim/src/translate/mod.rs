//! Address translation: page-table entries, TLBs and walkers of the GPUs.

mod entry;
mod large;
mod page_sets;
mod table_lines;
mod tlb;
mod walker;

pub(crate) use entry::{Entry, PageTable};
pub(crate) use large::{LargePages, entries_for};
pub(crate) use table_lines::TableLines;
pub(crate) use tlb::{Tlb, TlbHit};
pub(crate) use walker::{TableShape, Walk, Walker};

/// A first-level TLB: of a compute unit, or of a scalar cache.
#[derive(Clone, Copy)]
pub(crate) enum FirstLevel {
    Vector(usize),
    Scalar(usize),
}
