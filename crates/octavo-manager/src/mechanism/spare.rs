//! Victims in the memory of a GPU that keeps them for others: they come back to the processor that touches them, or
//! make room for what their keeper needs itself.

use super::upgrade::map_local;
use super::{accessors, map_remote, migrate, populate};
use crate::contract::event::Fault;
use crate::contract::ids::{MemoryId, PageId, PageRun};
use crate::contract::plan::Cause;
use crate::mechanism::room::{NoRoom, make_room};
use crate::pages::residency::Residency;
use crate::strategies::decision::Decision;
use crate::transaction::Transaction;

/// Serves a fault on a page that is kept for others. No processor maps such a page: it goes where an untouched page
/// would be made.
pub(super) fn serve(tx: &mut Transaction<'_>, fault: &Fault, decision: Decision) -> Result<Cause, NoRoom> {
    let (run, memory) = (PageRun::one(fault.page), populate::place(tx, fault.processor, decision));
    migrate::relocate(tx, run, memory, Cause::Migration)?;
    if memory.processor() != fault.processor {
        map_remote::serve_come(tx, fault);
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

/// Blocks that a memory keeps for others and can remove without a copy, except for some.
pub(super) struct Removable<'a> {
    pub memory: MemoryId,
    /// The blocks of these pages stay: a step that makes room must not hold the pages that the room is for.
    pub near: Option<PageRun>,
    /// Blocks that are removed already.
    pub removed: &'a [(MemoryId, u32)],
}

impl Removable<'_> {
    /// First come first, until they have `wanted` frames or there are no more; and how many frames they have.
    pub fn until(&self, tx: &Transaction<'_>, wanted: u32) -> (Vec<u32>, u32) {
        let (mut blocks, mut frames) = (Vec::new(), 0);
        if wanted == 0 {
            return (blocks, frames);
        }
        let pages = &tx.memory.pages;
        for block in pages.spare().removable(self.memory).filter(|&block| !self.stays(tx, block)) {
            let kept = pages.kept_in_block(self.memory, block, true);
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

    fn stays(&self, tx: &Transaction<'_>, block: u32) -> bool {
        let span = tx.memory.pages.geometry().block_pages();
        let around = |run: PageRun| (run.first.0 / span..=(run.first.0 + run.count - 1) / span).contains(&block);
        self.near.is_some_and(around) || self.removed.contains(&(self.memory, block))
    }
}

/// Removes a block that is kept for others and has its copy on the host.
pub(super) fn remove(tx: &mut Transaction<'_>, memory: MemoryId, block: u32) {
    let pages = tx.memory.pages.kept_in_block(memory, block, true);
    tx.each_uniform_run(&pages, |tx, run| {
        tx.release(memory, run);
        tx.memory.statistics.yielded += u64::from(run.count);
    });
}

/// Whether all pages of a block that `memory` holds for itself are among `leaving`, which are of that block.
pub(super) fn whole(tx: &Transaction<'_>, memory: MemoryId, leaving: &[PageId]) -> bool {
    let residency = Residency { pages: &tx.memory.pages, space: None };
    residency.resident_in_block(memory, leaving[0]).iter().count() == leaving.len()
}
