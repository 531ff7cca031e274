//! Replicas in broadcast mode are given up.

use crate::contract::ids::PageRun;
use crate::contract::masks::MemoryMask;
use crate::contract::page::Mode;
use crate::contract::plan::Permission;
use crate::transaction::Transaction;

/// Gives up the replicas of `leaving`, the owner's excepted. The page stays mapped for the other holders.
pub(crate) fn unsubscribe(tx: &mut Transaction<'_>, run: PageRun, leaving: MemoryMask) {
    let page = tx.state(run.first);
    let leaving = leaving.intersection(page.resident).without(page.owner);
    if leaving.is_empty() {
        return;
    }
    tx.drain(leaving.processors(), run);
    tx.invalidate(leaving.processors().intersection(page.mapped), run);
    tx.release_all(leaving, run);
    end_broadcast(tx, run);
    tx.memory.statistics.unsubscribed += u64::from(run.count) * leaving.len() as u64;
}

/// Once a single copy is left, stores to it need no broadcast.
pub(super) fn end_broadcast(tx: &mut Transaction<'_>, run: PageRun) {
    let page = tx.state(run.first);
    if page.mode != Mode::Broadcast || page.replicated() {
        return;
    }
    tx.set_mode(run, Mode::Plain);
    if !page.mapped.is_empty() {
        tx.map(page.mapped, run, Some(page.owner), Permission::ReadWrite);
    }
}
