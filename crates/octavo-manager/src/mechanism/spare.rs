//! Victims in the memory of a GPU that keeps them for others: they come back to whoever touches them, or make room for
//! what their keeper needs itself.

use super::upgrade::map_local;
use super::{accessors, map_remote, migrate, populate};
use crate::contract::event::Fault;
use crate::contract::ids::{MemoryId, PageId, PageRun};
use crate::contract::plan::{Cause, Step};
use crate::mechanism::room::{NoRoom, make_room};
use crate::pages::residency::Residency;
use crate::strategies::decision::Decision;
use crate::transaction::Transaction;

/// Serves a fault on a page that is kept for others. Nobody maps such a page: it goes where a page that nobody touched
/// would come into being.
pub(super) fn serve(tx: &mut Transaction<'_>, fault: &Fault, decision: Decision) -> Result<Cause, NoRoom> {
    let (run, memory) = (PageRun::one(fault.page), populate::place(tx, fault.processor, decision));
    migrate::relocate(tx, run, memory, Cause::Migration)?;
    if memory.processor() != fault.processor {
        map_remote::serve(tx, fault);
    }
    Ok(Cause::Migration)
}

/// Brings pages to a memory, from the GPU that keeps them: it is nearer than the host. Nothing tells whether they are
/// written there, so the host's copy is given up. A memory that has them already keeps them, and copies nothing.
pub(super) fn bring(tx: &mut Transaction<'_>, run: PageRun, to: MemoryId, cause: Cause) -> Result<(), NoRoom> {
    let page = tx.state(run.first);
    if let Some(own) = page.resident.of(to.processor()) {
        settle(tx, run, own);
        return Ok(());
    }
    let mut rest = Some(run);
    while let Some(run) = rest {
        let (memory, count) = make_room(tx, to, run)?;
        let (part, beyond) = run.split(count);
        tx.relocate(part, page.owner, memory, cause);
        settle(tx, part, memory);
        let statistics = &mut tx.memory.statistics;
        let counted = if cause == Cause::Prefetch { &mut statistics.prefetched } else { &mut statistics.migrations };
        *counted += u64::from(part.count);
        statistics.fetched_from_spare += u64::from(part.count);
        rest = beyond;
    }
    Ok(())
}

/// One holder becomes the only one, and the processor near it maps the pages.
fn settle(tx: &mut Transaction<'_>, run: PageRun, holder: MemoryId) {
    let others = tx.state(run.first).resident.without(holder);
    tx.release_all(others, run);
    map_local(tx, run, holder);
    tx.used(holder, run);
    accessors::map(tx, run);
}

/// Blocks that `memory` keeps for others and can remove without a copy, first come first, until they have `wanted`
/// frames or there are no more; and how many frames they have. Those near the pages that room is made for stay: a step
/// that makes room holds no page of another.
pub(super) fn removable(
    tx: &Transaction<'_>,
    memory: MemoryId,
    wanted: u32,
    room_for: Option<PageRun>,
) -> (Vec<u32>, u32) {
    let pages = &tx.memory.pages;
    let (mut blocks, mut frames) = (Vec::new(), 0);
    if wanted == 0 {
        return (blocks, frames);
    }
    let span = pages.geometry().block_pages();
    let near = |block: u32| {
        room_for.is_some_and(|run| (run.first.0 / span..=(run.first.0 + run.count - 1) / span).contains(&block))
    };
    for block in pages.spare().removable(memory).filter(|&block| !near(block)) {
        let kept = pages.kept_in_block(memory, block, true);
        if kept.iter().all(|&page| pages.slot(page).is_none()) {
            frames += kept.len() as u32;
            blocks.push(block);
        }
        if frames >= wanted {
            break;
        }
    }
    (blocks, frames)
}

/// Removes a block that is kept for others and has its copy on the host.
pub(super) fn remove(tx: &mut Transaction<'_>, memory: MemoryId, block: u32) {
    let pages = tx.memory.pages.kept_in_block(memory, block, true);
    tx.each_uniform_run(&pages, |tx, run| {
        tx.release(memory, run);
        tx.memory.statistics.yielded += u64::from(run.count);
    });
}

/// Makes room for so many pages in another GPU's memory, from free frames and what it can remove; whether there is
/// enough. Called for steps that make room: what other steps of the plan take away there, they do too late.
pub(super) fn room_beside(tx: &mut Transaction<'_>, memory: MemoryId, pages: u32, room_for: Option<PageRun>) -> bool {
    let leaves_later = |step: &Step| matches!(*step, Step::Release { memory: from, .. } if from == memory);
    // While room is made, the other steps are kept aside.
    if tx.draft.room.iter().any(leaves_later) {
        return false;
    }
    let Some(missing) = tx.memory.frames.missing(memory, pages, &tx.draft.flight.change) else { return false };
    let (blocks, frames) = removable(tx, memory, missing, room_for);
    if frames < missing {
        return false;
    }
    blocks.into_iter().for_each(|block| remove(tx, memory, block));
    true
}

/// Whether all pages of a block that `memory` holds for itself are among `leaving`, which are of that block.
pub(super) fn whole(tx: &Transaction<'_>, memory: MemoryId, leaving: &[PageId]) -> bool {
    let residency = Residency { pages: &tx.memory.pages, space: None };
    residency.resident_in_block(memory, leaving[0]).iter().count() == leaving.len()
}
