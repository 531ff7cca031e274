//! A page leaves a full memory: a sole copy is written to another one, a replica is dropped.

use super::accessors;
use super::unsubscribe::end_broadcast;
use crate::contract::ids::{MemoryId, PageId, PageRun};
use crate::contract::masks::ProcessorMask;
use crate::contract::page::Mode;
use crate::contract::plan::Cause;
use crate::mechanism::removal;
use crate::mechanism::ways::Way;
use crate::pages::state::PageState;
use crate::transaction::Transaction;

/// Victims leave `from` the ways that were found for them.
pub(super) fn leave_all(tx: &mut Transaction<'_>, victims: &[PageId], from: MemoryId, ways: &[Way]) {
    let mut first = 0;
    for way in ways {
        way.removes.iter().for_each(|&block| removal::remove(tx, way.to, block));
        leave_to(tx, &victims[first..way.end], from, way.to);
        tx.draft.flight.change.precede(way.to, way.late);
        first = way.end;
    }
}

fn leave_to(tx: &mut Transaction<'_>, victims: &[PageId], from: MemoryId, to: MemoryId) {
    tx.memory.pages.note_left(victims);
    tx.each_uniform_run(victims, |tx, run| {
        let page = tx.state(run.first);
        if page.replicated() { drop_replica(tx, run, from, &page) } else { write_to(tx, run, from, to, &page) }
    });
}

fn write_to(tx: &mut Transaction<'_>, run: PageRun, from: MemoryId, to: MemoryId, page: &PageState) {
    tx.drain(page.must_drain(), run);
    tx.invalidate(page.mapped, run);
    if !to.on_host() {
        tx.relocate(run, from, to, Cause::Eviction);
        tx.memory.statistics.evictions_to_spare += u64::from(run.count);
        return;
    }
    let mut rest = Some(run);
    while let Some(run) = rest {
        let room = tx.memory.room_on_host(to, run, &tx.draft.flight.change);
        let (memory, count) = room.expect("the host was found to have room for the victims");
        let (part, beyond) = run.split(count);
        tx.relocate(part, from, memory, Cause::Eviction);
        if tx.memory.demotion.stays_mapped() {
            accessors::map_for(tx, part, ProcessorMask::only(from.processor()));
        }
        rest = beyond;
    }
    tx.memory.statistics.evictions_written += u64::from(run.count);
}

/// Its processor loses the mapping; so do those without a replica that mapped this one, the owner's. Under broadcast
/// they are drained, for a store that only this replica has seen must reach the others.
fn drop_replica(tx: &mut Transaction<'_>, run: PageRun, from: MemoryId, page: &PageState) {
    let strangers = page.mapped.difference(page.resident.processors());
    let own = page.mapped.intersection(ProcessorMask::only(from.processor()));
    let losing = if page.owner == from { own.union(strangers) } else { own };
    if page.mode == Mode::Broadcast {
        tx.drain(losing, run);
    }
    tx.invalidate(losing, run);
    tx.release(from, run);
    end_broadcast(tx, run);
    tx.memory.statistics.evictions_dropped += u64::from(run.count);
}
