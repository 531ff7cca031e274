//! `lru-block`: all pages of the 2 MiB block that was serviced, or accessed, least recently leave.
//!
//! As in the driver (`pick_root_chunk_to_evict`), blocks with a page in an unfinished plan are skipped. Unlike there, a
//! block takes up only the frames of its resident pages.

use octavo_registry::{Entry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Eviction;
use super::queue::UseQueue;
use super::recency::{Recency, is_off};
use super::whole_block::{Turn, append};
use crate::contract::geometry::Geometry;
use crate::contract::ids::{MemoryId, PageId};
use crate::pages::residency::Residency;

/// Options of `lru-block`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// What counts as a use: `service` (default; pages being brought, or faults) or `access` (also every access:
    /// UVMSmart, `refresh_valid_pages`, which a TLB hit calls as well).
    #[serde(skip_serializing_if = "Recency::is_service")]
    recency: Recency,
    /// Whether a block leaves only if all its allocated pages are resident; default false (UVMSmart:
    /// `is_block_evictable` asks for every page of the unit).
    #[serde(skip_serializing_if = "is_off")]
    whole: bool,
}

pub(super) static ENTRY: Entry<Box<dyn Eviction>, Geometry> = Entry {
    name: "lru-block",
    summary: "evicts the 2 MiB block used least recently",
    source: "nvidia-uvm 595.45.04, uvm_pmm_gpu.c: pick_root_chunk_to_evict",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, geometry| {
        let options = typed::parse(options)?;
        Ok(Box::new(LruBlock::new(geometry, options)))
    },
};

/// One queue of blocks for each GPU.
struct LruBlock {
    options: Options,
    block_pages: u32,
    queues: Vec<UseQueue>,
    /// Blocks that came up, and whether they leave, having no busy page; kept for its capacity.
    seen: Vec<(u32, bool)>,
}

impl LruBlock {
    fn new(geometry: &Geometry, options: Options) -> Self {
        let queues = (0..geometry.processors()).map(|_| UseQueue::default()).collect();
        Self { options, block_pages: geometry.block_pages(), queues, seen: Vec::new() }
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

    fn wants_accesses(&self) -> bool {
        self.options.recency.is_access()
    }

    fn restored(&mut self, holder: MemoryId, page: PageId) {
        self.queues[holder.index()].put_back(page.0 / self.block_pages);
    }

    fn victims(&mut self, holder: MemoryId, wanted: u32, all: bool, memory: &Residency<'_>, victims: &mut Vec<PageId>) {
        let queue = &mut self.queues[holder.index()];
        victims.clear();
        while victims.len() < wanted as usize {
            let Some(block) = queue.pop() else { break };
            let first = PageId(block * self.block_pages);
            match append(holder, first, self.options.whole, memory, victims) {
                Turn::Absent if !memory.block_may_return(holder, first) => {}
                turn => self.seen.push((block, turn == Turn::Leaves)),
            }
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
