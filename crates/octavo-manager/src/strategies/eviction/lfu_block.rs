//! `lfu-block`: all pages of the 2 MiB block that was accessed least often leave; of equals, the one accessed longest ago.
//!
//! As in UVMSmart (`refresh_valid_pages`, `sort_valid_pages`), a page that is brought counts as an access, and a block
//! that leaves to make room begins anew. Unlike there, a block is 2 MiB of the address space, not of an allocation.

use octavo_registry::{Entry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Eviction;
use super::recency::is_off;
use super::whole_block::{Turn, append};
use crate::contract::geometry::Geometry;
use crate::contract::ids::{MemoryId, PageId};
use crate::pages::residency::Residency;

/// Options of `lfu-block`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// Whether a block leaves only if all of its pages that are part of allocations are there; default false (UVMSmart:
    /// `is_block_evictable` asks for every page of the unit).
    #[serde(skip_serializing_if = "is_off")]
    whole: bool,
}

pub(super) static ENTRY: Entry<Box<dyn Eviction>, Geometry> = Entry {
    name: "lfu-block",
    summary: "evicts the 2 MiB block accessed least often",
    source: "UVMSmart (DATE 2021), -eviction_policy 4",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, geometry| {
        let Options { whole } = typed::parse(options)?;
        let gpus = (0..geometry.processors()).map(|_| Uses::default()).collect();
        Ok(Box::new(LfuBlock { block_pages: geometry.block_pages(), whole, gpus }))
    },
};

struct LfuBlock {
    block_pages: u32,
    whole: bool,
    gpus: Vec<Uses>,
}

/// Uses of the blocks of one memory.
#[derive(Default)]
struct Uses {
    blocks: Vec<Use>,
    now: i64,
    /// Before all others.
    before: i64,
}

/// Uses of a block since it last left to make room.
#[derive(Clone, Copy, Default)]
struct Use {
    /// Accesses that were told.
    accesses: u64,
    /// When it was used last; below zero where it is back and was not used since, zero where it was never used.
    last: i64,
}

impl Uses {
    fn note(&mut self, block: u32, accesses: u32) {
        self.now += 1;
        let used = &mut self.blocks[block as usize];
        *used = Use { accesses: used.accesses + u64::from(accesses), last: self.now };
    }

    /// Blocks that are known, the next to leave first: those that are back, then those accessed least often. Pages that
    /// are there count as an access each, by which they came.
    fn order(&self, pages_there: impl Fn(u32) -> u64) -> Vec<u32> {
        let known = (0..self.blocks.len() as u32).filter(|&block| self.blocks[block as usize].last != 0);
        let mut order: Vec<u32> = known.collect();
        order.sort_by_cached_key(|&block| {
            let Use { accesses, last } = self.blocks[block as usize];
            (last > 0, accesses + pages_there(block), last)
        });
        order
    }
}

impl Eviction for LfuBlock {
    fn grow(&mut self, pages: usize) {
        let blocks = pages.div_ceil(self.block_pages as usize);
        self.gpus.iter_mut().skip(1).for_each(|uses| uses.blocks.resize(blocks.max(uses.blocks.len()), Use::default()));
    }

    fn used(&mut self, holder: MemoryId, page: PageId, _memory: &Residency<'_>) {
        self.gpus[holder.index()].note(page.0 / self.block_pages, 0);
    }

    fn wants_accesses(&self) -> bool {
        true
    }

    fn accessed(&mut self, holder: MemoryId, page: PageId, times: u32, _memory: &Residency<'_>) {
        self.gpus[holder.index()].note(page.0 / self.block_pages, times);
    }

    fn restored(&mut self, holder: MemoryId, page: PageId) {
        let uses = &mut self.gpus[holder.index()];
        let used = &mut uses.blocks[(page.0 / self.block_pages) as usize];
        if used.last == 0 {
            uses.before -= 1;
            *used = Use { accesses: 0, last: uses.before };
        }
    }

    fn victims(&mut self, holder: MemoryId, wanted: u32, all: bool, memory: &Residency<'_>, victims: &mut Vec<PageId>) {
        let uses = &mut self.gpus[holder.index()];
        victims.clear();
        let mut left = Vec::new();
        let first = |block| PageId(block * self.block_pages);
        let pages_there = |block| memory.resident_in_block(holder, first(block)).iter().count() as u64;
        for block in uses.order(pages_there) {
            if victims.len() >= wanted as usize {
                break;
            }
            if append(holder, first(block), self.whole, memory, victims) == Turn::Leaves {
                left.push(block);
            }
        }
        if all && victims.len() < wanted as usize {
            victims.clear();
        } else {
            left.into_iter().for_each(|block| uses.blocks[block as usize] = Use::default());
        }
    }

    fn knows(&self, holder: MemoryId, page: PageId) -> bool {
        self.gpus[holder.index()].blocks[(page.0 / self.block_pages) as usize].last != 0
    }

    fn bytes(&self) -> usize {
        self.gpus.iter().map(|uses| uses.blocks.capacity() * size_of::<Use>()).sum()
    }
}
