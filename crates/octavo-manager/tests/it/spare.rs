//! Jobs that grow and shrink, on GPUs that keep victims for each other, at random, with pages of one size or with
//! Mosaic's large pages. In addition to what holds for every composition ([conformance](crate::conformance)): everyone
//! who waits is served in the end. Except with Mosaic's large pages, whose frames others cannot use, no fault waits for
//! room where a block can be removed, and a lender has its reserve.

use crate::common::choice;
use crate::executor::Machine;
use octavo_manager::{
    Access, Cause, Event, Fault, Manager, MemoryConfig, MemoryId, Mode, PageId, PageRun, PageView, Plan, ProcessorId,
    Step, Topology,
};
use octavo_registry::Choice;
use octavo_units::{Bytes, Time};
use proptest::prelude::*;

/// Pages of each job. With pages of 2 MiB each is a block; of those of 64 KiB, blocks have pages of two jobs.
const PAGES: u32 = 24;

#[derive(Clone, Debug)]
enum Happening {
    /// A job touches one of its first pages; the first number is its present size in pages.
    Touch(usize, u32),
    Grow(usize, u32),
    Resize(usize, u32),
    Complete(usize),
}

fn happening() -> impl Strategy<Value = Happening> {
    let job = 0..4usize;
    prop_oneof![
        10 => (job.clone(), any::<u32>()).prop_map(|(job, page)| Happening::Touch(job, page)),
        2 => (job.clone(), 1..=PAGES).prop_map(|(job, pages)| Happening::Grow(job, pages)),
        1 => (job, 1..16u32).prop_map(|(job, pages)| Happening::Resize(job, pages)),
        10 => any::<usize>().prop_map(Happening::Complete),
    ]
}

/// Which of the publication's techniques are used.
#[derive(Clone, Debug)]
struct Technique {
    neighbour: &'static str,
    ahead: bool,
    parallel: bool,
    prefetch: &'static str,
    /// Whether base pages become large ones, if pages are no blocks.
    mosaic: bool,
}

fn technique() -> impl Strategy<Value = Technique> {
    let neighbour = prop::sample::select(vec!["round-robin", "fewest-pending"]);
    let prefetch = prop::sample::select(vec!["none", "local-path", "multi-path"]);
    (neighbour, any::<[bool; 3]>(), prefetch).prop_map(|(neighbour, [ahead, parallel, mosaic], prefetch)| Technique {
        neighbour,
        ahead,
        parallel,
        prefetch,
        mosaic,
    })
}

/// Large pages of four base pages.
fn mosaic(config: MemoryConfig) -> MemoryConfig {
    MemoryConfig {
        allocator: choice("cocoa", r#"{"channels": 1}"#),
        sizing: choice("mosaic", r#"{"large_page": "256KiB", "threshold": 2}"#),
        ..config
    }
}

/// Job `n` runs on GPU `n`.
struct World {
    manager: Manager,
    machine: Machine,
    gpus: usize,
    /// Frames that each GPU has, and should have free or removable.
    capacity: Vec<u32>,
    reserve: u32,
    sizes: [u32; 4],
    /// Pages of 2 MiB.
    block_pages: u32,
    /// Whether base pages become large ones, which need frames of their own.
    large: bool,
}

impl World {
    fn new(page_size: u64, (gpus, capacity, reserve): (usize, u32, u32), technique: &Technique) -> Self {
        let reserved = format!("{}B", page_size * u64::from(reserve));
        let Technique { neighbour, ahead, parallel, prefetch, .. } = *technique;
        let choices = format!(r#""pre_eviction": {ahead}, "parallel_fetch": {parallel}"#);
        let options = format!(r#"{{"reserve": "{reserved}", "neighbour": "{neighbour}", {choices}}}"#);
        let (demotion, prefetch) = (choice("spare-memory", &options), Choice::named(prefetch));
        let (block_pages, page_size) = ((2 << 20) / page_size as u32, Bytes(page_size));
        let eviction = Choice::named("lru-block");
        let config = MemoryConfig { demotion, prefetch, page_size, eviction, ..Default::default() };
        let large = technique.mosaic && block_pages > 1;
        let config = if large { mosaic(config) } else { config };
        let capacity = vec![capacity; gpus];
        let manager = Manager::new(&config, &Topology::of(capacity.clone())).unwrap();
        let machine = Machine::new(gpus, &capacity, gpus * PAGES as usize);
        let mut world = Self { manager, machine, gpus, capacity, reserve, sizes: [PAGES; 4], block_pages, large };
        let all = PageRun { first: PageId(0), count: gpus as u32 * PAGES };
        world.machine.allocate(all, true);
        world.manager.handle(Time::ZERO, Event::Allocate(all.into()), &mut Vec::new());
        world
    }

    fn happens(&mut self, happening: &Happening) {
        match *happening {
            Happening::Touch(job, page) => self.touch(job % self.gpus, page),
            Happening::Grow(job, pages) => self.sizes[job] = pages,
            Happening::Resize(gpu, pages) => {
                let processor = ProcessorId::gpu(gpu % self.gpus);
                self.machine.resize(processor, pages);
                self.capacity[gpu % self.gpus] = pages;
                let mut plans = Vec::new();
                let event = Event::Capacity { memory: processor.memory(), pages };
                self.manager.handle(Time::ZERO, event, &mut plans);
                self.manager.work_ahead(Time::ZERO, &mut plans);
                self.carry_out(plans);
            }
            Happening::Complete(plan) if self.machine.unfinished() > 0 => {
                self.complete(plan % self.machine.unfinished());
            }
            Happening::Complete(_) => {}
        }
    }

    fn touch(&mut self, job: usize, page: u32) {
        let page = PageId(job as u32 * PAGES + page % self.sizes[job]);
        let fault = Fault { processor: ProcessorId::gpu(job), page, access: Access::Write };
        if !self.machine.fault(fault) {
            return;
        }
        let waited = self.manager.statistics().faults_without_room;
        let mut plans = Vec::new();
        self.manager.handle(Time::ZERO, Event::Faults(&[fault]), &mut plans);
        self.manager.work_ahead(Time::ZERO, &mut plans);
        let waits = self.manager.statistics().faults_without_room > waited;
        if !self.large {
            let shrinks = self.manager.frames_held(MemoryId::gpu(job)) > self.capacity[job];
            let removable = self.removable(MemoryId::gpu(job), |page| page.backed() && !page.busy);
            assert!(!waits || shrinks || removable == 0, "{fault:?} waits and {removable} pages could be removed");
            self.check_lenders(&plans);
        }
        self.carry_out(plans);
    }

    fn pages(&self) -> impl Iterator<Item = PageView> {
        self.manager.pages(PageRun { first: PageId(0), count: self.gpus as u32 * PAGES })
    }

    /// Frames of the blocks that a memory keeps and of which it can remove all pages.
    fn removable(&self, memory: MemoryId, can_go: impl Fn(&PageView) -> bool) -> u32 {
        let pages: Vec<PageView> = self.pages().collect();
        let blocks = pages.chunks(self.block_pages as usize).map(|block| {
            let kept = block.iter().filter(|page| page.mode == Mode::Spare && page.owner == memory);
            kept.collect::<Vec<_>>()
        });
        blocks.filter(|kept| kept.iter().all(|page| can_go(page))).map(|kept| kept.len() as u32).sum()
    }

    /// Whoever took a block for another has its reserve once these plans have moved pages away from it.
    fn check_lenders(&self, plans: &[Plan]) {
        for step in plans.iter().flat_map(|plan| &plan.steps) {
            let &Step::Copy { to, cause: Cause::Eviction, .. } = step else { continue };
            let Some(gpu) = to.gpu_index() else { continue };
            let leaving: u32 = plans.iter().map(|plan| leaving(plan, to)).sum();
            let free = self.capacity[gpu].saturating_sub(self.manager.frames_held(to)) + leaving;
            let reserve = self.reserve.min(self.capacity[gpu] / 2);
            // A plan can hold some pages of a block that its keeper could remove otherwise.
            let removable = self.removable(to, |page| page.backed() && (self.block_pages > 1 || !page.busy));
            assert!(free + removable >= reserve, "{to} lends and has {free} frames and not {reserve}");
        }
    }

    fn complete(&mut self, plan: usize) {
        let mut plans = Vec::new();
        self.manager.complete(Time::ZERO, self.machine.complete(plan), &mut plans);
        self.manager.work_ahead(Time::ZERO, &mut plans);
        self.carry_out(plans);
    }

    fn carry_out(&mut self, plans: Vec<Plan>) {
        plans.into_iter().for_each(|plan| self.machine.begin(plan, true, false));
        self.machine.compare(&self.manager);
        self.manager.check().unwrap();
    }

    /// Once all is done, everyone was served and everything has its copy.
    fn finish(&mut self) {
        while self.machine.unfinished() > 0 {
            self.complete(0);
        }
        let starving = self.manager.starving();
        assert!(self.machine.outstanding().is_empty(), "never woken: {:?}, {starving:?}", self.machine.outstanding());
        assert!(self.pages().filter(|page| page.mode == Mode::Spare).all(|page| page.backed()), "a copy is forgotten");
    }
}

/// Frames of a memory that become free when a plan is done.
fn leaving(plan: &Plan, memory: MemoryId) -> u32 {
    let (mut most, mut now) = (0, 0i64);
    for step in &plan.steps {
        match *step {
            Step::Copy { pages, to, .. } if to == memory => now += i64::from(pages.count),
            Step::Release { memory: from, pages } if from == memory => now -= i64::from(pages.count),
            _ => {}
        }
        most = now.max(most);
    }
    (most - now) as u32
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn jobs_that_grow_and_shrink_never_lose_starve_or_wait_in_vain(
        gpus in 2..=4usize,
        capacity in 1..20u32,
        reserve in 0..6u32,
        technique in technique(),
        page_size in prop::sample::select(vec![64 << 10, 2 << 20]),
        happenings in prop::collection::vec(happening(), 1..300),
    ) {
        let mut world = World::new(page_size, (gpus, capacity, reserve), &technique);
        happenings.iter().for_each(|happening| world.happens(happening));
        world.finish();
        let counts = world.manager.statistics();
        prop_assert!(counts.yielded + counts.fetched_from_spare <= counts.evictions_to_spare + counts.staged);
    }
}
