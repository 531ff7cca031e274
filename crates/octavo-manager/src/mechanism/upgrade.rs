//! A page that is already where it is wanted: the only holder gets the right to write.

use crate::contract::ids::{MemoryId, PageRun};
use crate::contract::masks::ProcessorMask;
use crate::contract::plan::{Cause, Permission};
use crate::transaction::Transaction;

pub(super) fn upgrade(tx: &mut Transaction<'_>, run: PageRun, holder: MemoryId) -> Cause {
    tx.memory.statistics.upgrades += u64::from(run.count);
    map_local(tx, run, holder);
    tx.used(holder, run);
    Cause::Migration
}

/// Maps a page on the processor near the memory that holds it, for reading and writing.
pub(super) fn map_local(tx: &mut Transaction<'_>, run: PageRun, holder: MemoryId) {
    tx.map(ProcessorMask::only(holder.processor()), run, Some(holder), Permission::ReadWrite);
}
