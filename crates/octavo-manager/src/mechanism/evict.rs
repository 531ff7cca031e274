//! A page leaves a full memory: a sole copy is written to the host, a replica is dropped.

use super::unsubscribe::end_broadcast;
use crate::contract::ids::{HOST_MEMORY, MemoryId, PageRun};
use crate::contract::masks::ProcessorMask;
use crate::contract::page::Mode;
use crate::contract::plan::Cause;
use crate::mechanism::room::Room;
use crate::pages::state::PageState;
use crate::strategies::demotion::Occupancy;
use crate::transaction::Transaction;
use crate::transaction::state::Memory;

pub(super) fn leave(tx: &mut Transaction<'_>, run: PageRun, from: MemoryId) {
    let page = tx.state(run.first);
    if page.replicated() { drop_replica(tx, run, from, &page) } else { write_back(tx, run, from, &page) }
}

fn write_back(tx: &mut Transaction<'_>, run: PageRun, from: MemoryId, page: &PageState) {
    tx.drain(page.must_drain(), run);
    tx.invalidate(page.mapped, run);
    let mut rest = Some(run);
    while let Some(run) = rest {
        let (memory, count) = destination(tx, run.count, from);
        let (part, beyond) = run.split(count);
        tx.relocate(part, from, memory, Cause::Eviction);
        rest = beyond;
    }
    tx.memory.statistics.evictions_written += u64::from(run.count);
}

/// Where so many pages that leave `from` go, and how many of them.
fn destination(tx: &mut Transaction<'_>, count: u32, from: MemoryId) -> Room {
    let Memory { frames, demotion, .. } = &mut *tx.memory;
    let change = &tx.draft.flight.change;
    let memories = Occupancy { frames, change };
    let chosen = demotion.destination(from, &memories);
    let spare = if chosen == from { 0 } else { memories.spare(chosen) };
    if !chosen.on_host() && spare > 0 {
        return (chosen, count.min(spare));
    }
    let host = if chosen.on_host() { chosen } else { HOST_MEMORY };
    frames.room_on_host(host, count, change).expect("the host was found to have room for the victims")
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
