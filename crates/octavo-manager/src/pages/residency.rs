//! The places of pages, for evictors.

use crate::contract::block::BlockMap;
use crate::contract::ids::{MemoryId, PageId, PageRun, SpaceId};
use crate::contract::page::{Mode, PageView};
use crate::pages::Pages;

/// The places of pages, as an eviction strategy sees them.
pub struct Residency<'a> {
    pub(crate) pages: &'a Pages,
    /// The address space whose pages may leave; `None` for any.
    pub(crate) space: Option<SpaceId>,
}

impl Residency<'_> {
    /// Everything known about a page.
    #[must_use]
    pub fn page(&self, page: PageId) -> PageView {
        self.pages.view(page)
    }

    /// Whether `page` takes up a frame of `memory` that it can be made to give up. Pages that a GPU keeps for others
    /// have an order of their own, and do not count.
    #[must_use]
    pub fn resident(&self, memory: MemoryId, page: PageId) -> bool {
        let movable = !matches!(self.pages.mode(page), Mode::Everywhere | Mode::Spare);
        movable && self.pages.resident(memory, page) && self.leaves(page)
    }

    /// Whether `page`, which is part of an allocation, is one of those to choose from.
    fn leaves(&self, page: PageId) -> bool {
        !self.pages.kind(page).stays() && self.space.is_none_or(|space| self.pages.space(page) == space)
    }

    /// Whether `page` takes up a frame of `memory` and is in no unfinished plan; also, where accesses under way keep
    /// pages, that there is no such access.
    #[must_use]
    pub fn evictable(&self, memory: MemoryId, page: PageId) -> bool {
        let held = || self.pages.held().is_some_and(|held| held.holds(memory, page));
        self.pages.slot(page).is_none() && self.resident(memory, page) && !held()
    }

    /// Whether `page` takes up a frame of `memory`, or could again because a plan that holds it may fail.
    #[must_use]
    pub fn may_return(&self, memory: MemoryId, page: PageId) -> bool {
        self.pages.slot(page).is_some() || self.resident(memory, page)
    }

    /// Whether that is so for any page of the 2 MiB block that contains `page`.
    #[must_use]
    pub fn block_may_return(&self, memory: MemoryId, page: PageId) -> bool {
        let mut pages = self.block(page).iter();
        pages.any(|page| self.pages.allocated(page) && self.may_return(memory, page))
    }

    /// Whether `page` is part of an allocation.
    #[must_use]
    pub fn known(&self, page: PageId) -> bool {
        self.pages.allocated(page)
    }

    /// The part of the 2 MiB block that contains `page` that belongs to the page's allocation.
    #[must_use]
    pub fn extent(&self, page: PageId) -> PageRun {
        self.pages.extent(page)
    }

    /// The 2 MiB block that contains `page`.
    #[must_use]
    pub fn block(&self, page: PageId) -> PageRun {
        self.pages.block(page)
    }

    /// Pages of that block in `memory` that can be made to leave.
    #[must_use]
    pub fn resident_in_block(&self, memory: MemoryId, page: PageId) -> BlockMap {
        let mut there = self.pages.resident_in_block(memory, page);
        if !self.pages.all_managed() || self.space.is_some() {
            let first = self.block(page).first.0;
            let stays = |index: &u32| !self.leaves(PageId(first + index));
            there.iter().filter(stays).for_each(|index| there.remove(index));
        }
        if self.pages.spare().pages(memory) > 0 {
            let first = self.block(page).first.0;
            let kept = |index: &u32| self.pages.mode(PageId(first + index)) == Mode::Spare;
            there.iter().filter(kept).for_each(|index| there.remove(index));
        }
        there
    }
}
