//! A page leaves a full memory: a sole copy is written to another one, a replica is dropped.

use super::unsubscribe::end_broadcast;
use crate::contract::ids::{HOST_MEMORY, MemoryId, PageId, PageRun};
use crate::contract::masks::ProcessorMask;
use crate::contract::page::Mode;
use crate::contract::plan::Cause;
use crate::mechanism::spare;
use crate::pages::state::PageState;
use crate::strategies::demotion::Occupancy;
use crate::transaction::Transaction;
use crate::transaction::state::Memory;

/// Victims leave `from` to make room for others, block by block. Those that go to the host one after another leave
/// together.
pub(super) fn leave_all(tx: &mut Transaction<'_>, victims: &[PageId], from: MemoryId, room_for: Option<PageRun>) {
    let span = tx.memory.pages.geometry().block_pages();
    let (mut first, mut end, mut host) = (0, 0, HOST_MEMORY);
    for block in victims.chunk_by(|one, next| one.0 / span == next.0 / span) {
        let to = destination(tx, block, from, room_for);
        if to != host {
            leave_to(tx, &victims[first..end], from, host);
            first = end;
        }
        end += block.len();
        if to.on_host() {
            host = to;
        } else {
            leave_to(tx, &victims[first..end], from, to);
            first = end;
        }
    }
    leave_to(tx, &victims[first..end], from, host);
}

/// Where the victims of one block go. What leaves only in part, or finds no room beside, goes to the host.
fn destination(tx: &mut Transaction<'_>, block: &[PageId], from: MemoryId, room_for: Option<PageRun>) -> MemoryId {
    let sole = block.iter().filter(|&&page| !tx.state(page).replicated()).count() as u32;
    let Memory { frames, demotion, pages, .. } = &mut *tx.memory;
    let memories = Occupancy { frames, pages, change: &tx.draft.flight.change };
    let chosen = demotion.destination(from, sole, &memories);
    if chosen.on_host() {
        return chosen;
    }
    let there = chosen != from && spare::whole(tx, from, block) && spare::room_beside(tx, chosen, sole, room_for);
    if there { chosen } else { HOST_MEMORY }
}

fn leave_to(tx: &mut Transaction<'_>, victims: &[PageId], from: MemoryId, to: MemoryId) {
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
        let room = tx.memory.frames.room_on_host(to, run.count, &tx.draft.flight.change);
        let (memory, count) = room.expect("the host was found to have room for the victims");
        let (part, beyond) = run.split(count);
        tx.relocate(part, from, memory, Cause::Eviction);
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
