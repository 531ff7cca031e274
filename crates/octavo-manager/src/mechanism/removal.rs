//! Blocks that a GPU keeps for others make room for pages that it needs itself.

use crate::contract::ids::{MemoryId, PageId, PageRun};
use crate::pages::residency::Residency;
use crate::transaction::Transaction;

/// Blocks that a memory keeps for others and can remove without a copy, except for some.
pub(super) struct Removable<'a> {
    pub memory: MemoryId,
    /// The blocks of these pages stay: a step that makes room must not hold the pages that the room is for.
    pub near: Option<PageRun>,
    /// Blocks that are removed already.
    pub removed: &'a [(MemoryId, u32)],
}

impl Removable<'_> {
    /// In order of arrival, until they have `wanted` frames or there are no more; returns how many frames they have.
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
