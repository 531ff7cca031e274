//! The prefetcher of the stock driver (NVIDIA's open kernel modules, `uvm_perf_prefetch.c`).

use std::collections::BTreeSet;
use std::ops::Range;

use octavo_units::Bytes;
use thiserror::Error;

use super::Prefetcher;

/// Trees span blocks of this many bytes.
const BLOCK: u64 = 2 << 20;
/// A fault always brings the big page that it is in.
const BIG_PAGE: u64 = 64 << 10;

/// A binary tree over the pages that an allocation has in each block of 2 MiB. A fault counts for its big page of 64
/// KiB, and brings the largest subtree around it of which more than `threshold` per cent are present or requested.
#[derive(Clone, Debug)]
pub struct Tree {
    block: u64,
    big_page: u64,
    threshold: u64,
    /// Pages of the allocation.
    pages: Range<u64>,
}

/// A tree of an impossible size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BadTree {
    /// Its leaves.
    #[error("expected pages of a power of two up to 2MiB, found {0}")]
    Page(Bytes),
    /// When a subtree comes.
    #[error("expected a threshold of 1 to 100 per cent, found {0}")]
    Threshold(u64),
}

impl Tree {
    /// The driver's own `uvm_perf_prefetch_threshold`, per cent.
    pub const STOCK: u64 = 51;

    /// Trees over the pages of an allocation, which have this many bytes.
    ///
    /// # Errors
    /// There is no such tree.
    pub fn new(page: Bytes, threshold: u64, pages: Range<u64>) -> Result<Self, BadTree> {
        if !page.0.is_power_of_two() || page.0 > BLOCK {
            return Err(BadTree::Page(page));
        }
        if !(1..=100).contains(&threshold) {
            return Err(BadTree::Threshold(threshold));
        }
        Ok(Self { block: BLOCK / page.0, big_page: (BIG_PAGE / page.0).max(1), threshold, pages })
    }

    /// The part of a page's allocation that lies in the page's block.
    fn region(&self, page: u64) -> Region {
        let block = aligned(page, self.block);
        let pages = block.start.max(self.pages.start)..block.end.min(self.pages.end);
        if pages.start.next_multiple_of(self.big_page) + self.big_page > pages.end {
            return Region { origin: pages.start, grown: pages.clone(), pages };
        }
        let big = aligned(page, self.big_page);
        let grown = big.start.max(pages.start)..big.end.min(pages.end);
        Region { origin: pages.start / self.big_page * self.big_page, grown, pages }
    }
}

/// The part of a block that belongs to the allocation, and how its tree lies over it.
struct Region {
    pages: Range<u64>,
    /// Where the first leaf would be: below the region if big pages have to be subtrees. The leaves between count as
    /// absent.
    origin: u64,
    /// Pages that the fault counts for: its big page, or all of a region that contains none whole.
    grown: Range<u64>,
}

impl Region {
    /// The pages of the largest subtree around a page that is present to more than the threshold; the page alone if
    /// there is none. The last node of a level ends where the region does.
    fn largest_subtree(&self, page: u64, present: &BTreeSet<u64>, threshold: u64) -> Range<u64> {
        let (leaf, leaves) = (page - self.origin, self.pages.end - self.origin);
        let (mut largest, mut size) = (page..page + 1, 1);
        loop {
            let node = leaf / size * size..(leaf / size * size + size).min(leaves);
            if self.there(&node, present) * 100 > (node.end - node.start) * threshold {
                largest = self.pages_of(&node);
            }
            if size >= leaves {
                return largest;
            }
            size *= 2;
        }
    }

    /// How many pages of some leaves are present or requested.
    fn there(&self, leaves: &Range<u64>, present: &BTreeSet<u64>) -> u64 {
        let node = (self.origin + leaves.start).max(self.pages.start)..self.origin + leaves.end;
        let grown = node.end.min(self.grown.end).saturating_sub(node.start.max(self.grown.start));
        grown + present.range(node).filter(|page| !self.grown.contains(page)).count() as u64
    }

    /// The pages of leaves. A node that begins before the region counts from the region's start instead, for as many
    /// pages as it has, as in the driver (`compute_prefetch_region`); the pages in between do not come along.
    fn pages_of(&self, leaves: &Range<u64>) -> Range<u64> {
        let ghosts = self.pages.start - self.origin;
        let first = if leaves.start < ghosts { self.pages.start + ghosts } else { self.origin + leaves.start };
        let end = self.origin + leaves.end;
        first.min(end)..end
    }
}

impl Prefetcher for Tree {
    fn fault(&mut self, page: u64, present: &BTreeSet<u64>) -> Vec<u64> {
        let fetched = self.region(page).largest_subtree(page, present, self.threshold);
        fetched.filter(|other| *other != page).collect()
    }
}

/// The aligned range of `size` pages around a page.
fn aligned(page: u64, size: u64) -> Range<u64> {
    let first = page / size * size;
    first..first + size
}
