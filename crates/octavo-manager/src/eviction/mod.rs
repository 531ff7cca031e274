//! Who leaves a full memory.

mod keep;
mod leaf_order;
mod lru_block;
mod lru_page;
mod queue;
mod random_page;
mod sequential_local;
mod tree_neighborhood;

use octavo_registry::Registry;

use crate::block::BlockMap;
use crate::config::Geometry;
use crate::failure::Failure;
use crate::ids::{PageId, PageRun, ProcessorId};
use crate::pages::Pages;
use crate::view::{Mode, PageView};

/// Every eviction strategy, by name.
pub static EVICTIONS: Registry<Box<dyn Eviction>, Geometry> = Registry::new(
    "eviction",
    &[
        &lru_page::ENTRY,
        &lru_block::ENTRY,
        &tree_neighborhood::ENTRY,
        &sequential_local::ENTRY,
        &random_page::ENTRY,
        &keep::ENTRY,
    ],
);

/// Chooses victims. A replica among them is dropped, a sole copy written to the host; the mechanism sees to that.
///
/// Uses are services, never single accesses: the driver does not see those (`uvm-driver.md` section 6).
pub trait Eviction: Send {
    /// Pages below `pages` can exist from now on.
    fn grow(&mut self, pages: usize);

    /// `page` was brought into `processor`'s memory, or a fault on it was served from there.
    fn used(&mut self, processor: ProcessorId, page: PageId, memory: &Residency<'_>);

    /// `page` is back in `processor`'s memory because a plan failed. If [`Eviction::victims`] forgot it, it becomes the
    /// next victim. Called in the reverse order of the victims.
    fn restored(&mut self, processor: ProcessorId, page: PageId);

    /// Fills `victims` with at least `wanted` pages in `processor`'s memory, each [evictable](Residency::evictable) and
    /// listed once. They leave unless they are [restored](Eviction::restored). If there are not so many, none leaves if
    /// `all` of them are needed, and nothing changes; else as many as there are.
    fn victims(
        &mut self,
        processor: ProcessorId,
        wanted: u32,
        all: bool,
        memory: &Residency<'_>,
        victims: &mut Vec<PageId>,
    );

    /// Whether anything ever leaves.
    fn evicts(&self) -> bool {
        true
    }

    /// Why it can no longer decide, if so. It goes on answering anything that the contract allows.
    fn failure(&self) -> Option<Box<Failure>> {
        None
    }

    /// Whether it would ever find `page` in `processor`'s memory; for tests.
    fn knows(&self, processor: ProcessorId, page: PageId) -> bool;

    /// Bytes of its state.
    fn bytes(&self) -> usize;
}

/// Which pages are where, as an eviction strategy sees them.
pub struct Residency<'a> {
    pub(crate) pages: &'a Pages,
}

impl Residency<'_> {
    /// Everything known about a page.
    #[must_use]
    pub fn page(&self, page: PageId) -> PageView {
        self.pages.view(page)
    }

    /// Whether `page` takes up a frame of `processor`.
    #[must_use]
    pub fn resident(&self, processor: ProcessorId, page: PageId) -> bool {
        self.pages.resident(processor, page) && self.pages.mode(page) != Mode::Everywhere
    }

    /// Whether `page` takes up a frame of `processor` and is in no unfinished plan.
    #[must_use]
    pub fn evictable(&self, processor: ProcessorId, page: PageId) -> bool {
        self.pages.slot(page).is_none() && self.resident(processor, page)
    }

    /// Whether `page` takes up a frame of `processor`, or could again because a plan that holds it may fail.
    #[must_use]
    pub fn may_return(&self, processor: ProcessorId, page: PageId) -> bool {
        self.pages.slot(page).is_some() || self.resident(processor, page)
    }

    /// Whether that is so for any page of the 2 MiB block that contains `page`.
    #[must_use]
    pub fn block_may_return(&self, processor: ProcessorId, page: PageId) -> bool {
        let mut pages = self.block(page).iter();
        pages.any(|page| self.pages.allocated(page) && self.may_return(processor, page))
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

    /// Pages of that block in `processor`'s memory.
    #[must_use]
    pub fn resident_in_block(&self, processor: ProcessorId, page: PageId) -> BlockMap {
        self.pages.resident_in_block(processor, page)
    }
}
