//! The context of a placement strategy or a guard: what it can see and change apart from the page of the call.

use octavo_units::Time;

use crate::contract::geometry::Geometry;
use crate::contract::ids::{MemoryId, PageId, PageRun, ProcessorId, SpaceId};
use crate::contract::kind::Advice;
use crate::contract::masks::MemoryMask;
use crate::contract::page::PageView;
use crate::contract::topology::{FastLinks, Reach};
use crate::memories::frames::Frames;
use crate::pages::Pages;
use crate::pages::attributes::Attribute;
use crate::pages::deciders::Decider;

/// Metadata accesses that a decision needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Charges {
    pub metadata: u32,
    pub overlapped: u32,
}

impl Charges {
    pub fn add(&mut self, more: Self) {
        self.metadata += more.metadata;
        self.overlapped += more.overlapped;
    }
}

/// The node's pages as strategies see them. A placement can write the attributes that it claimed and charge
/// metadata accesses; only mechanisms move and map pages.
pub struct Context<'a> {
    pub(crate) now: Time,
    /// The placement that is asked; `None` for a guard, which sees all managed pages.
    pub(crate) decider: Option<Decider>,
    pub(crate) pages: &'a mut Pages,
    pub(crate) frames: &'a Frames,
    pub(crate) was_full: MemoryMask,
    pub(crate) reach: &'a Reach,
    pub(crate) fast: &'a FastLinks,
    pub(crate) charges: &'a mut Charges,
}

impl Context<'_> {
    /// Sizes of the node and its pages.
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        self.pages.geometry()
    }

    /// When this happens.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Everything known about a page.
    #[must_use]
    pub fn page(&self, page: PageId) -> PageView {
        self.pages.view(page)
    }

    /// Whether the page is part of an allocation, to a placement: of one that it decides about.
    #[must_use]
    pub fn allocated(&self, page: PageId) -> bool {
        match self.decider {
            Some(decider) => self.pages.decides(decider, page),
            None => self.pages.allocated(page),
        }
    }

    /// The address space of a page, which is part of an allocation.
    #[must_use]
    pub fn space(&self, page: PageId) -> SpaceId {
        self.pages.space(page)
    }

    /// Runs of pages, ascending: those that the placement decides about, to a guard the managed ones.
    #[must_use]
    pub fn allocations(&self) -> &[PageRun] {
        self.decider.map_or_else(|| self.pages.managed(), |decider| self.pages.decided(decider))
    }

    /// The value of an attribute that the placement claimed; 0 of a page that another one decides about.
    #[must_use]
    pub fn attribute(&self, page: PageId, attribute: &Attribute) -> u8 {
        self.decider.map_or(0, |decider| self.pages.attribute(decider, page, attribute))
    }

    /// Writes an attribute that the placement claimed, of an allocated page. If summaries do not count pages by it, the
    /// page can as well be one near those that are allocated: that is forgotten if it is another placement's, or could
    /// become so. No copy and no mapping changes.
    ///
    /// # Panics
    /// If the placement did not [claim](crate::Placement::attributes) it. A guard has none.
    pub fn set_attribute(&mut self, page: PageId, attribute: &'static Attribute, value: u8) {
        let decider = self.decider.expect("attributes are a placement's");
        self.pages.set_attribute(decider, page, attribute, value);
    }

    /// The program's advice about the page's use.
    #[must_use]
    pub fn advice(&self, page: PageId) -> Advice {
        self.pages.advised().of(page)
    }

    /// Whether a processor can map a memory; it can always map those near it.
    #[must_use]
    pub fn can_map(&self, processor: ProcessorId, memory: MemoryId) -> bool {
        self.reach.can_map(processor, memory)
    }

    /// Whether a processor can have a mapping to a memory, and reaches it by a fast link.
    #[must_use]
    pub fn is_fast(&self, processor: ProcessorId, memory: MemoryId) -> bool {
        self.fast.lead(processor, memory) && self.can_map(processor, memory)
    }

    /// Frames of a memory in use, including those that unfinished plans will fill.
    #[must_use]
    pub fn held(&self, memory: MemoryId) -> u32 {
        self.frames.held(memory)
    }

    /// Frames that a memory has.
    #[must_use]
    pub fn capacity(&self, memory: MemoryId) -> u32 {
        self.frames.capacity(memory)
    }

    /// Whether something has left a memory to make room.
    #[must_use]
    pub fn was_full(&self, memory: MemoryId) -> bool {
        self.was_full.contains(memory)
    }

    /// How often neighbouring pages of a page's 2 MiB block have left a full memory, 63 at most (UVMSmart: 6 bits).
    #[must_use]
    pub fn departures(&self, page: PageId) -> u32 {
        self.pages.departures(page)
    }

    /// The decision needs this many accesses to metadata in host memory before anything else.
    pub fn charge_metadata(&mut self, accesses: u32) {
        self.charges.metadata += accesses;
    }

    /// The decision needs this many accesses to metadata in addition to the host's page-table walk.
    pub fn charge_overlapped(&mut self, accesses: u32) {
        self.charges.overlapped += accesses;
    }
}

#[cfg(test)]
mod tests {
    use octavo_units::Bytes;

    use super::*;
    use crate::contract::event::Allocation;
    use crate::contract::ids::{HOST, HOST_MEMORY};
    use crate::contract::topology::Topology;

    #[test]
    fn a_strategy_sees_advice_reach_and_how_often_a_block_left() {
        let topology = Topology::of(vec![4; 2]);
        let mut pages = Pages::new(Geometry { gpus: 2, page_size: Bytes(4 << 10) }, 3);
        let advice = Advice { read_mostly: true, ..Advice::default() };
        pages.allocate(&Allocation { advice, ..PageRun { first: PageId(0), count: 600 }.into() });
        (0..2).for_each(|_| pages.note_left(&[PageId(3)]));
        let context = Context {
            now: Time::ZERO,
            decider: None,
            pages: &mut pages,
            frames: &Frames::new(&topology),
            was_full: MemoryMask::EMPTY,
            reach: &topology.reach,
            fast: &topology.fast,
            charges: &mut Charges::default(),
        };
        assert_eq!([599, 600].map(|page| context.advice(PageId(page))), [advice, Advice::default()]);
        assert_eq!([0, 512].map(|page| context.departures(PageId(page))), [2, 0]);
        let (gpu, other) = (ProcessorId::gpu(0), MemoryId::gpu(1));
        let maps = [(gpu, other), (gpu, HOST_MEMORY), (HOST, HOST_MEMORY), (HOST, other)];
        assert_eq!(maps.map(|(who, what)| context.can_map(who, what)), [true, true, true, false]);
    }
}
