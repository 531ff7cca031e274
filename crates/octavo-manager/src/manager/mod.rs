//! The manager's outside: events and acknowledgements in, plans out.

mod failing;

use std::collections::VecDeque;

use crate::contract::counts::{PagesByScheme, Statistics};
use crate::contract::error::ConfigError;
use crate::contract::event::{Allocation, Event, Fault, Needs};
use crate::contract::failure::Failure;
use crate::contract::geometry::Geometry;
use crate::contract::ids::{HOST, PageId, PageRun, ProcessorId};
use crate::contract::page::{Mode, PageView, Scheme};
use crate::contract::plan::{Plan, PlanId, Step};
use crate::contract::topology::Topology;
use crate::flight::{Flights, Pending};
use crate::memories::frames::Frames;
use crate::memories::store::FrameStore;
use crate::memories::usage::{MemoryUse, OutOfMemory};
use crate::memory::Memory;
use crate::pages::Pages;
use crate::strategies::composition::Composition;
use crate::strategies::config::MemoryConfig;
use crate::strategies::decision::{Move, Unsubscribe};
use crate::strategies::eviction::Eviction;
use crate::strategies::placement::Placement;
use crate::strategies::prefetch::Prefetch;
use crate::strategies::sizing::Coalescing;
use crate::transaction::physical::Physical;

/// Decides where the pages of a node live.
///
/// Feed it what happens with [`handle`](Manager::handle), carry out the plans it appends, and acknowledge each with
/// [`complete`](Manager::complete) or [`fail`](Manager::fail), in any order. Any of these calls may append more plans.
/// Every fault that is handed in is woken by exactly one plan; after a wake the access is tried again, and if it
/// cannot be served then, it is a new fault.
///
/// Plans hold the pages that their steps copy, map, unmap, protect or discard; plans that only wake faults or clear
/// counters hold none. No two unfinished plans hold the same page.
///
/// The host is a processor like any other, except that its memory has no limit and that it maps nothing to begin
/// with.
///
/// # Panics
/// Its methods panic when the caller breaks the contract: a page that is not allocated, allocated twice, or freed
/// while a plan holds it; a processor that the node does not have; a plan acknowledged twice.
pub struct Manager {
    pub(crate) memory: Memory,
    pub(crate) placement: Box<dyn Placement>,
    pub(crate) prefetch: Box<dyn Prefetch>,
    pub(crate) flights: Flights,
    /// Faults of each processor that wait for a frame, oldest first.
    pub(crate) starved: Vec<VecDeque<Pending>>,
    pub(crate) scratch: Scratch,
    /// The first fault that can never be served.
    pub(crate) out_of_memory: Option<OutOfMemory>,
    /// The first failure of a strategy.
    pub(crate) failure: Option<Box<Failure>>,
}

/// Vectors kept for their capacity.
#[derive(Default)]
pub(crate) struct Scratch {
    pub steps: Vec<Vec<Step>>,
    pub batch: Vec<Pending>,
    pub service: Vec<Pending>,
    pub pages: Vec<PageId>,
    pub moves: Vec<Move>,
    pub given_up: Vec<Unsubscribe>,
}

impl Manager {
    /// A manager of an empty memory.
    ///
    /// # Errors
    /// Names the key of the configuration or of the topology that cannot be used.
    pub fn new(config: &MemoryConfig, topology: &Topology) -> Result<Self, ConfigError> {
        topology.validate()?;
        let Composition { geometry, placement, prefetch, eviction, allocator, coalescing } =
            Composition::new(config, topology.gpus)?;
        let mut manager = Self::with_strategies(geometry, topology, placement, prefetch, eviction)?;
        manager.memory.physical = Physical::new(&geometry, topology, allocator, coalescing, &config.fragmentation)?;
        for gpu in (0..topology.gpus).map(ProcessorId::gpu) {
            manager.set_capacity(gpu, topology.capacity_pages[gpu.index() - 1]);
        }
        Ok(manager)
    }

    /// A manager with strategies that need not be registered, of frames without numbers.
    ///
    /// # Errors
    /// As [`Manager::new`], for the topology.
    pub fn with_strategies(
        geometry: Geometry,
        topology: &Topology,
        placement: Box<dyn Placement>,
        prefetch: Box<dyn Prefetch>,
        eviction: Box<dyn Eviction>,
    ) -> Result<Self, ConfigError> {
        topology.validate()?;
        let (pages, frames) = (Pages::new(geometry), Frames::new(topology));
        let memory =
            Memory { pages, frames, physical: None, eviction, statistics: Statistics::default(), victims: Vec::new() };
        let starved = (0..geometry.processors()).map(|_| VecDeque::new()).collect();
        let (flights, scratch) = (Flights::default(), Scratch::default());
        let mut manager =
            Self { memory, placement, prefetch, flights, starved, scratch, out_of_memory: None, failure: None };
        manager.note_failure(None);
        Ok(manager)
    }

    /// What the node has to count, report or forgive.
    #[must_use]
    pub fn needs(&self) -> Needs {
        self.placement.needs()
    }

    /// Sizes of the node and its pages.
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        self.memory.pages.geometry()
    }

    /// Reacts to `event`; what is to be done about it is appended to `plans`.
    pub fn handle(&mut self, event: Event<'_>, plans: &mut Vec<Plan>) {
        match event {
            Event::Allocate(allocation) => self.allocate(&allocation, plans),
            Event::Free(run) => self.free(run, plans),
            Event::Faults(faults) => self.faults(faults, plans),
            Event::Counter(notification) => self.counter(&notification, plans),
            Event::Report(counts) => self.report(counts, plans),
            Event::KernelEnd => self.kernel_end(plans),
            Event::Capacity { processor, pages } => self.resize(processor, pages, plans),
        }
        self.settle();
    }

    /// Plan `id` was carried out. Faults that waited for its pages are served.
    pub fn complete(&mut self, id: PlanId, plans: &mut Vec<Plan>) {
        let (slot, mut flight) = self.flights.take(id);
        for (page, _) in &flight.undo {
            self.memory.pages.set_slot(*page, None);
        }
        self.memory.frames.complete(&flight.change);
        if let Some(physical) = &mut self.memory.physical {
            physical.complete(slot, &flight.journal);
        }
        let waiting = std::mem::take(&mut flight.waiting);
        self.flights.close(slot, flight);
        self.shrink(plans);
        self.retry_starved(plans);
        self.serve(&waiting, plans);
        self.coalesce_postponed(plans);
        self.settle();
    }

    /// Plan `id` could not be carried out, and what was done of it has been undone: its pages are again where they
    /// were before. Its faults and those that waited for its pages are woken, and will happen again.
    pub fn fail(&mut self, id: PlanId, plans: &mut Vec<Plan>) {
        let (slot, flight) = self.flights.take(id);
        self.memory.statistics.failed_plans += 1;
        self.roll_back(slot, &flight);
        self.postpone_touched(&flight);
        let mut draft = self.open();
        // Nobody knows whether they were before it failed.
        draft.flight.journal.splintered.extend_from_slice(&flight.journal.splintered);
        flight.faults.iter().for_each(|&fault| draft.wake(fault));
        flight.waiting.iter().for_each(|pending| draft.wake(pending.fault));
        if let Some(counters) = flight.counters {
            draft.steps.push(Step::ClearCounters { pages: counters });
        }
        self.commit(draft, plans);
        self.flights.close(slot, flight);
        self.shrink(plans);
        self.retry_starved(plans);
        self.coalesce_postponed(plans);
        self.settle();
    }

    /// Takes a plan back for its memory. Optional; saves an allocation for each plan.
    pub fn recycle(&mut self, plan: Plan) {
        self.recycle_steps(plan.steps);
    }

    /// Everything known about a page.
    #[must_use]
    pub fn page(&self, page: PageId) -> PageView {
        self.memory.pages.view(page)
    }

    /// Frames in use on a processor, including those that unfinished plans will fill or have yet to give up.
    #[must_use]
    pub fn frames_held(&self, processor: ProcessorId) -> u32 {
        self.memory.frames.held(processor)
    }

    /// Copies of pages that a processor holds, replicas included, as the plans made so far will leave them.
    #[must_use]
    pub fn pages_held(&self, processor: ProcessorId) -> u64 {
        self.memory.pages.residents(processor)
    }

    /// How base pages become large ones; `None` if they never do.
    #[must_use]
    pub fn coalescing(&self) -> Option<Coalescing> {
        self.memory.physical.as_ref().and_then(|physical| physical.coalescing)
    }

    /// Whether `page` is translated by a large page on `processor`, as the plans made so far will leave it.
    #[must_use]
    pub fn coalesced(&self, processor: ProcessorId, page: PageId) -> bool {
        let Some(store) = self.frames_of(processor) else { return false };
        store.place(page).is_some() && store.coalesced(store.block_of(page)).is_some()
    }

    /// The base frame of `processor`'s memory that holds `page`; `None` if none does, or if frames have no numbers.
    #[must_use]
    pub fn frame(&self, processor: ProcessorId, page: PageId) -> Option<u32> {
        self.frames_of(processor)?.place(page)
    }

    /// How `processor`'s memory is used; `None` if frames have no numbers.
    #[must_use]
    pub fn memory_use(&self, processor: ProcessorId) -> Option<MemoryUse> {
        let store = self.frames_of(processor)?;
        Some(MemoryUse::of(store, self.memory.frames.held(processor)))
    }

    /// Of a GPU, if frames have numbers.
    fn frames_of(&self, processor: ProcessorId) -> Option<&FrameStore> {
        let physical = self.memory.physical.as_ref().filter(|_| processor != HOST)?;
        Some(physical.store(processor))
    }

    /// The first fault that can never be served, if there is one: it is woken by no plan.
    #[must_use]
    pub fn out_of_memory(&self) -> Option<OutOfMemory> {
        self.out_of_memory
    }

    /// From now on, changes of the pages' schemes are kept until they are drained.
    pub fn keep_scheme_changes(&mut self) {
        self.memory.pages.keep_journal();
    }

    /// Changes of the pages' schemes since the last call, in order; none unless they are kept.
    pub fn drain_scheme_changes(&mut self) -> impl Iterator<Item = (PageId, Scheme)> + '_ {
        self.memory.pages.drain_journal()
    }

    /// Counts of what was decided so far.
    #[must_use]
    pub fn statistics(&self) -> &Statistics {
        &self.memory.statistics
    }

    /// Bytes of all state that grows with the number of pages.
    #[must_use]
    pub fn state_bytes(&self) -> usize {
        let memory = &self.memory;
        let frames = memory.physical.as_ref().map_or(0, Physical::bytes);
        memory.pages.bytes() + frames + memory.eviction.bytes() + self.placement.bytes() + self.prefetch.bytes()
    }

    fn allocate(&mut self, allocation: &Allocation, plans: &mut Vec<Plan>) {
        let run = allocation.run;
        self.memory.pages.allocate(allocation);
        let pages = self.memory.pages.len();
        self.memory.eviction.grow(pages);
        self.memory.physical.iter_mut().for_each(|physical| physical.grow(pages));
        self.splinter_reused(run, plans);
        self.ask_placement(|placement, context| match allocation.gpu {
            Some(gpu) => placement.on_allocate_on(run, gpu, context),
            None => placement.on_allocate(run, context),
        });
    }

    fn free(&mut self, run: PageRun, plans: &mut Vec<Plan>) {
        self.ask_placement(|placement, context| placement.on_free(run, context));
        let thinned = self.large_pages(run);
        for page in run.iter() {
            self.free_page(page);
        }
        self.memory.pages.deallocate(run);
        self.prefetch.freed(run);
        let pages = &self.memory.pages;
        for waiting in &mut self.starved {
            waiting.retain(|pending| pages.allocated(pending.fault.page));
        }
        self.flights.keep_waiting(|pending| pages.allocated(pending.fault.page));
        self.thin_out(&thinned, plans);
        self.memory.physical.iter_mut().for_each(|physical| physical.unsettle(run));
        self.retry_starved(plans);
    }

    fn free_page(&mut self, page: PageId) {
        let view = self.memory.pages.view(page);
        assert!(view.allocated, "page {} is freed but not allocated", page.0);
        assert!(!view.busy, "page {} is freed in the middle of a plan", page.0);
        if view.mode != Mode::Everywhere {
            let gpus = view.resident.without(HOST);
            for gpu in gpus.iter() {
                self.memory.frames.free(gpu);
                self.memory.physical.iter_mut().for_each(|physical| physical.free(gpu, page));
            }
        }
        self.memory.pages.forget(page);
    }

    fn faults(&mut self, faults: &[Fault], plans: &mut Vec<Plan>) {
        let mut batch = std::mem::take(&mut self.scratch.batch);
        batch.clear();
        batch.extend(faults.iter().map(|&fault| Pending::new(fault)));
        self.serve(&batch, plans);
        self.scratch.batch = batch;
    }

    fn resize(&mut self, processor: ProcessorId, pages: u32, plans: &mut Vec<Plan>) {
        assert!(processor.index() < self.geometry().processors(), "{processor} is not in the node");
        self.set_capacity(processor, pages);
        self.shrink(plans);
        self.retry_starved(plans);
    }

    /// What foreign data takes up is no room.
    fn set_capacity(&mut self, processor: ProcessorId, pages: u32) {
        let physical = self.memory.physical.as_mut().filter(|_| processor != HOST);
        let foreign = physical.map_or(0, |physical| {
            physical.store_mut(processor).enlarge(pages);
            physical.foreign(processor)
        });
        let room = if pages == u32::MAX { pages } else { pages.saturating_sub(foreign) };
        self.memory.frames.set_capacity(processor, room);
    }

    /// Ends every call from outside.
    fn settle(&mut self) {
        self.note_failure(None);
        let [none, on_touch, access_counter, duplication] = self.memory.pages.by_scheme();
        self.memory.statistics.pages_by_scheme = PagesByScheme { none, on_touch, access_counter, duplication };
    }
}
