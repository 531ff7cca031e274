//! The manager: its state, and how it is built. Each kind of event has a file of its own.

mod accesses;
mod advice;
mod ahead;
mod allocations;
mod background;
mod capacity;
pub(crate) mod check;
mod compact;
mod deferral;
mod delay;
mod detour;
mod failure;
mod guard;
mod handle;
mod lanes;
mod layout;
mod lost_mappings;
mod queries;
mod refusal;
mod room_for_all;
mod serve;
mod starvation;
mod synchronise;
mod tick;
mod write_back;

use std::collections::{BTreeSet, VecDeque};

use octavo_units::Time;

use crate::contract::counts::Statistics;
use crate::contract::error::ConfigError;
#[cfg(test)]
use crate::contract::event::{Event, Fault};
use crate::contract::failure::Failure;
use crate::contract::geometry::Geometry;
use crate::contract::ids::{PageId, ProcessorId, SpaceId};
use crate::contract::masks::MemoryMask;
use crate::contract::topology::{SystemTable, Topology};
use crate::manager::delay::Delayed;
use crate::manager::detour::Detour;
use crate::memories::frameless::Frameless;
use crate::memories::frames::Frames;
use crate::memories::usage::OutOfMemory;
use crate::pages::Pages;
use crate::strategies::choice::built;
use crate::strategies::composition::Composition;
use crate::strategies::config::{MemoryConfig, PrefetchPlan};
use crate::strategies::decision::{Move, Unsubscribe};
use crate::strategies::demotion::Demotion;
use crate::strategies::demotion::host::Host;
use crate::strategies::eviction::Eviction;
use crate::strategies::evictors::Evictors;
use crate::strategies::host_frames::HostFrames;
use crate::strategies::numa::Numa;
use crate::strategies::outstanding::OutstandingAccesses;
use crate::strategies::placement::{PLACEMENTS, Placement};
use crate::strategies::policies::{Policies, Policy};
use crate::strategies::prefetch::{PREFETCHERS, Prefetch};
use crate::strategies::rotation::Dealer;
use crate::strategies::sharing::Sharing;
use crate::strategies::space::SpaceConfig;
use crate::strategies::synchronisation::Synchronisation;
use crate::strategies::system::{Huge, SystemConfig, check_large};
use crate::transaction::commit::Unfinished;
use crate::transaction::flight::Pending;
use crate::transaction::physical::Physical;
use crate::transaction::state::Memory;

/// Decides where the pages of a node live.
///
/// It has no clock: every call gives the time, and one that goes back counts as the latest. Call
/// [`handle`](Manager::handle) for each event, including [`Event::Tick`](crate::Event::Tick) at its
/// [`deadline`](Manager::deadline), carry out the plans that it appends, and acknowledge each with
/// [`complete`](Manager::complete) or [`fail`](Manager::fail), in any order; then let it
/// [`work_ahead`](Manager::work_ahead). Any of these calls may append more plans. Every fault that is handed in is
/// woken by exactly one plan; after a wake the access is tried again, and if it cannot be served then, it is a new
/// fault.
///
/// Plans hold the pages that their steps copy, map, unmap, protect or release; plans that only wake faults or clear
/// counters hold none. No two unfinished plans hold the same page.
///
/// The host is a processor like any other, except that its memory has no limit and that it maps nothing to begin
/// with. No processor gets a mapping to a memory that it cannot [reach](crate::Topology::reach).
///
/// # Panics
/// Its methods panic when the caller breaks the contract: a page that is not allocated, is allocated twice, or is freed
/// while a plan holds it; advice about memory that is not managed; device memory that the host touches but cannot map;
/// a processor that the node does not have; a plan that is acknowledged twice.
pub struct Manager {
    memory: Memory,
    policies: Policies,
    prefetch_plan: PrefetchPlan,
    host_frames: HostFrames,
    synchronisation: Synchronisation,
    /// Deals device memory out to the GPUs.
    dealer: Dealer,
    unfinished: Unfinished,
    /// Faults of each processor that wait for a frame, oldest first.
    starved: Vec<VecDeque<Pending>>,
    /// Memory that waits for frames, oldest first.
    frameless: VecDeque<Frameless>,
    /// Faults of refused plans: when they happen again, nothing else is brought with them.
    refused: BTreeSet<(ProcessorId, PageId)>,
    /// Blocks of the present batch that come to a GPU by way of another.
    detours: Vec<Detour>,
    /// Faults that have to wait.
    delayed: Delayed,
    scratch: Scratch,
    /// The first fault that can never be served.
    out_of_memory: Option<OutOfMemory>,
    /// The first failure of a strategy.
    failure: Option<Box<Failure>>,
}

/// Vectors kept for their capacity.
#[derive(Default)]
struct Scratch {
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
        let Composition { geometry, managed, system, evictors, demotion, sharing, guard, allocator, coalescing } =
            Composition::new(config, topology.gpus())?;
        if let Some(large) = coalescing.filter(|_| topology.system != SystemTable::Own) {
            check_large(config.system.huge_pages, large.pages, &geometry)?;
        }
        let mut manager = Self::of(geometry, topology, Policies::new(managed, system)?, evictors)?;
        manager.prefetch_plan = config.prefetch_plan;
        manager.host_frames = config.host_frames;
        manager.synchronisation = config.synchronisation;
        if config.outstanding == OutstandingAccesses::Stay {
            manager.memory.pages.keep_outstanding();
        }
        manager.memory.guard = Some(guard).filter(|guard| guard.watches());
        manager.memory.demotion = demotion;
        manager.memory.huge = config.system.huge_pages;
        manager.memory.numa = config.system.numa.on(topology)?;
        manager.memory.physical = Physical::new(&geometry, topology, allocator, coalescing, &config.fragmentation)?;
        for memory in topology.gpu_memories() {
            manager.set_capacity(memory.id, memory.capacity_pages);
        }
        Ok(manager.with_sharing(sharing))
    }

    /// The same, of this configuration and before there are any pages, with so much known about the first address
    /// spaces, in order of their numbers.
    ///
    /// # Errors
    /// Names the key of an address space that cannot be used.
    pub fn with_spaces(mut self, config: &MemoryConfig, spaces: &[SpaceConfig]) -> Result<Self, ConfigError> {
        for (number, space) in spaces.iter().enumerate() {
            let known = space.resolve(config, &spaces[..number])?;
            self.introduce(SpaceId(number as u16), &known)?;
        }
        Ok(self)
    }

    fn introduce(&mut self, number: SpaceId, space: &SpaceConfig) -> Result<(), ConfigError> {
        let geometry = self.geometry();
        if self.memory.sharing.is_some() {
            self.memory.pages.tell_apart().set_name(number, &space.name);
        }
        if let Some(choice) = &space.placement {
            let placement = built(&PLACEMENTS, choice, &geometry)?;
            let attributes = placement.attributes();
            let decider = self.policies.add_placement(&space.name, placement)?;
            self.memory.pages.claim(decider, attributes)?;
            self.memory.pages.set_decider(number, decider);
        }
        if let Some(choice) = &space.prefetch {
            self.policies.add_prefetch(number, built(&PREFETCHERS, choice, &geometry)?);
        }
        space.eviction.as_ref().map_or(Ok(()), |choice| self.memory.evictors.set(number, choice, &geometry))
    }

    /// The same with a sharing that need not be registered, before there are any pages. A manager
    /// [with strategies](Manager::with_strategies) cannot make an evictor for each address space, as this needs it.
    #[must_use]
    pub fn with_sharing(mut self, sharing: Box<dyn Sharing>) -> Self {
        self.memory.sharing = Some(sharing).filter(|sharing| sharing.tells_apart());
        if self.memory.sharing.is_some() {
            self.memory.evictors.tell_apart();
            self.memory.pages.tell_apart();
        }
        self
    }

    /// The same with a demotion that need not be registered.
    #[must_use]
    pub fn with_demotion(mut self, demotion: Box<dyn Demotion>) -> Self {
        self.memory.demotion = demotion;
        self
    }

    /// A manager with strategies that need not be registered, of frames without numbers.
    ///
    /// # Errors
    /// As for [`Manager::new`], for the topology and the attributes of the placement.
    pub fn with_strategies(
        geometry: Geometry,
        topology: &Topology,
        placement: Box<dyn Placement>,
        prefetch: Box<dyn Prefetch>,
        eviction: Box<dyn Eviction>,
    ) -> Result<Self, ConfigError> {
        let system = SystemConfig::default().build(&geometry)?;
        let policies = Policies::new(Policy { placement, prefetch }, system)?;
        Self::of(geometry, topology, policies, Evictors::one(eviction))
    }

    fn of(
        geometry: Geometry,
        topology: &Topology,
        policies: Policies,
        evictors: Evictors,
    ) -> Result<Self, ConfigError> {
        topology.validate()?;
        let (mut pages, frames) = (Pages::new(geometry, topology.memories.len()), Frames::new(topology));
        policies.placements().try_for_each(|(decider, placement)| pages.claim(decider, placement.attributes()))?;
        if topology.system != SystemTable::Own {
            pages.keep_system();
        }
        let memory = Memory {
            now: Time::ZERO,
            pages,
            frames,
            reach: topology.reach.clone(),
            fast: topology.fast.clone(),
            system: topology.system,
            huge: Huge::default(),
            numa: Numa::default(),
            physical: None,
            evictors,
            sharing: None,
            demotion: Box::<Host>::default(),
            guard: None,
            statistics: Statistics::default(),
            was_full: MemoryMask::EMPTY,
            withheld: MemoryMask::EMPTY,
            victims: Vec::new(),
        };
        let starved = (0..geometry.processors()).map(|_| VecDeque::new()).collect();
        let mut manager = Self {
            memory,
            policies,
            prefetch_plan: PrefetchPlan::default(),
            host_frames: HostFrames::default(),
            synchronisation: Synchronisation::default(),
            dealer: Dealer::new(0),
            unfinished: Unfinished::default(),
            starved,
            frameless: VecDeque::new(),
            refused: BTreeSet::new(),
            detours: Vec::new(),
            delayed: Delayed::default(),
            scratch: Scratch::default(),
            out_of_memory: None,
            failure: None,
        };
        manager.note_failure(None);
        Ok(manager)
    }
}

#[cfg(test)]
impl Manager {
    /// Something happens, and all plans are done at once.
    fn happens(&mut self, event: Event<'_>) {
        let mut plans = Vec::new();
        self.handle(Time::ZERO, event, &mut plans);
        while !plans.is_empty() {
            let plan = plans.remove(0);
            self.complete(Time::ZERO, plan.id, &mut plans);
        }
    }

    /// A GPU reads a page, and all plans are done at once.
    fn reads(&mut self, gpu: usize, page: u32) {
        self.happens(Event::Faults(&[Fault::load(gpu, page)]));
    }
}
