//! The state that mechanisms work on: the pages, how full memories are, and the evictors.

use octavo_units::Time;

use crate::contract::block::BlockMap;
use crate::contract::counts::Statistics;
use crate::contract::ids::{MemoryId, PageId, PageRun};
use crate::contract::kind::Kind;
use crate::contract::masks::MemoryMask;
use crate::contract::topology::{FastLinks, Reach, SystemTable};
use crate::memories::frames::{Change, Frames};
use crate::pages::Pages;
use crate::strategies::demotion::Demotion;
use crate::strategies::evictors::Evictors;
use crate::strategies::guard::ThrashingGuard;
use crate::strategies::numa::{Numa, OnHost};
use crate::strategies::sharing::Sharing;
use crate::strategies::system::Huge;
use crate::transaction::physical::Physical;

pub(crate) struct Memory {
    /// The time of the present call from outside.
    pub now: Time,
    pub pages: Pages,
    pub frames: Frames,
    pub reach: Reach,
    /// The memories that a processor reaches by a fast link.
    pub fast: FastLinks,
    /// Whose page table GPUs use for memory of the operating system.
    pub system: SystemTable,
    /// Whether cores get huge pages of the operating system's memory.
    pub huge: Huge,
    /// The NUMA node on which memory of the operating system is created.
    pub numa: Numa,
    /// The contents of frames, if a strategy needs them.
    pub physical: Option<Physical>,
    pub evictors: Evictors,
    /// How much address spaces may take from one another, if they are distinguished.
    pub sharing: Option<Box<dyn Sharing>>,
    pub demotion: Box<dyn Demotion>,
    /// The guard against processors that fight over pages, if there is one.
    pub guard: Option<Box<dyn ThrashingGuard>>,
    pub statistics: Statistics,
    /// Memories that something has left to make room.
    pub was_full: MemoryMask,
    /// Memories in which the sharing kept pages when room was last sought in vain.
    pub withheld: MemoryMask,
    /// Victims of the plan under construction; kept for its capacity.
    pub victims: Vec<PageId>,
}

impl Memory {
    /// Whether the page is found in one page table by all processors.
    pub fn system_wide(&self, page: PageId) -> bool {
        self.system != SystemTable::Own && self.pages.kind(page) == Kind::System
    }

    /// Frames whose pages are never evicted.
    pub fn staying(&self, memory: MemoryId) -> u32 {
        let system = if self.system == SystemTable::Own { 0 } else { self.pages.system_held(memory) };
        self.frames.staying(memory) + system
    }

    /// The destination of pages that belong in a host memory, and how many of them fit there, by the rule of
    /// [`Frames::room_on_host`]; for the operating system's memory, by its NUMA policy.
    pub fn room_on_host(&self, wanted: MemoryId, run: PageRun, change: &Change) -> Option<(MemoryId, u32)> {
        match self.policy_on_host(run.first) {
            OnHost::Anywhere => self.frames.room_on_host(wanted, run.count, change),
            OnHost::Turn(node) if node.on_host() => self.frames.room_on_host(node, 1, change),
            OnHost::Turn(_) => self.frames.room_on_host(wanted, 1, change),
            OnHost::Among(nodes) => {
                let room = nodes.iter().copied().find(|&node| self.frames.spare(node, change) > 0);
                self.frames.room_on_host(room.unwrap_or(wanted), run.count, change)
            }
        }
    }

    fn policy_on_host(&self, page: PageId) -> OnHost<'_> {
        let speaks = !self.numa.is_local() && self.pages.kind(page) == Kind::System;
        if speaks { self.numa.on_host(page) } else { OnHost::Anywhere }
    }

    /// The only memories that the page may be in; `None` if it may be in all.
    pub fn bound(&self, page: PageId) -> Option<&[MemoryId]> {
        self.numa.bound().filter(|_| self.pages.kind(page) == Kind::System)
    }

    /// Whether a page may come to a memory without a fault, as far as its policy says.
    pub fn policy_lets_move(&self, page: PageId, to: MemoryId) -> bool {
        self.numa.is_local() || self.pages.kind(page) != Kind::System || self.numa.lets_move(to)
    }

    /// Whether the page, which is, may lie there.
    pub fn may_lie_in(&self, memory: MemoryId) -> bool {
        memory.on_host() || self.system == SystemTable::Shared { on_gpus: true } && self.frames.capacity(memory) > 0
    }

    /// Whether the page is fought over, and moves for no prefetcher, counter or report.
    pub fn keeps(&self, page: PageId) -> bool {
        self.guard.as_ref().is_some_and(|guard| guard.keeps(page))
    }

    /// Pages of a block that processors compete for, numbered from the block's first.
    pub fn contested(&self, block: PageId, pages: PageRun) -> BlockMap {
        self.guard.as_ref().map_or(BlockMap::EMPTY, |guard| guard.contested(block, pages))
    }
}
