//! A page that is already where it is wanted: the only holder gets the right to write.

use crate::contract::ids::{PageRun, ProcessorId, ProcessorMask};
use crate::contract::plan::{Cause, Permission};
use crate::transaction::Transaction;

pub(super) fn upgrade(tx: &mut Transaction<'_>, run: PageRun, holder: ProcessorId) -> Cause {
    tx.memory.statistics.upgrades += u64::from(run.count);
    map_local(tx, run, holder);
    tx.used(holder, run);
    Cause::Migration
}

/// Maps a page on the processor that holds it, for reading and writing.
pub(super) fn map_local(tx: &mut Transaction<'_>, run: PageRun, holder: ProcessorId) {
    tx.map(ProcessorMask::only(holder), run, Some(holder), Permission::ReadWrite);
}
