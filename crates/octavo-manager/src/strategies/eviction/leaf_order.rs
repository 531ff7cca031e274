//! The order in which 64 KiB leaves leave, under UVMSmart's tree policies: blocks by their newest use, oldest first,
//! and within a block leaf by leaf, the one used longest ago first.

use super::queue::UseQueue;
use crate::contract::geometry::Geometry;
use crate::contract::ids::{MemoryId, PageId};
use crate::pages::residency::Residency;

/// Uses of the leaves of every GPU's memory.
pub(super) struct LeafOrder {
    leaf_pages: u32,
    block_pages: u32,
    /// Share of the leaves, those next to leave, that others leave before, in percent.
    reserved_percent: u32,
    gpus: Vec<Uses>,
    /// Blocks that came up; kept for its capacity.
    seen: Vec<u32>,
}

/// Uses of the leaves of one memory.
#[derive(Default)]
struct Uses {
    blocks: UseQueue,
    /// The time of each leaf's last use.
    last: Vec<u64>,
    now: u64,
}

impl LeafOrder {
    pub fn new(geometry: &Geometry, reserved_percent: u32) -> Self {
        let gpus = (0..geometry.processors()).map(|_| Uses::default()).collect();
        let (leaf_pages, block_pages) = (geometry.counter_group_pages(), geometry.block_pages());
        Self { leaf_pages, block_pages, reserved_percent, gpus, seen: Vec::new() }
    }

    pub fn grow(&mut self, pages: usize) {
        let (leaves, blocks) = (pages.div_ceil(self.leaf_pages as usize), pages.div_ceil(self.block_pages as usize));
        for uses in self.gpus.iter_mut().skip(1) {
            uses.blocks.grow(blocks);
            uses.last.resize(leaves.max(uses.last.len()), 0);
        }
    }

    pub fn used(&mut self, holder: MemoryId, page: PageId, memory: &Residency<'_>) {
        let uses = &mut self.gpus[holder.index()];
        uses.now += 1;
        uses.last[(page.0 / self.leaf_pages) as usize] = uses.now;
        let first = |block| PageId(block * self.block_pages);
        uses.blocks.push(page.0 / self.block_pages, |block| memory.block_may_return(holder, first(block)));
    }

    pub fn restored(&mut self, holder: MemoryId, page: PageId) {
        self.gpus[holder.index()].blocks.put_back(page.0 / self.block_pages);
    }

    pub fn knows(&self, holder: MemoryId, page: PageId) -> bool {
        self.gpus[holder.index()].blocks.contains(page.0 / self.block_pages)
    }

    pub fn bytes(&self) -> usize {
        self.gpus.iter().map(|uses| uses.blocks.bytes() + uses.last.capacity() * size_of::<u64>()).sum()
    }

    /// Shows leaves of the memory `holder`, the next to leave first, until `enough`. The order stays as it is.
    pub fn each(&mut self, holder: MemoryId, memory: &Residency<'_>, mut enough: impl FnMut(Leaf) -> bool) {
        let mut leaves = Vec::new();
        while let Some(block) = self.next_block(holder, memory) {
            let known = leaves.len();
            self.append_leaves(holder, block, memory, &mut leaves);
            if self.reserved_percent == 0 && leaves[known..].iter().any(|&leaf| enough(leaf)) {
                break;
            }
        }
        if self.reserved_percent > 0 {
            let reserved = leaves.len() * self.reserved_percent as usize / 100;
            leaves.rotate_left(reserved);
            leaves.into_iter().any(enough);
        }
        let queue = &mut self.gpus[holder.index()].blocks;
        self.seen.drain(..).rev().for_each(|block| queue.put_back(block));
    }

    /// Takes the next block that has resident pages or may get some again.
    fn next_block(&mut self, holder: MemoryId, memory: &Residency<'_>) -> Option<u32> {
        let queue = &mut self.gpus[holder.index()].blocks;
        let block = std::iter::from_fn(|| queue.pop())
            .find(|block| memory.block_may_return(holder, PageId(block * self.block_pages)))?;
        self.seen.push(block);
        Some(block)
    }

    fn append_leaves(&self, holder: MemoryId, block: u32, memory: &Residency<'_>, leaves: &mut Vec<Leaf>) {
        let known = leaves.len();
        let (count, pages) = (self.block_pages / self.leaf_pages, self.leaf_pages);
        let there = memory.resident_in_block(holder, PageId(block * self.block_pages));
        let some = (0..count).filter(|index| there.count(index * pages, (index + 1) * pages) > 0);
        let some = some.map(|index| Leaf { number: block * count + index, pages });
        leaves.extend(some.filter(|leaf| leaf.resident(holder, memory).next().is_some()));
        let last = &self.gpus[holder.index()].last;
        leaves[known..].sort_by_key(|leaf| last[leaf.number as usize]);
    }
}

/// 64 KiB, aligned.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Leaf {
    pub number: u32,
    /// Pages of a leaf.
    pub pages: u32,
}

impl Leaf {
    /// Its pages that take up frames of `holder`.
    pub fn resident<'a>(self, holder: MemoryId, memory: &'a Residency<'_>) -> impl Iterator<Item = PageId> + 'a {
        let pages = (self.number * self.pages..(self.number + 1) * self.pages).map(PageId);
        pages.filter(move |&page| memory.known(page) && memory.resident(holder, page))
    }

    /// Whether it has such pages, all of its pages if it leaves only as a `whole`, and none of them is in an unfinished
    /// plan.
    pub fn evictable(self, holder: MemoryId, memory: &Residency<'_>, whole: bool) -> bool {
        let mut pages = self.resident(holder, memory).peekable();
        let enough = |page: PageId| !memory.known(page) || memory.resident(holder, page);
        let complete = || (self.number * self.pages..(self.number + 1) * self.pages).map(PageId).all(enough);
        pages.peek().is_some() && pages.all(|page| memory.evictable(holder, page)) && (!whole || complete())
    }
}

/// The check that both policies share: the percentage of leaves that leave last.
pub(super) fn reserve_in_range(percent: u32) -> Result<(), octavo_registry::OptionError> {
    if percent < 100 {
        return Ok(());
    }
    Err(octavo_registry::OptionError::new("reserved_percent", format!("expected 0 to 99, found {percent}")))
}
