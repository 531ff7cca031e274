//! Address translation: page-table entries, TLBs and walkers of the GPUs.

pub(crate) mod entry;
pub(crate) mod first_level;
pub(crate) mod large;
mod page_sets;
pub(crate) mod ports;
pub(crate) mod table_lines;
pub(crate) mod tlb;
pub(crate) mod translation;
pub(crate) mod walker;
