//! What a placement strategy can see and change beside the page it is asked about.

use crate::contract::counts::Statistics;
use crate::contract::geometry::Geometry;
use crate::contract::ids::{PageId, PageRun, ProcessorId};
use crate::contract::page::{GroupSize, PageView, Scheme};
use crate::memories::frames::Frames;
use crate::pages::Pages;

/// Metadata accesses that a decision needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Charges {
    pub metadata: u32,
    pub overlapped: u32,
}

/// The node's pages as a placement strategy sees them. It can change scheme and group bits and charge metadata
/// accesses; only mechanisms move and map pages.
pub struct Context<'a> {
    pub(crate) pages: &'a mut Pages,
    pub(crate) frames: &'a Frames,
    pub(crate) statistics: &'a mut Statistics,
    pub(crate) charges: &'a mut Charges,
}

impl Context<'_> {
    /// Sizes of the node and its pages.
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        self.pages.geometry()
    }

    /// Everything known about a page.
    #[must_use]
    pub fn page(&self, page: PageId) -> PageView {
        self.pages.view(page)
    }

    /// Whether the page is part of an allocation.
    #[must_use]
    pub fn allocated(&self, page: PageId) -> bool {
        self.pages.allocated(page)
    }

    /// Runs of pages that are allocated, ascending.
    #[must_use]
    pub fn allocations(&self) -> &[PageRun] {
        self.pages.allocations()
    }

    /// Scheme bits of an allocated page.
    #[must_use]
    pub fn scheme(&self, page: PageId) -> Option<Scheme> {
        self.pages.scheme(page)
    }

    /// Writes the scheme bits of an allocated page. No copy and no mapping changes.
    pub fn set_scheme(&mut self, page: PageId, scheme: Scheme) {
        self.pages.set_scheme(page, scheme);
    }

    /// Group bits of a page's entry.
    #[must_use]
    pub fn group(&self, base: PageId) -> GroupSize {
        self.pages.group(base)
    }

    /// Writes the group bits of a page's entry.
    pub fn set_group(&mut self, base: PageId, size: GroupSize) {
        self.pages.set_group(base, size);
    }

    /// Frames in use on a processor, including those that unfinished plans will fill.
    #[must_use]
    pub fn held(&self, processor: ProcessorId) -> u32 {
        self.frames.held(processor)
    }

    /// The decision needs this many accesses to metadata in host memory before anything else.
    pub fn charge_metadata(&mut self, accesses: u32) {
        self.charges.metadata += accesses;
    }

    /// The decision needs this many accesses to metadata beside the host's page-table walk.
    pub fn charge_overlapped(&mut self, accesses: u32) {
        self.charges.overlapped += accesses;
    }

    /// Counts of what happened, for what only the strategy knows.
    pub fn statistics(&mut self) -> &mut Statistics {
        self.statistics
    }
}
