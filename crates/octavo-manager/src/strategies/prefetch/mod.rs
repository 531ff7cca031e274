//! Prefetchers, which choose the pages that come along when pages migrate.

mod chunks;
mod none;
mod random_page;
mod sequential_local;
mod tree;
mod tree_neighborhood;
mod when_full;

use std::ops::Range;

use octavo_registry::Registry;

use crate::contract::block::BlockMap;
use crate::contract::failure::Failure;
use crate::contract::geometry::Geometry;
use crate::contract::ids::{PageId, PageRun, ProcessorId};

/// Every prefetcher, by name.
pub static PREFETCHERS: Registry<Box<dyn Prefetch>, Geometry> = Registry::new(
    "prefetch",
    &[
        &none::ENTRY,
        &tree::ENTRY,
        &tree_neighborhood::ENTRY,
        &sequential_local::ENTRY,
        &random_page::ENTRY,
        &chunks::LOCAL_PATH,
        &chunks::MULTI_PATH,
        &when_full::ENTRY,
    ],
);

/// Chooses more pages of a block to bring. They move together with the demanded pages, before any fault of the service
/// is woken, as in the driver.
///
/// What it chooses is a wish: pages that are there already, busy, replicated, or that the placement strategy wants to
/// stay where they are, are passed over. The rest come in ascending order, neighbours that are alike together or not at
/// all: others are evicted for them, and those for which no room can be made stay where they are.
pub trait Prefetch: Send {
    /// Whether neighbouring faults of a batch on one block are served together, by one service for each processor.
    fn serves_blocks(&self) -> bool;

    /// These pages are no longer part of an allocation.
    fn freed(&mut self, _run: PageRun) {}

    /// Which more pages of the block to bring.
    fn pages(&mut self, service: &Service) -> BlockMap;

    /// Whether it also brings whole blocks without faults after each batch.
    fn looks_ahead(&self) -> bool {
        false
    }

    /// Which blocks to bring to a GPU after a batch with faults of it, by any page of each, nearest first, and how.
    /// Pages of these blocks that are on the host, or that another GPU keeps for others, come by plans of their own,
    /// beside the faults.
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

/// Where the faults of one GPU in one batch are.
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
    /// To the GPU that is to have them, over its own links.
    Local,
    /// Pages on the host go to another GPU's idle memory, over that GPU's link. Pages in idle memory go to the GPU that
    /// is to have them.
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
    /// Pages of the extent that processors fight over, in the guard's eyes. They do not come along, and none of them is
    /// in `faulted`.
    pub contested: BlockMap,
    /// Whether anything had left the destination to make room before these faults were served.
    pub was_full: bool,
}

impl Service {
    /// The leaves, of `leaf_pages` aligned pages each, that the allocation has a part of, by their number in the block.
    fn leaves(&self, leaf_pages: u32) -> Range<u32> {
        let first = self.extent.first.0 - self.block.first.0;
        first / leaf_pages..(first + self.extent.count).div_ceil(leaf_pages)
    }

    /// The pages of one of them that are part of the allocation: the first, and one past the last.
    fn leaf(&self, leaf: u32, leaf_pages: u32) -> (u32, u32) {
        let first = self.extent.first.0 - self.block.first.0;
        ((leaf * leaf_pages).max(first), ((leaf + 1) * leaf_pages).min(first + self.extent.count))
    }
}

#[cfg(test)]
mod tests {
    use octavo_registry::Choice;
    use octavo_units::Bytes;

    use super::*;

    const GEOMETRY: Geometry = Geometry { gpus: 1, page_size: Bytes(4 << 10) };

    fn built(name: &str, options: &str) -> Box<dyn Prefetch> {
        let choice = Choice { name: name.to_owned(), options: serde_json::from_str(options).unwrap() };
        PREFETCHERS.build(&choice, &GEOMETRY).unwrap()
    }

    /// Faults on these pages of the second block, all of it there or of this allocation.
    fn service((first, count): (u32, u32), faults: &[u32]) -> Service {
        let mut faulted = BlockMap::EMPTY;
        faults.iter().for_each(|&page| faulted.insert(page));
        let run = |first, count| PageRun { first: PageId(512 + first), count };
        let (block, extent) = (run(0, 512), run(first, count));
        Service {
            destination: ProcessorId::gpu(0),
            block,
            extent,
            faulted,
            resident: faulted,
            contested: BlockMap::EMPTY,
            was_full: false,
        }
    }

    #[test]
    fn the_leaves_of_an_allocation_are_numbered_from_its_blocks_start() {
        let service = service((40, 50), &[]);
        assert_eq!(service.leaves(16), 2..6);
        assert_eq!([2, 5].map(|leaf| service.leaf(leaf, 16)), [(40, 48), (80, 90)]);
    }

    #[test]
    fn a_random_page_is_one_of_the_allocation() {
        let mut prefetch = built("random-page", "{}");
        let service = service((100, 4), &[100]);
        let brought: Vec<u32> = (0..50).flat_map(|_| prefetch.pages(&service).iter().collect::<Vec<_>>()).collect();
        assert!(!brought.is_empty() && brought.iter().all(|page| (101..104).contains(page)), "{brought:?}");
    }

    #[test]
    fn with_a_threshold_of_one_percent_any_fault_brings_the_block() {
        let mut prefetch = tree::with_threshold(1, &GEOMETRY).unwrap();
        assert_eq!(prefetch.pages(&service((0, 512), &[3])).count(0, 512), 511);
    }

    #[test]
    fn a_freed_allocation_begins_anew_and_others_go_on() {
        let mut tree = built("tree", r#"{"min_faults": 2}"#);
        let (freed, other) = ((0, 64), (128, 64));
        let brings = |tree: &mut dyn Prefetch, run: (u32, u32)| tree.pages(&service(run, &[run.0])) != BlockMap::EMPTY;
        assert!(!brings(&mut *tree, freed) && !brings(&mut *tree, other), "the first fault of each");
        tree.freed(service(freed, &[]).extent);
        assert!(brings(&mut *tree, other), "the second");
        assert!(!brings(&mut *tree, freed), "the first again");
    }

    #[test]
    fn blocks_are_served_if_either_of_two_prefetchers_serves_them() {
        let serves = |before: &str, after: &str| {
            built("when-full", &format!(r#"{{"before": "{before}", "after": "{after}"}}"#)).serves_blocks()
        };
        assert_eq!([serves("none", "none"), serves("tree", "none"), serves("none", "tree")], [false, true, true]);
    }
}
