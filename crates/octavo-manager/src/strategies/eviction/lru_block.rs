//! `lru-block`: all pages of the 2 MiB block that was serviced least recently leave.
//!
//! As in the driver (`pick_root_chunk_to_evict`), a block with a page in an unfinished plan is passed over. Unlike
//! there, a block takes up only the frames of its resident pages.

use octavo_registry::{Entry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Eviction;
use super::queue::UseQueue;
use crate::contract::geometry::Geometry;
use crate::contract::ids::{MemoryId, PageId};
use crate::pages::residency::Residency;

/// `lru-block` has no options.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {}

pub(super) static ENTRY: Entry<Box<dyn Eviction>, Geometry> = Entry {
    name: "lru-block",
    summary: "evicts the 2 MiB block serviced least recently",
    source: "nvidia-uvm 595.45.04, uvm_pmm_gpu.c: pick_root_chunk_to_evict",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, geometry| {
        typed::parse::<Options>(options)?;
        Ok(Box::new(LruBlock::new(geometry)))
    },
};

/// One queue of blocks for each GPU.
struct LruBlock {
    block_pages: u32,
    queues: Vec<UseQueue>,
    /// Blocks that came up, and whether they leave, having no busy page; kept for its capacity.
    seen: Vec<(u32, bool)>,
}

impl LruBlock {
    fn new(geometry: &Geometry) -> Self {
        let queues = (0..geometry.processors()).map(|_| UseQueue::default()).collect();
        Self { block_pages: geometry.block_pages(), queues, seen: Vec::new() }
    }
}

impl Eviction for LruBlock {
    fn grow(&mut self, pages: usize) {
        let blocks = pages.div_ceil(self.block_pages as usize);
        self.queues.iter_mut().skip(1).for_each(|queue| queue.grow(blocks));
    }

    fn used(&mut self, holder: MemoryId, page: PageId, memory: &Residency<'_>) {
        let live = |block| {
            let first = PageId(block * self.block_pages);
            !memory.resident_in_block(holder, first).is_empty()
        };
        self.queues[holder.index()].push(page.0 / self.block_pages, live);
    }

    fn restored(&mut self, holder: MemoryId, page: PageId) {
        self.queues[holder.index()].put_back(page.0 / self.block_pages);
    }

    fn victims(&mut self, holder: MemoryId, wanted: u32, all: bool, memory: &Residency<'_>, victims: &mut Vec<PageId>) {
        let queue = &mut self.queues[holder.index()];
        victims.clear();
        while victims.len() < wanted as usize {
            let Some(block) = queue.pop() else { break };
            let first = block * self.block_pages;
            let resident = memory.resident_in_block(holder, PageId(first));
            let pages = resident.iter().map(|index| PageId(first + index));
            let mut pages = pages.filter(|&page| memory.resident(holder, page)).peekable();
            if pages.peek().is_none() {
                if memory.block_may_return(holder, PageId(first)) {
                    self.seen.push((block, false));
                }
                continue;
            }
            let before = victims.len();
            victims.extend(pages);
            let leaves = victims[before..].iter().all(|&page| memory.evictable(holder, page));
            if !leaves {
                victims.truncate(before);
            }
            self.seen.push((block, leaves));
        }
        if all && victims.len() < wanted as usize {
            victims.clear();
        }
        let stays = |leaves: bool| !leaves || victims.is_empty();
        self.seen.drain(..).rev().filter(|seen| stays(seen.1)).for_each(|(block, _)| queue.put_back(block));
    }

    fn knows(&self, holder: MemoryId, page: PageId) -> bool {
        self.queues[holder.index()].contains(page.0 / self.block_pages)
    }

    fn bytes(&self) -> usize {
        self.queues.iter().map(UseQueue::bytes).sum()
    }
}
