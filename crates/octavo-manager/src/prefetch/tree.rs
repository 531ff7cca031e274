//! `tree`: the production driver's prefetcher. Whole 64 KiB pages around each fault, and then the largest subtrees of
//! the block that are already mostly there.

use octavo_registry::{Entry, OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Prefetch, Service};
use crate::{BlockMap, Geometry, ProcessorId};

/// Options of `tree`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// A subtree comes when more than this share of its pages is there or asked for, in percent, 1 to 100; default 51
    /// (`uvm_perf_prefetch_threshold`). With 1, as memHarvester (HUVM) sets it, any fault brings the whole block.
    threshold: u32,
    /// Pages of a block that must have migrated to the same processor in a row before anything is prefetched, 1 to
    /// 20; default 1 (`uvm_perf_prefetch_min_faults`).
    min_faults: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { threshold: 51, min_faults: 1 }
    }
}

pub(super) static ENTRY: Entry<Box<dyn Prefetch>, Geometry> = Entry {
    name: "tree",
    summary: "brings 64 KiB around a fault, and subtrees of the 2 MiB block that are half there",
    source: "nvidia-uvm 595.45.04, uvm_perf_prefetch.c",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, geometry| {
        let options: Options = typed::parse(options)?;
        in_range("threshold", options.threshold, 100)?;
        in_range("min_faults", options.min_faults, 20)?;
        Ok(Box::new(Tree::new(options, geometry)))
    },
};

fn in_range(key: &str, value: u32, most: u32) -> Result<(), OptionError> {
    if (1..=most).contains(&value) {
        return Ok(());
    }
    Err(OptionError::new(key, format!("expected 1 to {most}, found {value}")))
}

/// Migrations of a block to the processor it last migrated to.
#[derive(Clone, Copy, Default)]
struct History {
    processor: u8,
    pages: u8,
}

struct Tree {
    options: Options,
    block_pages: u32,
    /// Pages of 64 KiB.
    big_page: u32,
    blocks: Vec<History>,
}

impl Tree {
    fn new(options: Options, geometry: &Geometry) -> Self {
        let (block_pages, big_page) = (geometry.block_pages(), geometry.counter_group_pages());
        Self { options, block_pages, big_page, blocks: Vec::new() }
    }

    /// Whether enough pages of the block went to this destination in a row.
    fn enough_faults(&mut self, block: u32, destination: ProcessorId, faulted: u32) -> bool {
        let history = &mut self.blocks[block as usize];
        if history.processor != destination.0 {
            *history = History { processor: destination.0, pages: 0 };
        }
        history.pages = (u32::from(history.pages) + faulted).min(u32::from(u8::MAX)) as u8;
        u32::from(history.pages) >= self.options.min_faults
    }
}

impl Prefetch for Tree {
    fn serves_blocks(&self) -> bool {
        true
    }

    fn grow(&mut self, pages: usize) {
        let blocks = pages.div_ceil(self.block_pages as usize).max(self.blocks.len());
        self.blocks.resize(blocks, History::default());
    }

    fn pages(&mut self, service: &Service) -> BlockMap {
        let first = service.extent.first.0 - service.block.first.0;
        let region = Region { first, end: first + service.extent.count, big_page: self.big_page };
        let faulted = service.faulted.count(region.first, region.end);
        let block = service.block.first.0 / self.block_pages;
        if !self.enough_faults(block, service.destination, faulted) {
            return BlockMap::EMPTY;
        }
        region.prefetch(&service.faulted, &service.resident, self.options.threshold)
    }

    fn bytes(&self) -> usize {
        self.blocks.capacity() * size_of::<History>()
    }
}

/// Pages `first..end` of a block, all of one allocation.
struct Region {
    first: u32,
    end: u32,
    big_page: u32,
}

impl Region {
    fn prefetch(&self, faulted: &BlockMap, resident: &BlockMap, threshold: u32) -> BlockMap {
        let mut there = resident.union(faulted);
        self.grow_to_big_pages(faulted, &mut there);
        let mut wanted = BlockMap::EMPTY;
        for page in faulted.iter() {
            let (from, to) = self.largest_subtree(page, &there, threshold);
            wanted.insert_range(from, to);
            if to == self.end {
                break;
            }
        }
        wanted.without(faulted)
    }

    /// A fault counts for its whole 64 KiB page, or for what the region has of one at its ends.
    fn grow_to_big_pages(&self, faulted: &BlockMap, there: &mut BlockMap) {
        let mut from = self.first;
        while from < self.end {
            let to = ((from / self.big_page + 1) * self.big_page).min(self.end);
            if faulted.count(from, to) > 0 {
                there.insert_range(from, to);
            }
            from = to;
        }
    }

    /// Walks from the page to the root over nodes of 1, 2, 4, … pages; the pages of the largest that is mostly there.
    /// The tree's leaves are the region's pages, shifted so that big pages are subtrees; the shift's ghost leaves
    /// count as absent and the last node of a level is cut off at the region's end.
    fn largest_subtree(&self, page: u32, there: &BlockMap, threshold: u32) -> (u32, u32) {
        let origin = self.first / self.big_page * self.big_page;
        let leaves = self.end - origin;
        let leaf = page - origin;
        let mut largest = (page, page + 1);
        let mut size = 1;
        loop {
            let from = leaf / size * size;
            let to = (from + size).min(leaves);
            let (first, end) = ((origin + from).max(self.first), origin + to);
            if there.count(first, end) * 100 > (to - from) * threshold {
                largest = (first, end);
            }
            if size >= leaves {
                return largest;
            }
            size *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: Region = Region { first: 0, end: 512, big_page: 16 };
    const BLOCK_OF_BIG_PAGES: Region = Region { first: 0, end: 32, big_page: 1 };

    /// Serves faults one after another; KiB fetched by each.
    fn sequential(region: &Region, page_kib: u32) -> Vec<u32> {
        let mut resident = BlockMap::EMPTY;
        let mut fetched = Vec::new();
        for page in region.first..region.end {
            if resident.contains(page) {
                continue;
            }
            let mut faulted = BlockMap::EMPTY;
            faulted.insert(page);
            let before = resident.count(0, 512);
            resident = resident.union(&faulted).union(&region.prefetch(&faulted, &resident.union(&faulted), 51));
            fetched.push((resident.count(0, 512) - before) * page_kib);
        }
        fetched
    }

    /// KiB that come for `faults` in one batch.
    fn batch(region: &Region, faults: impl Iterator<Item = u32>, threshold: u32) -> u32 {
        let mut faulted = BlockMap::EMPTY;
        faults.for_each(|page| faulted.insert(page));
        faulted.union(&region.prefetch(&faulted, &faulted, threshold)).count(0, 512) * 4
    }

    #[test]
    fn an_isolated_fault_brings_sixty_four_kilobytes() {
        assert_eq!(batch(&BLOCK, [100].into_iter(), 51), 64);
    }

    #[test]
    fn sequential_faults_double() {
        assert_eq!(sequential(&BLOCK, 4), [64, 64, 128, 256, 512, 1024]);
        assert_eq!(sequential(&BLOCK_OF_BIG_PAGES, 64), [64, 64, 128, 256, 512, 1024]);
    }

    #[test]
    fn half_of_the_big_pages_are_not_enough_and_one_more_is() {
        assert_eq!(batch(&BLOCK, (0..16).map(|big| big * 32), 51), 1024);
        assert_eq!(batch(&BLOCK, (0..16).map(|big| big * 32).chain([16]), 51), 2048);
    }

    #[test]
    fn threshold_one_brings_the_block() {
        assert_eq!(batch(&BLOCK, [300].into_iter(), 1), 2048);
    }

    #[test]
    fn an_unaligned_region_keeps_big_pages_aligned_and_ends_where_it_ends() {
        let region = Region { first: 10, end: 90, big_page: 16 };
        let fetched = |page| {
            let mut faulted = BlockMap::EMPTY;
            faulted.insert(page);
            faulted.union(&region.prefetch(&faulted, &faulted, 51)).iter().collect::<Vec<_>>()
        };
        assert_eq!(fetched(20), (16..32).collect::<Vec<_>>());
        // The prefix grows to its six pages, but ten ghosts beside them keep the big page from being mostly there:
        // the largest node that is, is the aligned eight of which six exist.
        assert_eq!(fetched(12), (10..16).collect::<Vec<_>>());
        assert_eq!(fetched(89), (80..90).collect::<Vec<_>>());
    }

    #[test]
    fn random_faults_fill_a_block_in_about_fourteen() {
        // A multiplicative generator is enough here: any order without structure will do.
        let mut seed = 1u64;
        let mut faults = 0;
        for _ in 0..200 {
            let mut resident = BlockMap::EMPTY;
            while resident.count(0, 512) < 512 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let page = (seed >> 33) as u32 % 512;
                if !resident.contains(page) {
                    let mut faulted = BlockMap::EMPTY;
                    faulted.insert(page);
                    resident.insert(page);
                    resident = resident.union(&BLOCK.prefetch(&faulted, &resident, 51));
                    faults += 1;
                }
            }
        }
        let mean = f64::from(faults) / 200.0;
        assert!((13.0..14.5).contains(&mean), "{mean}");
    }
}
