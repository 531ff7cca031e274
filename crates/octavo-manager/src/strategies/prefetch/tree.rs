//! `tree`: the production driver's prefetcher. Whole 64 KiB pages around each fault, and then the largest subtrees of
//! the block that are already mostly there.
//!
//! The driver's block ends where an allocation ends, so the part of a 2 MiB block that belongs to one allocation has
//! its own tree and history. A 64 KiB page is not brought whole if processors fight over any page in it
//! (`grow_fault_granularity`); such pages are no faults to `min_faults` here. Advice (preferred locations) is not
//! modelled.

use std::collections::BTreeMap;

use octavo_registry::{Entry, OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Prefetch, Service};
use crate::contract::block::BlockMap;
use crate::contract::geometry::Geometry;
use crate::contract::ids::PageRun;

/// Pages of the largest block.
const BLOCK: u32 = 512;

/// Options of `tree`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// A subtree comes when more than this share of its pages is resident or requested, in per cent, 1 to 100; default
    /// 51 (`uvm_perf_prefetch_threshold`). With 1, as in memHarvester (HUVM), a fault brings the whole block, unless
    /// processors compete for a page of its 64 KiB.
    threshold: u32,
    /// Pages of a block that must have migrated to the same processor in a row before anything is prefetched, 1 to
    /// 20; default 1 (`uvm_perf_prefetch_min_faults`).
    min_faults: u32,
    /// Whether a fault counts for its whole 64 KiB page; default true, as for managed memory
    /// (`grow_fault_granularity`). False is what the driver does for system-allocated memory
    /// (`uvm_perf_prefetch_compute_ats`).
    big_pages: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { threshold: 51, min_faults: 1, big_pages: true }
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

/// Migrations of a block's pages to the processor they last migrated to.
#[derive(Clone, Copy, Default)]
struct History {
    processor: u8,
    pages: u8,
}

pub(super) struct Tree {
    options: Options,
    /// Pages of 64 KiB.
    big_page: u32,
    /// By the first page of each allocation's part of a block.
    blocks: BTreeMap<u32, History>,
}

/// A tree of which subtrees come from this share of their pages on, in percent.
pub(super) fn with_threshold(threshold: u32, geometry: &Geometry) -> Result<Tree, OptionError> {
    in_range("threshold", threshold, 100)?;
    Ok(Tree::new(Options { threshold, ..Options::default() }, geometry))
}

impl Tree {
    fn new(options: Options, geometry: &Geometry) -> Self {
        Self { options, big_page: geometry.counter_group_pages(), blocks: BTreeMap::new() }
    }

    /// Whether enough pages of the block went to this destination in a row.
    fn enough_faults(&mut self, service: &Service) -> bool {
        let history = self.blocks.entry(service.extent.first.0).or_default();
        if history.processor != service.destination.0 {
            *history = History { processor: service.destination.0, pages: 0 };
        }
        let faulted = service.faulted.count(0, BLOCK);
        history.pages = (u32::from(history.pages) + faulted).min(u32::from(u8::MAX)) as u8;
        u32::from(history.pages) >= self.options.min_faults
    }
}

impl Prefetch for Tree {
    fn serves_blocks(&self) -> bool {
        true
    }

    fn freed(&mut self, run: PageRun) {
        self.blocks.retain(|first, _| !(run.first.0..run.first.0 + run.count).contains(first));
    }

    fn pages(&mut self, service: &Service) -> BlockMap {
        if !self.enough_faults(service) {
            return BlockMap::EMPTY;
        }
        let first = service.extent.first.0 - service.block.first.0;
        let end = first + service.extent.count;
        let region = Region::new(first, end, self.options.big_pages.then_some(self.big_page));
        let there = region.grown(&service.faulted, &service.contested).union(&service.resident);
        region.prefetch(&service.faulted, &there, self.options.threshold)
    }

    fn bytes(&self) -> usize {
        self.blocks.len() * size_of::<(u32, History)>()
    }
}

/// Pages `first..end` of a block, all of one allocation, and how its tree lies over them.
struct Region {
    first: u32,
    end: u32,
    /// Pages that a fault counts for, aligned.
    grain: u32,
    /// Where the tree's first leaf would be. Below `first` if big pages have to be subtrees: the leaves between count
    /// as absent.
    origin: u32,
}

impl Region {
    /// Faults grow to big pages if there are any; a region that contains no complete big page is one itself.
    fn new(first: u32, end: u32, big_page: Option<u32>) -> Self {
        let Some(big_page) = big_page else { return Self { first, end, grain: 1, origin: first } };
        if first.next_multiple_of(big_page) + big_page > end {
            return Self { first, end, grain: BLOCK, origin: first };
        }
        Self { first, end, grain: big_page, origin: first / big_page * big_page }
    }

    fn prefetch(&self, faulted: &BlockMap, there: &BlockMap, threshold: u32) -> BlockMap {
        let mut wanted = BlockMap::EMPTY;
        for page in faulted.iter() {
            let (from, to) = self.largest_subtree(page, there, threshold);
            wanted.insert_range(from, to);
            if to == self.end {
                break;
            }
        }
        wanted.without(faulted)
    }

    /// A fault counts for all of its grain that is in the region, unless processors fight over a page of it.
    fn grown(&self, faulted: &BlockMap, contested: &BlockMap) -> BlockMap {
        let mut grown = *faulted;
        let mut from = self.first;
        while self.grain > 1 && from < self.end {
            let to = ((from / self.grain + 1) * self.grain).min(self.end);
            if faulted.count(from, to) > 0 && contested.count(from, to) == 0 {
                grown.insert_range(from, to);
            }
            from = to;
        }
        grown
    }

    /// Walks from the page to the root over nodes of 1, 2, 4, … leaves; the pages of the largest that is mostly there.
    /// The last node of a level is cut off at the region's end.
    fn largest_subtree(&self, page: u32, there: &BlockMap, threshold: u32) -> (u32, u32) {
        let leaves = self.end - self.origin;
        let leaf = page - self.origin;
        let mut largest = (page, page + 1);
        let mut size = 1;
        loop {
            let from = leaf / size * size;
            let to = (from + size).min(leaves);
            let count = there.count(self.first.max(self.origin + from), self.origin + to);
            if count * 100 > (to - from) * threshold {
                largest = self.pages_of(from, to);
            }
            if size >= leaves {
                return largest;
            }
            size *= 2;
        }
    }

    /// The pages of leaves `from..to`. A node that begins before the region counts from the region's start instead, for
    /// as many pages as it has, as in the driver (`compute_prefetch_region`); the pages in between do not come along.
    fn pages_of(&self, from: u32, to: u32) -> (u32, u32) {
        let ghosts = self.first - self.origin;
        let first = if from < ghosts { self.first + ghosts } else { self.origin + from };
        let end = self.origin + to;
        (first.min(end), end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pages that come for one fault, with it.
    fn fetched(region: &Region, page: u32) -> Vec<u32> {
        let mut faulted = BlockMap::EMPTY;
        faulted.insert(page);
        let there = region.grown(&faulted, &BlockMap::EMPTY);
        faulted.union(&region.prefetch(&faulted, &there, 51)).iter().collect()
    }

    #[test]
    fn an_unaligned_region_keeps_big_pages_aligned_and_ends_where_it_ends() {
        let region = Region::new(10, 90, Some(16));
        assert_eq!(fetched(&region, 20), (16..32).collect::<Vec<_>>());
        // The prefix grows to its six pages, but ten ghosts beside them keep the big page from being mostly there: The
        // largest node that is mostly there is the aligned eight of which six exist. It begins before the region, and
        // so comes from ten pages into it, where it has already ended.
        assert_eq!(fetched(&region, 12), [12]);
        assert_eq!(fetched(&region, 89), (80..90).collect::<Vec<_>>());
    }

    #[test]
    fn a_node_that_begins_before_the_region_loses_as_many_pages_again() {
        let region = Region::new(4, 64, Some(16));
        assert_eq!(fetched(&region, 4), [4].into_iter().chain(8..16).collect::<Vec<_>>());
    }

    #[test]
    fn a_region_without_a_whole_big_page_is_one() {
        assert_eq!(fetched(&Region::new(10, 30, Some(16)), 20), (10..30).collect::<Vec<_>>());
        assert_eq!(fetched(&Region::new(3, 8, Some(16)), 5), (3..8).collect::<Vec<_>>());
    }

    #[test]
    fn without_big_pages_a_lone_fault_brings_nothing() {
        assert_eq!(fetched(&Region::new(0, 512, None), 100), [100]);
    }

    /// Pages 4..90: a prefix of 12 pages, four 64 KiB, and ten pages at the end.
    #[test]
    fn what_processors_fight_over_keeps_only_its_own_64_kib_small() {
        let region = Region::new(4, 90, Some(16));
        let map = |pages: &[u32]| {
            pages.iter().fold(BlockMap::EMPTY, |mut map, &page| {
                map.insert(page);
                map
            })
        };
        let grown: Vec<u32> = region.grown(&map(&[6, 20, 40, 85]), &map(&[15, 39, 80])).iter().collect();
        assert_eq!(grown, [6].into_iter().chain(16..32).chain([40, 85]).collect::<Vec<_>>());
        let whole = Region::new(3, 8, Some(16));
        assert_eq!(whole.grown(&map(&[5]), &map(&[7])), map(&[5]), "a region without a whole 64 KiB page is one");
    }

    #[test]
    fn a_subtree_comes_from_more_than_its_threshold_on() {
        let region = Region::new(0, 64, Some(16));
        let mut faulted = BlockMap::EMPTY;
        faulted.insert(3);
        // Its 64 KiB are there, which is half of the subtree above.
        let there = region.grown(&faulted, &BlockMap::EMPTY);
        let brought = |threshold| region.prefetch(&faulted, &there, threshold).count(0, BLOCK);
        assert_eq!([50, 49].map(brought), [15, 31]);
    }

    #[test]
    fn a_node_that_begins_where_the_region_begins_loses_nothing() {
        assert_eq!(fetched(&Region::new(8, 64, Some(16)), 8), (8..16).collect::<Vec<_>>());
    }
}
