//! Which pages leave a full memory, by each of the strategies that the model knows.

use std::ops::Range;

use octavo_manager::ProcessorId;

use super::leaves::Leaves;
use super::lfu::Lfu;
use super::lots::Lots;
use super::lru::Lru;
use super::rules::{Eviction, Rules};

/// What is known about pages.
pub struct Look<'a> {
    /// Whether a page takes up a frame of the memory in question.
    pub here: &'a dyn Fn(u32) -> bool,
    /// Whether it is in a plan.
    pub busy: &'a dyn Fn(u32) -> bool,
    /// The part of its block that belongs to its allocation.
    pub extent: &'a dyn Fn(u32) -> Range<u32>,
}

/// The order in which pages leave.
pub enum Order {
    /// Page by page or block by block.
    Spans(Lru),
    /// 64 KiB by 64 KiB.
    Leaves(Leaves),
    /// The block accessed least often.
    Often(Lfu),
    /// The page that a lot falls on.
    Lots(Lots),
    /// No page leaves.
    Nobody,
}

impl Order {
    pub fn new(rules: &Rules) -> Self {
        let leaves = |reserved, trees| Self::Leaves(Leaves::new(rules, reserved, trees));
        match rules.eviction {
            Eviction::LruPage => Self::Spans(Lru::new(1)),
            Eviction::LruBlock => Self::Spans(Lru::new(rules.block_pages())),
            Eviction::LfuBlock => Self::Often(Lfu::new(rules.block_pages())),
            Eviction::SequentialLocal(reserved) => leaves(reserved, false),
            Eviction::TreeNeighborhood(reserved) => leaves(reserved, true),
            Eviction::RandomPage(seed) => Self::Lots(Lots::new(seed)),
            Eviction::Nothing => Self::Nobody,
        }
    }

    /// A page was brought into `processor`'s memory or served from there.
    pub fn used(&mut self, processor: ProcessorId, page: u32) {
        match self {
            Self::Spans(lru) => lru.used(processor, page),
            Self::Leaves(leaves) => leaves.used(processor, page),
            Self::Often(lfu) => lfu.used(processor, page, 0),
            Self::Lots(lots) => lots.lists(processor, page),
            Self::Nobody => {}
        }
    }

    /// A page in `processor`'s memory was accessed this many times.
    pub fn accessed(&mut self, processor: ProcessorId, page: u32, times: u32) {
        match self {
            Self::Often(lfu) => lfu.used(processor, page, times),
            _ => self.used(processor, page),
        }
    }

    /// A page leaves to make room.
    pub fn left(&mut self, processor: ProcessorId, page: u32) {
        match self {
            Self::Spans(lru) => lru.left(processor, page),
            Self::Often(lfu) => lfu.left(processor, page),
            Self::Leaves(_) | Self::Lots(_) | Self::Nobody => {}
        }
    }

    /// A page is back in a memory that it was leaving.
    pub fn restored(&mut self, processor: ProcessorId, page: u32) {
        match self {
            Self::Spans(lru) => lru.restored(processor, page),
            Self::Often(lfu) => lfu.restored(processor, page),
            Self::Lots(lots) => lots.lists(processor, page),
            Self::Leaves(_) | Self::Nobody => {}
        }
    }

    /// At least `wanted` pages to evict, in order; fewer if there are no more.
    pub fn victims(&mut self, processor: ProcessorId, wanted: usize, look: &Look<'_>) -> Vec<u32> {
        match self {
            _ if wanted == 0 => Vec::new(),
            Self::Spans(lru) => lru.victims(processor, wanted, look.here, look.busy),
            Self::Leaves(leaves) => leaves.victims(processor, wanted, look),
            Self::Often(lfu) => lfu.victims(processor, wanted, look),
            Self::Lots(lots) => lots.victims(processor, wanted, look),
            Self::Nobody => Vec::new(),
        }
    }
}
