//! The manager, the reference model and the machine, fed with the same events and compared after each.

mod compare;
mod frames;
pub mod op;
pub mod script;

use std::collections::BTreeSet;

use octavo_manager::{
    Advice, Allocation, CounterNotification, Event, Fault, Kind, Manager, MemoryConfig, MemoryId, PageId, PageRun,
    Plan, PlanId, Prefix, ProcessorId, Refusal, SpaceId, Step, Topology, Why,
};

use frames::FrameLaws;
use octavo_driver::conformance::machine::{Machine, Running};
use octavo_units::{Bytes, Time};

use crate::reference::{Model, Placement, Rules};

/// Frames of more pages than this are looked at only when nothing is under way.
const MANY_PAGES: usize = 500;

/// Strategies are called this often while time passes, and then a plan ends: pages in it make them wait.
const OFTEN: u32 = 8;

/// All three, and the plans that are not acknowledged yet.
pub struct Harness {
    pub manager: Manager,
    /// Absent for placements the model does not know: then only the machine judges.
    pub model: Option<Model>,
    pub machine: Machine,
    pub running: Vec<Running>,
    /// Metadata accesses of all plans so far, visible and overlapped.
    pub metadata: u64,
    /// Capacities that the machine takes over once nothing is under way.
    capacity: Vec<u32>,
    /// The advice of the second application about its pages.
    pub second_advice: Advice,
    /// The requests of the second application.
    pub second_kind: Kind,
    /// The first page of the second application.
    pub second_space: u32,
    /// The laws for frames, if they have numbers.
    laws: Option<FrameLaws>,
    /// Nothing is ever evicted.
    keeps: bool,
    /// The events that the manager got so far.
    pub events: u64,
    pub now: Time,
}

impl Harness {
    pub fn new(rules: &Rules) -> Self {
        let mut harness = Self::without_model(&rules.config(), &rules.topology(), rules.placement == Placement::Ideal);
        if rules.quota.is_some() || rules.second_placement.is_some() {
            let named = harness.manager.with_spaces(&rules.config(), &rules.spaces());
            harness.manager = named.expect("the applications are valid");
        }
        harness.model = Some(Model::new(rules));
        (harness.second_kind, harness.second_advice) = (rules.second_kind, rules.second_advice);
        harness
    }

    pub fn without_model(config: &MemoryConfig, topology: &Topology, by_decree: bool) -> Self {
        Self {
            manager: Manager::new(config, topology).expect("the configuration is valid"),
            model: None,
            machine: Machine::new(topology, by_decree),
            running: Vec::new(),
            metadata: 0,
            capacity: gpu_pages(topology),
            second_advice: Advice::default(),
            second_kind: Kind::default(),
            second_space: u32::MAX,
            laws: laws(config, topology),
            keeps: config.eviction.name == "none",
            events: 0,
            now: Time::ZERO,
        }
    }

    pub fn allocate(&mut self, first: u32, count: u32) {
        if self.has_numbered_frames() {
            self.settle();
        }
        let run = PageRun { first: PageId(first), count };
        // The second application's pages are untouched.
        let populated = run.first.0 < self.second_space;
        run.iter().for_each(|page| self.machine.allocate(page, populated));
        let kind = self.kind(run.first);
        let advice = if populated { Advice::default() } else { self.second_advice };
        let space = SpaceId(self.space(run.first));
        let allocation = Allocation { space, populated, kind, advice, ..run.into() };
        if kind.stays() {
            // Its room is made where nothing is busy.
            self.settle();
        }
        self.event(Event::Allocate(allocation));
        self.model.iter_mut().for_each(|model| model.allocate(run, space.0, populated, kind, advice));
        if populated {
            run.iter().for_each(|page| self.machine.put_on_host(page, self.manager.page(page).owner));
        }
        if kind.stays() {
            self.settle();
        }
        self.compare();
    }

    /// Frees pages; nothing may be under way.
    pub fn free(&mut self, first: u32, count: u32) {
        let run = PageRun { first: PageId(first), count };
        run.iter().for_each(|page| self.machine.free(page));
        self.event(Event::Free(run));
        self.model.iter_mut().for_each(|model| model.free(run));
        self.compare();
    }

    /// Frees all of these pages that are allocated.
    pub fn free_present(&mut self, first: u32, count: u32) {
        for run in self.runs(first, count, true) {
            // A run that was freed may have left plans that hold pages of the next.
            self.settle();
            self.free(run.first.0, run.count);
        }
    }

    /// Allocates all of these pages that are not allocated.
    pub fn allocate_missing(&mut self, first: u32, count: u32) {
        self.runs(first, count, false).into_iter().for_each(|run| self.allocate(run.first.0, run.count));
    }

    /// Runs of pages of one space that are all allocated, or all not.
    pub fn runs(&self, first: u32, count: u32, allocated: bool) -> Vec<PageRun> {
        let alike = |page: &u32| self.machine.allocated(PageId(*page)) == allocated;
        let pages: Vec<u32> = (first..first + count).filter(alike).collect();
        let neighbours =
            |one: &u32, next: &u32| *next == one + 1 && self.space(PageId(*one)) == self.space(PageId(*next));
        let run = |pages: &[u32]| PageRun { first: PageId(pages[0]), count: pages.len() as u32 };
        pages.chunk_by(neighbours).map(run).collect()
    }

    /// GPUs touch pages that exist; what their page tables do not allow is handed in as one batch of faults.
    pub fn touch(&mut self, touches: &[Fault]) {
        // Memory that stays is touched only after it is mapped, and only within reach.
        let sensible = |touch: &Fault| !self.kind(touch.page).stays() || self.machine.allows(*touch);
        let there = |touch: &&Fault| self.machine.allocated(touch.page) && sensible(touch);
        let touches = touches.iter().filter(there).copied().collect::<Vec<_>>();
        if touches.len() > 1 && self.has_numbered_frames() {
            return touches.iter().for_each(|&touch| self.touch_alone(touch));
        }
        let faults = touches.iter().filter_map(|&touch| self.machine.touch(touch).unwrap());
        let faults: Vec<Fault> = faults.collect();
        if !faults.is_empty() {
            self.event(Event::Faults(&faults));
            self.model.iter_mut().for_each(|model| model.faults(&faults));
        }
        self.compare();
    }

    /// Whether the model knows which frame holds which page: then it knows one thing after another.
    fn has_numbered_frames(&self) -> bool {
        self.model.as_ref().is_some_and(|model| model.frames.is_some())
    }

    fn touch_alone(&mut self, touch: Fault) {
        self.touch(&[touch]);
        self.settle();
    }

    /// A program says how it uses managed pages.
    pub fn advise(&mut self, pages: PageRun, advice: Advice) {
        self.event(Event::Advise { pages, advice });
        self.model.iter_mut().for_each(|model| model.advise(pages, advice));
        self.compare();
    }

    /// A program wants pages in a memory.
    pub fn prefetch(&mut self, pages: PageRun, to: MemoryId) {
        self.event(Event::Prefetch { pages, to });
        self.model.iter_mut().for_each(|model| model.bring_ahead(pages, to));
        self.compare();
    }

    pub fn counter(&mut self, processor: ProcessorId, page: PageId) {
        if !self.machine.allocated(page) {
            return;
        }
        let notification = CounterNotification { processor, page };
        self.event(Event::Counter(notification));
        self.model.iter_mut().for_each(|model| model.counter(notification));
        self.compare();
    }

    pub fn resize(&mut self, processor: ProcessorId, pages: u32) {
        let pages = pages + self.foreign(processor);
        self.capacity[processor.gpu_index().expect("only GPUs have a limit")] = pages;
        let room = &mut self.machine.capacity[processor.index()];
        *room = pages.max(*room);
        if let (Some(laws), Some(gpu)) = (&mut self.laws, processor.gpu_index()) {
            laws.enlarge(gpu, pages);
        }
        self.event(Event::Capacity { memory: processor.memory(), pages });
        self.model.iter_mut().for_each(|model| model.resize(processor, pages));
        self.compare();
    }

    /// Frames with foreign data, as far as the model knows: the remaining room is never zero.
    fn foreign(&self, processor: ProcessorId) -> u32 {
        let frames = self.model.as_ref().and_then(|model| model.frames.as_ref());
        frames.zip(processor.gpu_index()).map_or(0, |(frames, gpu)| frames.foreign(gpu))
    }

    /// Time passes, and strategies whose deadline comes are called. Plans end before that happened often.
    pub fn wait(&mut self, until: Time) {
        let mut asked = 0;
        while let Some(at) = self.manager.deadline().filter(|at| *at <= until) {
            asked += 1;
            if asked % OFTEN == 0 && !self.running.is_empty() {
                self.finish(0);
            }
            self.pass_to(at);
            self.event(Event::Tick);
            self.model.iter_mut().for_each(Model::tick);
            self.compare();
        }
        self.pass_to(until);
    }

    fn pass_to(&mut self, now: Time) {
        self.now = now;
        self.model.iter_mut().for_each(|model| model.now = now.0);
    }

    pub fn event(&mut self, event: Event<'_>) {
        self.events += 1;
        let mut plans = Vec::new();
        self.manager.handle(self.now, event, &mut plans);
        self.manager.work_ahead(self.now, &mut plans);
        self.accept(plans);
    }

    fn accept(&mut self, plans: Vec<Plan>) {
        let mut busy: BTreeSet<PageId> = self.running.iter().flat_map(Running::pages).collect();
        for plan in plans {
            if let Some(Step::Consult { accesses, beside_walk }) = plan.steps.first() {
                self.metadata += u64::from(accesses + beside_walk);
            }
            self.laws.iter_mut().for_each(|laws| laws.note(&plan));
            let running = Running::new(plan);
            for page in running.pages() {
                assert!(busy.insert(page), "page {} is in two unfinished plans", page.0);
            }
            self.running.push(running);
        }
        self.check_frames();
    }

    fn check_frames(&mut self) {
        let Some(laws) = &mut self.laws else { return };
        let quiet = self.running.is_empty();
        if !quiet && self.machine.pages().count() > MANY_PAGES {
            return;
        }
        let spaces = self.machine.pages().map(|page| (page, u16::from(page.0 >= self.second_space))).collect();
        laws.check(&self.manager, &spaces, quiet);
    }

    pub fn kind(&self, page: PageId) -> Kind {
        if page.0 >= self.second_space { self.second_kind } else { Kind::Managed }
    }

    fn space(&self, page: PageId) -> u16 {
        u16::from(page.0 >= self.second_space)
    }

    /// Carries out one more step of a plan.
    pub fn advance(&mut self, index: usize) {
        let woken = self.machine.step(&mut self.running[index]).unwrap();
        for access in &woken {
            let served = self.running[index].serves(access);
            assert!(!served || self.machine.allows(*access), "{access:?} was woken in vain");
        }
        if !woken.is_empty() {
            self.touch(&woken);
        }
    }

    /// Carries out the rest of a plan and acknowledges it.
    pub fn finish(&mut self, index: usize) {
        while self.running[index].next_step().is_some() {
            self.advance(index);
        }
        let running = self.running.remove(index);
        let (id, pages) = (running.plan.id, names(&running));
        self.complete(id);
        self.model.iter_mut().for_each(|model| model.complete(&pages));
        self.manager.recycle(running.plan);
        self.compare_pages(&pages);
    }

    /// Carries out some steps of a plan and some pages of the next one, and refuses the rest. The model knows no steps:
    /// a plan is refused as a whole in it or, if it was begun, not at all.
    pub fn fail(&mut self, index: usize, steps: usize, pages: usize) {
        if self.model.is_none() {
            self.advance_before_wakes(index, steps, pages);
        } else if self.running[index].done() != Prefix::NONE {
            return self.finish(index);
        }
        let running = self.running.remove(index);
        let names = names(&running);
        self.laws.iter_mut().for_each(|laws| laws.note(&running.plan));
        let refusal = Refusal { done: running.done(), why: Why::Again };
        self.events += 1;
        let mut plans = Vec::new();
        self.manager.fail(self.now, &running.plan, refusal, &mut plans);
        self.manager.work_ahead(self.now, &mut plans);
        let first = self.running.len();
        self.accept(plans);
        self.running[first..].iter_mut().take(1).for_each(Running::promises_nothing);
        self.model.iter_mut().for_each(|model| model.fail(&names, running.wakes()));
        self.compare_pages(&names);
        self.manager.check().unwrap();
    }

    fn advance_before_wakes(&mut self, index: usize, steps: usize, pages: usize) {
        let wakes = |running: &Running| matches!(running.next_step(), None | Some(Step::Wake { .. }));
        for _ in 0..steps {
            if wakes(&self.running[index]) {
                return;
            }
            self.advance(index);
        }
        if !wakes(&self.running[index]) {
            self.machine.step_in_part(&mut self.running[index], pages).unwrap();
        }
    }

    fn complete(&mut self, id: PlanId) {
        self.events += 1;
        let mut plans = Vec::new();
        self.manager.complete(self.now, id, &mut plans);
        self.manager.work_ahead(self.now, &mut plans);
        self.accept(plans);
    }

    /// Finishes everything in progress, oldest first, and waits as long as a fault does; then no fault may wait any
    /// more.
    pub fn settle(&mut self) {
        let mut finished = 0;
        loop {
            while !self.running.is_empty() {
                self.finish(0);
                finished += 1;
                assert!(finished < 100_000, "plans beget plans for ever");
            }
            match self.manager.deadline() {
                Some(at) if !self.machine.outstanding.is_empty() => self.wait(at),
                _ => break,
            }
        }
        let hopeless = self.manager.out_of_memory().is_some();
        assert!(hopeless || self.machine.outstanding.is_empty(), "never woken: {:?}", self.machine.outstanding);
        for (index, &capacity) in self.capacity.iter().enumerate() {
            let stays = if self.keeps { self.manager.frames_held(MemoryId::gpu(index)) } else { 0 };
            self.machine.capacity[index + 1] = capacity.max(stays);
        }
        self.compare();
        self.compare_machine();
        self.manager.check().unwrap();
    }
}

fn laws(config: &MemoryConfig, topology: &Topology) -> Option<FrameLaws> {
    let coalesces = ["mosaic", "whole-blocks"].contains(&config.sizing.name.as_str());
    let separates = config.allocator.name == "cocoa";
    if !coalesces && !separates && config.fragmentation.index * config.fragmentation.occupancy == 0 {
        return None;
    }
    let page = config.decision_size().expect("the configuration is valid").0;
    let large = config.sizing.options.get("large_page").and_then(|size| size.as_str());
    let large = large.map_or(2 << 20, |size| size.parse::<Bytes>().expect("a size").0);
    let endless = config.allocator.name == "chunks";
    let frames = gpu_pages(topology).into_iter().map(|pages| if endless { u32::MAX } else { pages });
    Some(FrameLaws::new((large / page) as u32, separates, coalesces, &frames.collect::<Vec<_>>()))
}

fn gpu_pages(topology: &Topology) -> Vec<u32> {
    topology.gpu_memories().map(|memory| memory.capacity_pages).collect()
}

fn names(running: &Running) -> BTreeSet<u32> {
    running.pages().into_iter().map(|page| page.0).collect()
}
