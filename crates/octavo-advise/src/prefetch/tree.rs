//! The prefetcher of the stock driver (NVIDIA's open kernel modules, `uvm_perf_prefetch.c`).

use std::collections::BTreeSet;
use std::ops::Range;

use octavo_units::Bytes;
use thiserror::Error;

use super::Prefetcher;

/// Trees span blocks of so many bytes.
const BLOCK: u64 = 2 << 20;
/// A fault always brings the big page that it is in.
const BIG_PAGE: u64 = 64 << 10;

/// A binary tree over the pages of each block of 2 MiB. A fault brings its big page of 64 KiB, and then the largest
/// subtree around it of which more than `threshold` per cent are present or asked for.
#[derive(Clone, Debug)]
pub struct Tree {
    block: u64,
    big_page: u64,
    threshold: u64,
}

/// A tree that cannot be.
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

    /// A tree over pages of so many bytes.
    ///
    /// # Errors
    /// There is no such tree.
    pub fn new(page: Bytes, threshold: u64) -> Result<Self, BadTree> {
        if !page.0.is_power_of_two() || page.0 > BLOCK {
            return Err(BadTree::Page(page));
        }
        if !(1..=100).contains(&threshold) {
            return Err(BadTree::Threshold(threshold));
        }
        Ok(Self { block: BLOCK / page.0, big_page: (BIG_PAGE / page.0).max(1), threshold })
    }
}

impl Prefetcher for Tree {
    fn fault(&mut self, page: u64, present: &BTreeSet<u64>) -> Vec<u64> {
        let big = aligned(page, self.big_page);
        let mut fetched = big.clone();
        let mut size = self.big_page;
        while size < self.block {
            size *= 2;
            let node = aligned(page, size);
            let there = present.range(node.clone()).filter(|other| !big.contains(other)).count() as u64 + self.big_page;
            if there * 100 > size * self.threshold {
                fetched = node;
            }
        }
        fetched.filter(|other| *other != page).collect()
    }
}

/// The aligned range of `size` pages around a page.
fn aligned(page: u64, size: u64) -> Range<u64> {
    let first = page / size * size;
    first..first + size
}
