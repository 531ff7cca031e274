//! The calls that a prefetcher receives, and its answers.

use std::ops::Range;

use crate::contract::block::BlockMap;
use crate::contract::failure::Failure;
use crate::contract::ids::{PageId, PageRun, ProcessorId};

/// Chooses more pages of a block to bring. They move together with the demanded pages, before any fault of the service
/// is woken, as in the driver.
///
/// Its choice is a wish: pages that are already resident, busy or replicated, or that the placement strategy keeps in
/// place, are skipped. The rest come in ascending order, neighbours that are alike together or not at all: others are
/// evicted for them, and those for which no room can be made stay where they are.
pub trait Prefetch: Send {
    /// Whether neighbouring faults of a batch on one block are served together, by one service for each processor.
    fn serves_blocks(&self) -> bool;

    /// These pages are no longer part of an allocation.
    fn freed(&mut self, _run: PageRun) {}

    /// The further pages of the block to bring.
    fn pages(&mut self, service: &Service) -> BlockMap;

    /// Whether it also brings whole blocks without faults after each batch.
    fn looks_ahead(&self) -> bool {
        false
    }

    /// The blocks to bring to a GPU after a batch with faults of it, by any page of each, nearest first, and how. Pages
    /// of these blocks that are on the host, or that another GPU keeps for others, come in plans of their own, in
    /// addition to the faults.
    fn ahead(&mut self, _batch: &FaultBatch, _blocks: &mut Vec<PageId>) -> Path {
        Path::Local
    }

    /// Why it can no longer decide, if so. Until the run ends it may answer anything that the contract allows.
    fn failure(&self) -> Option<Box<Failure>> {
        None
    }

    /// Bytes of its state.
    fn bytes(&self) -> usize {
        0
    }
}

/// The places of one GPU's faults in one batch.
#[derive(Clone, Copy, Debug)]
pub struct FaultBatch {
    /// The faulting processor.
    pub processor: ProcessorId,
    /// The lowest page.
    pub first: PageId,
    /// The highest.
    pub last: PageId,
}

/// How blocks come that are brought ahead of need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// To the GPU that should have them, over its own links.
    Local,
    /// Pages on the host go to another GPU's idle memory, over that GPU's link. Pages in idle memory go to the GPU that
    /// should have them.
    Multi,
}

/// Pages of one block that migrate to one processor because of faults.
#[derive(Clone, Copy, Debug)]
pub struct Service {
    /// The processor that gets the pages.
    pub destination: ProcessorId,
    /// The block; maps are relative to its first page.
    pub block: PageRun,
    /// The part of the block that belongs to the faulting pages' allocation.
    pub extent: PageRun,
    /// Demanded pages that migrate.
    pub faulted: BlockMap,
    /// Pages that are at the destination, including those.
    pub resident: BlockMap,
    /// Pages of the extent that processors fight over, in the guard's eyes. They come separately, and none of them is
    /// in `faulted`.
    pub contested: BlockMap,
    /// Whether anything had left the destination to make room before these faults were served.
    pub was_full: bool,
}

impl Service {
    /// The leaves, of `leaf_pages` aligned pages each, that the allocation has a part of, by their number in the block.
    pub(super) fn leaves(&self, leaf_pages: u32) -> Range<u32> {
        let first = self.extent.first.0 - self.block.first.0;
        first / leaf_pages..(first + self.extent.count).div_ceil(leaf_pages)
    }

    /// The pages of one of them that are part of the allocation: the first, and one past the last.
    pub(super) fn leaf(&self, leaf: u32, leaf_pages: u32) -> (u32, u32) {
        let first = self.extent.first.0 - self.block.first.0;
        ((leaf * leaf_pages).max(first), ((leaf + 1) * leaf_pages).min(first + self.extent.count))
    }
}
