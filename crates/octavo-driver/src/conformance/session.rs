//! One node under test: a driver, an executor with a mood, and processors that touch pages.

use std::collections::BTreeMap;

use octavo_manager::{
    Access, Allocation, CounterNotification, Fault, KernelEnd, Kind, Manager, MemoryConfig, MemoryId, PageId, PageRun,
    Plan, ProcessorId, ProcessorMask, Random, SpaceId, Step, Topology, UnderWay,
};
use octavo_units::Time;

use super::faulty::{Faulty, Mood};
use super::subject::{Subject, Watched};
use crate::config::{BatchConfig, BatchScope, PoolConfig, Replay, ServiceModel};
use crate::driver::Driver;
use crate::executor::Executor;
use crate::faults::Outstanding;
use crate::service::Service;

/// Pages that are always there, and pages that come and go.
const FIRST: PageRun = PageRun { first: PageId(0), count: 40 };
const SECOND: PageRun = PageRun { first: PageId(40), count: 20 };

/// Accesses that are tried again in one session, at most: with more, the session makes no progress.
const MOST_TRIES: u32 = 200_000;

/// What is tested.
#[derive(Clone, Debug)]
pub struct Case {
    /// The memory system.
    pub config: MemoryConfig,
    /// The node.
    pub topology: Topology,
    /// What goes wrong.
    pub mood: Mood,
    /// Seed of the program and of the faults injected.
    pub seed: u32,
    /// Things that happen.
    pub events: u32,
}

/// The fate of pages that come and go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Second {
    There,
    /// Freed under this token, which the executor has yet to say.
    Leaving(u64),
    Nowhere,
}

/// How requests are served: at once, by servers, or in batches, each option of which is drawn on its own.
fn service(seed: u32) -> Service {
    let mut random = Random::new(seed ^ 0xba7c);
    match seed % 3 {
        0 => Service::at_once(),
        1 => Service::new(&ServiceModel::Pool(PoolConfig { service: Time(2), servers: 1 + random.below(3) })),
        _ => Service::new(&ServiceModel::Batch(batches(&mut random))),
    }
}

fn batches(random: &mut Random) -> BatchConfig {
    BatchConfig {
        size: 1 + random.below(4),
        batch: Time(3),
        request: Time(1),
        block: Time(random.below(2).into()),
        replay: [Replay::Block, Replay::Batch, Replay::BatchFlush, Replay::Once][random.below(4) as usize],
        interrupt: Time(random.below(2).into()),
        look: Time(random.below(2).into()),
        scope: [BatchScope::PerGpu, BatchScope::Node][random.below(2) as usize],
    }
}

/// A running case.
pub struct Session<S> {
    driver: Driver,
    /// The executor.
    pub node: Faulty<Watched<S>>,
    random: Random,
    now: Time,
    gpus: usize,
    vanishing: u32,
    /// Capacity of each GPU, as last set.
    capacity: Vec<u32>,
    keeps: bool,
    second: Second,
    frees: u64,
    tries: u32,
    /// Wake-ups that have arrived and are not finished, with the accesses that may continue.
    retries: Vec<(Outstanding, Vec<Fault>)>,
    /// By page: accesses that were served after a wake.
    used: BTreeMap<PageId, u32>,
    /// Whether transfers are counted: nothing else than faults is to move pages.
    calm: bool,
}

impl<S: Subject> Session<S> {
    /// A node on which nothing happened yet.
    pub fn new(case: &Case, subject: S) -> Self {
        let manager = Manager::new(&case.config, &case.topology).expect("the configuration is valid");
        let watched = Watched::new(subject, &case.topology, case.config.placement.name == "ideal");
        let mut session = Self {
            driver: Driver::new(manager, service(case.seed)),
            node: Faulty::new(watched, case.mood, case.seed ^ 0x5eed),
            random: Random::new(case.seed),
            now: Time::ZERO,
            gpus: case.topology.gpus(),
            vanishing: case.mood.entries_vanish,
            capacity: case.topology.gpu_memories().map(|memory| memory.capacity_pages).collect(),
            keeps: case.config.eviction.name == "none",
            second: Second::Nowhere,
            frees: 0,
            tries: 0,
            retries: Vec::new(),
            used: BTreeMap::new(),
            calm: case.mood.refuses == 0 && case.mood.entries_vanish == 0 && case.mood.at.is_none(),
        };
        session.allocate(&FIRST.into());
        session
    }

    /// Plays a random program to its end.
    pub fn play(mut self, events: u32) -> Self {
        for _ in 0..events {
            if self.driver.halted() {
                break;
            }
            self.happen();
        }
        self.settle();
        if self.calm && !self.driver.halted() {
            self.check_progress();
        }
        self
    }

    /// Each page that came to a processor waiting for it had an access by one of the waiting processors.
    fn check_progress(&self) {
        let mut transfers: BTreeMap<PageId, u32> = BTreeMap::new();
        for page in self.node.inner.made.iter().flat_map(transferred).filter(|page| *page < SECOND.first) {
            *transfers.entry(page).or_default() += 1;
        }
        for (page, times) in transfers {
            let used = self.used.get(&page).copied().unwrap_or_default();
            assert!(times <= used, "page {} came {times} times for faults, and was used {used} times", page.0);
        }
    }

    /// One thing happens.
    fn happen(&mut self) {
        self.now += Time(1);
        if self.vanishing > 0 && self.random.below(self.vanishing) == 0 {
            self.take_entry_away();
        }
        match self.random.below(32) {
            0..20 => self.touch_some(),
            20..25 => _ = self.node.go_on(self.now, &mut self.driver),
            25 => self.resize(),
            26 => self.kernel_ends(),
            27 => self.counter(),
            28 => self.renew(),
            _ => self.settle(),
        }
        self.driver.tick(self.now, &mut self.node);
        self.replay(false);
    }

    fn touch_some(&mut self) {
        let touches = 1 + self.random.below(5);
        let touches: Vec<Fault> = (0..touches).map(|_| self.any_touch()).collect();
        let faults: Vec<Fault> = touches.into_iter().filter_map(|touch| self.touch(touch)).collect();
        self.driver.faults(self.now, &faults, &mut self.node);
    }

    /// Few pages are touched often, and the host touches now and then.
    fn any_touch(&mut self) -> Fault {
        let spans = [6, 20, FIRST.count + SECOND.count];
        let span = spans[self.random.below(3) as usize];
        let page = PageId(self.random.below(span));
        let processor = ProcessorId(self.random.below(8 * self.gpus as u32) as u8 % (self.gpus as u8 * 2));
        let processor = if processor.index() > self.gpus { self.any_gpu() } else { processor };
        let access = if self.random.below(2) == 0 { Access::Read } else { Access::Write };
        Fault { processor, page, access }
    }

    fn any_gpu(&mut self) -> ProcessorId {
        ProcessorId::gpu(self.random.below(self.gpus as u32) as usize)
    }

    /// A processor touches a page, if it exists, and what it reads is checked. The fault, if it has to wait.
    fn touch(&mut self, touch: Fault) -> Option<Fault> {
        let machine = &mut self.node.inner.machine;
        let manager = self.driver.manager();
        let there = machine.allocated(touch.page) && (touch.page < SECOND.first || self.second == Second::There);
        // Memory that stays is touched only after it is mapped, and only by processors that can reach it.
        let stays = there && manager.page(touch.page).kind.stays();
        if !there || stays && !machine.allows(touch) {
            return None;
        }
        let fault = machine.touch(touch).unwrap();
        if fault.is_none() && self.driver.manager().wants_outstanding() {
            let until = self.now + Time(self.random.below(8).into());
            let under_way = UnderWay { processor: touch.processor, page: touch.page, until };
            self.driver.manager_mut().note_outstanding(&[under_way]);
        }
        fault
    }

    /// Wakes arrive, perhaps all: waiting accesses try again.
    fn replay(&mut self, all: bool) -> bool {
        let mut any = false;
        while let Some(id) = self.node.arriving_wake(all) {
            any = true;
            self.tries += 1;
            assert!(self.tries < MOST_TRIES, "{:?} makes no progress", self.driver.outstanding()[id]);
            let fault = self.driver.wake_arrives(id);
            self.node.inner.wake(self.now, id, &fault);
            let woken = std::iter::from_fn(|| self.node.inner.take_woken()).collect::<Vec<_>>();
            self.retries.push((fault, woken));
            self.retry(all);
        }
        self.retry(all) || any
    }

    /// Accesses whose wake-up has arrived try again, possibly all: those that cannot be served fault again, and the
    /// wake-up ends.
    fn retry(&mut self, all: bool) -> bool {
        let (mut any, mut next) = (false, 0);
        while next < self.retries.len() {
            if !all && self.node.puts_retry_off() {
                next += 1;
                continue;
            }
            any = true;
            let (fault, woken) = self.retries.remove(next);
            let faults: Vec<Fault> = woken.into_iter().filter_map(|touch| self.touch_again(touch)).collect();
            self.driver.faults(self.now, &faults, &mut self.node);
            self.driver.replayed(self.now, &fault, &mut self.node);
        }
        any
    }

    fn touch_again(&mut self, touch: Fault) -> Option<Fault> {
        let fault = self.touch(touch);
        if fault.is_none() {
            *self.used.entry(touch.page).or_default() += 1;
        }
        fault
    }

    fn take_entry_away(&mut self) {
        let page = PageId(self.random.below(FIRST.count));
        let processor = ProcessorId(self.random.below(self.gpus as u32 + 1) as u8);
        self.node.inner.take_entry_away(processor, page);
    }

    fn resize(&mut self) {
        let (gpu, pages) = (self.any_gpu(), 1 + self.random.below(24));
        self.capacity[gpu.index() - 1] = pages;
        let room = &mut self.node.inner.machine.capacity[gpu.index()];
        *room = pages.max(*room);
        self.driver.capacity(self.now, gpu.memory(), pages, &mut self.node);
    }

    fn kernel_ends(&mut self) {
        let end = KernelEnd { space: SpaceId::default(), gpus: ProcessorMask::all_gpus(self.gpus) };
        self.driver.kernel_end(self.now, end, &mut self.node);
    }

    fn counter(&mut self) {
        if self.driver.manager().needs().counters.is_some() {
            let notification = CounterNotification { processor: self.any_gpu(), page: PageId(self.random.below(20)) };
            self.driver.counter(self.now, notification, &mut self.node);
        }
    }

    /// The pages that come and go, go or come.
    fn renew(&mut self) {
        match self.second {
            Second::There => {
                self.frees += 1;
                self.second = Second::Leaving(self.frees);
                self.driver.free(self.now, SECOND, self.frees, &mut self.node);
            }
            Second::Leaving(token) if !self.node.inner.freed.contains(&token) => {}
            Second::Leaving(_) | Second::Nowhere => {
                let kind = [Kind::Managed, Kind::System, Kind::Pinned][self.random.below(3) as usize];
                let populated = self.random.below(2) == 0 && !kind.stays();
                self.allocate(&Allocation { kind, populated, ..SECOND.into() });
                self.second = Second::There;
            }
        }
    }

    fn allocate(&mut self, allocation: &Allocation) {
        self.node.inner.allocate(allocation);
        self.driver.allocate(self.now, *allocation, &mut self.node);
    }

    /// Everything under way ends. Then no access may wait, and manager and machine agree.
    fn settle(&mut self) {
        while self.replay(true) || self.node.go_on(self.now, &mut self.driver) || self.pass_time() {}
        assert!(self.driver.is_idle(), "plans are under way and nothing ends them");
        assert!(self.driver.outstanding().is_empty(), "faults are forgotten");
        let waiting = &self.node.inner.machine.outstanding;
        assert!(waiting.is_empty(), "never woken: {waiting:?}");
        if let Second::Leaving(token) = self.second {
            assert!(self.node.inner.freed.contains(&token), "never freed");
        }
        if !self.driver.halted() {
            self.compare();
        }
    }

    /// The driver continues with the next due work; returns whether there was any.
    fn pass_time(&mut self) -> bool {
        let Some(at) = self.driver.deadline() else { return false };
        self.now = self.now.max(at);
        self.driver.tick(self.now, &mut self.node);
        true
    }

    fn compare(&mut self) {
        let manager = self.driver.manager();
        manager.check().unwrap();
        let machine = &mut self.node.inner.machine;
        for page in machine.pages() {
            machine.agrees(&manager.page(page), self.vanishing > 0).unwrap();
        }
        for (index, &capacity) in self.capacity.iter().enumerate() {
            let stays = if self.keeps { manager.frames_held(MemoryId::gpu(index)) } else { 0 };
            machine.capacity[index + 1] = capacity.max(stays);
            machine.check_capacity(index + 1).unwrap();
        }
    }
}

/// Pages that a plan copies to a processor whose faults on them it wakes.
fn transferred(plan: &Plan) -> Vec<PageId> {
    let copied = |processor: ProcessorId, page: PageId| {
        plan.steps.iter().any(|step| match step {
            Step::Copy { pages, to, .. } => to.processor() == processor && pages.iter().any(|copied| copied == page),
            _ => false,
        })
    };
    plan.wakes().filter(|&(processor, page)| copied(processor, page)).map(|(_, page)| page).collect()
}
