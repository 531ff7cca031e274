//! Queries from outside.

use crate::contract::counts::{PlacementCounts, Statistics};
use crate::contract::event::{Fault, Needs};
use crate::contract::geometry::Geometry;
use crate::contract::ids::{MemoryId, PageId, PageRun, ProcessorId};
use crate::contract::masks::ProcessorMask;
use crate::contract::page::PageView;
use crate::manager::Manager;
use crate::memories::store::FrameStore;
use crate::memories::usage::{MemoryUse, OutOfMemory};
use crate::pages::attributes::AttributeChange;
use crate::pages::census::Census;
use crate::pages::deciders::Decider;
use crate::strategies::host_frames::HostFrames;
use crate::strategies::sizing::Coalescing;
use crate::strategies::system::Huge;
use crate::strategies::{allocator, placement};
use crate::transaction::physical::Physical;

impl Manager {
    /// What the node has to count, report or permit, for all its placements together.
    #[must_use]
    pub fn needs(&self) -> Needs {
        self.policies.needs()
    }

    /// The needs of the placement that decides about a page; none if no placement does.
    #[must_use]
    pub fn needs_of(&self, page: PageId) -> Needs {
        let pages = &self.memory.pages;
        let decider = pages.allocated(page).then(|| pages.decider(page)).flatten();
        decider.map_or_else(Needs::default, |decider| self.policies.needs_of(decider))
    }

    /// The frames of the host that hold pages from the GPUs.
    #[must_use]
    pub fn host_frames(&self) -> HostFrames {
        self.host_frames
    }

    /// Sizes of the node and its pages.
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        self.memory.pages.geometry()
    }

    /// Everything known about a page.
    #[must_use]
    pub fn page(&self, page: PageId) -> PageView {
        self.memory.pages.view(page)
    }

    /// Whether an unfinished plan holds some of these pages, which may be free already.
    #[must_use]
    pub fn holds(&self, run: PageRun) -> bool {
        run.iter().any(|page| self.memory.pages.slot(page).is_some())
    }

    /// Everything known about each page of a run, in order: quicker than one by one.
    pub fn pages(&self, run: PageRun) -> impl Iterator<Item = PageView> {
        self.memory.pages.views(run)
    }

    /// Whether the page of a fault is in no unfinished plan and mapped as the fault needs it.
    #[must_use]
    pub fn believes_mapped(&self, fault: &Fault) -> bool {
        let pages = &self.memory.pages;
        pages.allocated(fault.page) && pages.slot(fault.page).is_none() && pages.state(fault.page).satisfies(fault)
    }

    /// Frames of a memory in use, including those that unfinished plans will fill or have yet to give up.
    #[must_use]
    pub fn frames_held(&self, memory: MemoryId) -> u32 {
        self.memory.frames.held(memory)
    }

    /// The memories of the node: the host's first, the GPUs', the host's others.
    pub fn memories(&self) -> impl Iterator<Item = MemoryId> + '_ {
        let gpus = (0..self.geometry().gpus).map(MemoryId::gpu);
        let (first, further) = self.memory.frames.hosts().split_at(1);
        first.iter().copied().chain(gpus).chain(further.iter().copied())
    }

    /// The most frames of a memory that were in use at once; 0 for the host's memories if none of them has a limit.
    #[must_use]
    pub fn most_held(&self, memory: MemoryId) -> u32 {
        self.memory.frames.most(memory)
    }

    /// Copies of pages that a memory holds, replicas included, as the plans made so far will leave them.
    #[must_use]
    pub fn pages_held(&self, memory: MemoryId) -> u64 {
        self.memory.pages.residents(memory)
    }

    /// How base pages become large ones; `None` if they never do.
    #[must_use]
    pub fn coalescing(&self) -> Option<Coalescing> {
        self.memory.physical.as_ref().and_then(|physical| physical.coalescing)
    }

    /// Whether `page` is translated by a large page on `processor`, as the plans made so far will leave it.
    #[must_use]
    pub fn coalesced(&self, processor: ProcessorId, page: PageId) -> bool {
        let Some(store) = self.frames_of(processor.memory()) else { return false };
        store.place(page).is_some() && store.coalesced(store.block_of(page)).is_some()
    }

    /// Whether the kernel maps `page` and the rest of its block of 2 MiB by one entry.
    #[must_use]
    pub fn is_huge(&self, page: PageId) -> bool {
        self.memory.pages.is_huge(page)
    }

    /// Entries that lead to those pages of a run that were touched: one for each page, or for all that is one large
    /// page or one huge page.
    #[must_use]
    pub fn entries(&self, run: PageRun) -> u64 {
        let leads = |page: &PageId| *page == run.first || page.0.is_multiple_of(self.entry_pages(*page));
        run.iter().filter(|page| self.page(*page).populated() && leads(page)).count() as u64
    }

    /// Base pages that the entry of a page reaches.
    fn entry_pages(&self, page: PageId) -> u32 {
        if self.is_huge(page) {
            return self.geometry().block_pages();
        }
        let mut gpus = ProcessorMask::all_gpus(self.geometry().gpus).iter();
        self.coalescing().filter(|_| gpus.any(|gpu| self.coalesced(gpu, page))).map_or(1, |large| large.pages)
    }

    /// Whether a core's first touch of the operating system's memory may bring a huge page into being.
    #[must_use]
    pub fn has_huge_pages(&self) -> bool {
        self.memory.huge == Huge::Always
    }

    /// The base frame of `memory` that holds `page`; `None` if none does, or if frames have no numbers.
    #[must_use]
    pub fn frame(&self, memory: MemoryId, page: PageId) -> Option<u32> {
        self.frames_of(memory)?.place(page)
    }

    /// How `memory` is used; `None` if frames have no numbers.
    #[must_use]
    pub fn memory_use(&self, memory: MemoryId) -> Option<MemoryUse> {
        let store = self.frames_of(memory)?;
        Some(MemoryUse::of(store, self.memory.frames.held(memory)))
    }

    /// The frames of a GPU, if frames have numbers.
    fn frames_of(&self, memory: MemoryId) -> Option<&FrameStore> {
        let physical = self.memory.physical.as_ref().filter(|_| !memory.on_host())?;
        Some(physical.store(memory.processor()))
    }

    /// The first fault that can never be served, if there is one: it is woken by no plan.
    #[must_use]
    pub fn out_of_memory(&self) -> Option<OutOfMemory> {
        self.out_of_memory
    }

    /// Whether the sharing kept pages of a memory when room was last sought there in vain; else the evictors did.
    #[must_use]
    pub fn sharing_keeps(&self, memory: MemoryId) -> bool {
        self.memory.withheld.contains(memory)
    }

    /// The only memories that the page may be in, by the NUMA policy of the operating system's memory; `None` if it may
    /// be in all.
    #[must_use]
    pub fn bound(&self, page: PageId) -> Option<&[MemoryId]> {
        self.memory.bound(page)
    }

    /// From now on, changes of the pages' attributes are kept until they are drained.
    pub fn keep_attribute_changes(&mut self) {
        self.memory.pages.keep_journal();
    }

    /// Changes of the pages' attributes since the last call, in order; none unless they are kept.
    pub fn drain_attribute_changes(&mut self) -> impl Iterator<Item = AttributeChange> + '_ {
        self.memory.pages.drain_journal()
    }

    /// Counts of all decisions so far, by the manager and by its strategies.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        let memory = &self.memory;
        let managed = Census { pages: &memory.pages, decider: Decider::MANAGED };
        let own = memory.physical.as_ref().map(|physical| physical.allocator.counters()).unwrap_or_default();
        Statistics {
            allocator: allocator::counters().updated(own),
            placement: placement::counters(&managed).updated(self.policies.counters(&managed)),
            placements: self.counts_of_others(),
            guard: memory.guard.as_ref().map(|guard| guard.counters()).unwrap_or_default(),
            ..memory.statistics.clone()
        }
    }

    /// Counts of all placements except the one for managed memory, by the memory or job that they decide about.
    fn counts_of_others(&self) -> PlacementCounts {
        let pages = &self.memory.pages;
        let others = self.policies.deciders().skip(1);
        PlacementCounts::of(others.map(|decider| {
            let counts = self.policies.counters(&Census { pages, decider });
            (self.policies.name(decider).to_owned(), counts)
        }))
    }

    /// Bytes of all state that grows with the number of pages.
    #[must_use]
    pub fn state_bytes(&self) -> usize {
        let memory = &self.memory;
        let frames = memory.physical.as_ref().map_or(0, Physical::bytes);
        let guard = memory.guard.as_ref().map_or(0, |guard| guard.bytes());
        memory.pages.bytes() + frames + memory.evictors.bytes() + self.policies.bytes() + guard
    }
}
