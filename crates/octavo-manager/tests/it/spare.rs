//! Jobs that grow and shrink, on GPUs that keep victims for each other, at random, with pages of one size or with
//! Mosaic's large pages. Beside what holds of every composition ([conformance](crate::conformance)): no fault waits for room where something can be removed, a lender
//! has its reserve, if pages are blocks; and everyone who waits is served in the end.

use crate::common::choice;
use crate::executor::Machine;
use octavo_manager::{
    Access, Cause, Event, Fault, Manager, MemoryConfig, MemoryId, Mode, PageId, PageRun, Plan, ProcessorId, Step,
    Topology,
};
use octavo_registry::Choice;
use octavo_units::{Bytes, Time};
use proptest::prelude::*;

/// Pages of each job. With pages of 2 MiB each is a block; of those of 64 KiB, blocks have pages of two jobs.
const PAGES: u32 = 24;

#[derive(Clone, Debug)]
enum Happening {
    /// A job touches one of its first pages: of so many, as large as it is now.
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
    /// Whether a page is a block.
    whole: bool,
}

impl World {
    fn new(page_size: u64, (gpus, capacity, reserve): (usize, u32, u32), technique: &Technique) -> Self {
        let reserved = format!("{}B", page_size * u64::from(reserve));
        let Technique { neighbour, ahead, parallel, prefetch, .. } = *technique;
        let choices = format!(r#""pre_eviction": {ahead}, "parallel_fetch": {parallel}"#);
        let options = format!(r#"{{"reserve": "{reserved}", "neighbour": "{neighbour}", {choices}}}"#);
        let (demotion, prefetch) = (choice("spare-memory", &options), Choice::named(prefetch));
        let (whole, page_size) = (page_size == 2 << 20, Bytes(page_size));
        let eviction = Choice::named("lru-block");
        let config = MemoryConfig { demotion, prefetch, page_size, eviction, ..Default::default() };
        let config = if technique.mosaic && !whole { mosaic(config) } else { config };
        let capacity = vec![capacity; gpus];
        let manager = Manager::new(&config, &Topology::of(capacity.clone())).unwrap();
        let machine = Machine::new(gpus, &capacity, gpus * PAGES as usize);
        let mut world = Self { manager, machine, gpus, capacity, reserve, sizes: [PAGES; 4], whole };
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
        if self.whole {
            let shrinks = self.manager.frames_held(MemoryId::gpu(job)) > self.capacity[job];
            let removable = self.removable(MemoryId::gpu(job));
            assert!(!waits || shrinks || removable == 0, "{fault:?} waits and {removable} pages could be removed");
            self.check_lenders(&plans);
        }
        self.carry_out(plans);
    }

    /// Frames that can be had without a copy.
    fn removable(&self, memory: MemoryId) -> u32 {
        let pages = (0..self.gpus as u32 * PAGES).map(|page| self.manager.page(PageId(page)));
        let kept = pages.filter(|page| page.mode == Mode::Spare && page.owner == memory);
        kept.filter(|page| page.backed() && !page.busy).count() as u32
    }

    /// Whoever took a block for another has its reserve, once what comes back from there has left.
    fn check_lenders(&self, plans: &[Plan]) {
        let steps = || plans.iter().flat_map(|plan| &plan.steps);
        for step in steps() {
            let &Step::Copy { to, cause: Cause::Eviction, .. } = step else { continue };
            let Some(gpu) = to.gpu_index() else { continue };
            let comes_back = |step: &&Step| {
                let fetched = [Cause::Migration, Cause::Prefetch];
                matches!(**step, Step::Copy { from, cause, .. } if from == to && fetched.contains(&cause))
            };
            let leaving = steps().filter(comes_back).count() as u32;
            let free = self.capacity[gpu].saturating_sub(self.manager.frames_held(to)) + leaving;
            let reserve = self.reserve.min(self.capacity[gpu] / 2);
            assert!(free + self.removable(to) >= reserve, "{to} lends and has {free} frames and not {reserve}");
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
        let pages = (0..self.gpus as u32 * PAGES).map(|page| self.manager.page(PageId(page)));
        assert!(pages.filter(|page| page.mode == Mode::Spare).all(|page| page.backed()), "a copy is forgotten");
    }
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
