//! `lfu-block`: all pages of the 2 MiB block that was accessed least often leave; of equals, the one accessed longest
//! ago.
//!
//! As in UVMSmart (`refresh_valid_pages`, `sort_valid_pages`), bringing a page counts as an access, and a block that
//! leaves to make room starts again at zero. So does a block that turns out to be absent. Unlike there, a block is 2
//! MiB of the address space, not of an allocation.

use std::collections::BTreeSet;

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
    /// Whether a block leaves only if all its allocated pages are resident; default false (UVMSmart:
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
    /// Known blocks, in the order in which they leave: by their ranks when victims were requested since their last use.
    order: BTreeSet<(Rank, u32)>,
    /// Blocks that were used since victims were last requested.
    changed: Vec<u32>,
    now: i64,
    /// Before all others.
    before: i64,
}

/// Uses of a block since it last left to make room.
#[derive(Clone, Copy, Default)]
struct Use {
    /// The reported accesses, and the time of the last use; none if the block is unknown.
    rank: Option<Rank>,
    /// The rank under which it is in the order.
    filed: Option<Rank>,
    /// Whether it is among those that changed.
    changed: bool,
}

/// The lowest leaves first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    accesses: u64,
    /// The time of its last use; below zero if it came back and has not been used since.
    last: i64,
}

impl Rank {
    /// With one access for each resident page: the one that brought it. A block that comes back leaves first.
    fn with(self, pages_there: impl FnOnce() -> u64) -> Self {
        Self { accesses: self.accesses + if self.last > 0 { pages_there() } else { 0 }, ..self }
    }
}

impl Uses {
    fn note(&mut self, block: u32, accesses: u32) {
        self.now += 1;
        let before = self.blocks[block as usize].rank.map_or(0, |rank| rank.accesses);
        self.set(block, Some(Rank { accesses: before + u64::from(accesses), last: self.now }));
    }

    /// The block is the next to leave, unless it is known.
    fn put_back(&mut self, block: u32) {
        if self.blocks[block as usize].rank.is_none() {
            self.before -= 1;
            self.set(block, Some(Rank { accesses: 0, last: self.before }));
        }
    }

    fn forget(&mut self, block: u32) {
        self.set(block, None);
    }

    fn set(&mut self, block: u32, rank: Option<Rank>) {
        let known = &mut self.blocks[block as usize];
        known.rank = rank;
        if !std::mem::replace(&mut known.changed, true) {
            self.changed.push(block);
        }
    }

    /// Blocks in the order in which they leave.
    fn in_order(&mut self, pages_there: impl Fn(u32) -> u64) -> impl Iterator<Item = u32> + '_ {
        for block in self.changed.drain(..) {
            let known = &mut self.blocks[block as usize];
            known.changed = false;
            let rank = known.rank.map(|rank| rank.with(|| pages_there(block)));
            if let Some(rank) = std::mem::replace(&mut known.filed, rank) {
                self.order.remove(&(rank, block));
            }
            self.order.extend(rank.map(|rank| (rank, block)));
        }
        self.order.iter().map(|(_, block)| *block)
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
        self.gpus[holder.index()].put_back(page.0 / self.block_pages);
    }

    fn victims(&mut self, holder: MemoryId, wanted: u32, all: bool, memory: &Residency<'_>, victims: &mut Vec<PageId>) {
        let uses = &mut self.gpus[holder.index()];
        victims.clear();
        let (mut left, mut gone) = (Vec::new(), Vec::new());
        let first = |block| PageId(block * self.block_pages);
        let pages_there = |block| memory.resident_in_block(holder, first(block)).iter().count() as u64;
        for block in uses.in_order(pages_there) {
            if victims.len() >= wanted as usize {
                break;
            }
            match append(holder, first(block), self.whole, memory, victims) {
                Turn::Leaves => left.push(block),
                Turn::Absent if !memory.block_may_return(holder, first(block)) => gone.push(block),
                Turn::Absent | Turn::Stays => {}
            }
        }
        if all && victims.len() < wanted as usize {
            victims.clear();
            left.clear();
        }
        left.into_iter().chain(gone).for_each(|block| uses.forget(block));
    }

    fn knows(&self, holder: MemoryId, page: PageId) -> bool {
        self.gpus[holder.index()].blocks[(page.0 / self.block_pages) as usize].rank.is_some()
    }

    fn bytes(&self) -> usize {
        // An entry of the order: itself, and as much for the tree around it.
        let entry = 2 * size_of::<(Rank, u32)>();
        let of =
            |uses: &Uses| uses.blocks.capacity() * (size_of::<Use>() + size_of::<u32>()) + uses.order.len() * entry;
        self.gpus.iter().map(of).sum()
    }
}
