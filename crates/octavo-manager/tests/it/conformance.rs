//! Every registered placement × prefetch × eviction × guard, on nodes of 1 to 16 GPUs with all page sizes, under random
//! events with random acknowledgements and failures, mostly with too little memory. A strategy joins by being
//! registered.
//!
//! After each event: the manager's own invariants hold, its plans can be carried out by a
//! [machine](crate::executor::Machine) that refuses nonsense, and both agree about every page. At the end every fault
//! was woken. If pages in use stay, none is evicted while an access to it is in progress. The first script of each
//! composition, played twice, gives twice the same plans.

use crate::common::choice;
use crate::executor::Machine;
use octavo_manager::{
    Access, AccessCount, Accessed, Allocation, Cause, CounterNotification, EVICTIONS, Event, Fault, GUARDS, Kind,
    Manager, MemoryConfig, OutstandingAccesses, PLACEMENTS, PREFETCHERS, PageId, PageRun, Plan, PrefetchPlan,
    ProcessorId, Refusal, SpaceConfig, Step, Synchronisation, SystemConfig, Topology, UnderWay, Why,
};
use octavo_registry::Choice;
use octavo_units::{Bytes, Time};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::Cell;
use std::collections::BTreeMap;

/// The address space of a script; the second allocation, untouched so far, comes and goes.
const PAGES: usize = 1100;
const FIRST: PageRun = PageRun { first: PageId(30), count: 600 };
const SECOND: PageRun = PageRun { first: PageId(700), count: 200 };

/// A node and what happens on it. Numbers are taken modulo the number of things.
#[derive(Clone, Debug)]
struct Script {
    gpus: usize,
    page_size: u64,
    capacity: Option<u32>,
    /// Pages that are touched: few, so that they are fought over, or many.
    span: u32,
    events: Vec<Happening>,
}

#[derive(Clone, Debug)]
enum Happening {
    Faults(Vec<(u8, u32, bool)>),
    Counter(u8, u32),
    Report(Vec<(u8, u32, u32)>),
    KernelEnd,
    Capacity(u8, u32),
    /// Allocates the second run, or frees it.
    Toggle,
    Complete(usize),
    /// After this many steps, and pages of the next.
    Fail(usize, usize, u32),
    /// Time passes: up to the lapse of the stock driver, or until a page is unpinned.
    Pass(u64),
}

fn happening() -> impl Strategy<Value = Happening> {
    let fault = (any::<u8>(), any::<u32>(), prop::bool::weighted(0.3));
    let count = (any::<u8>(), any::<u32>(), 0..200u32);
    prop_oneof![
        12 => prop::collection::vec(fault, 1..12).prop_map(Happening::Faults),
        3 => (any::<u8>(), any::<u32>()).prop_map(|(gpu, page)| Happening::Counter(gpu, page)),
        2 => prop::collection::vec(count, 0..12).prop_map(Happening::Report),
        1 => Just(Happening::KernelEnd),
        1 => (any::<u8>(), 0..40u32).prop_map(|(gpu, pages)| Happening::Capacity(gpu, pages)),
        1 => Just(Happening::Toggle),
        16 => any::<usize>().prop_map(Happening::Complete),
        4 => (any::<usize>(), 0..8usize, 0..4u32).prop_map(|(plan, steps, pages)| Happening::Fail(plan, steps, pages)),
        3 => (0..500_000_000u64).prop_map(Happening::Pass),
        1 => Just(Happening::Pass(150_000_000_000)),
    ]
}

fn script() -> impl Strategy<Value = Script> {
    let page_size = prop::sample::select(vec![4 << 10, 64 << 10, 2 << 20]);
    let capacity = prop::option::weighted(0.8, 1..60u32);
    let span = prop::sample::select(vec![4, 24, 600]);
    let events = prop::collection::vec(happening(), 1..80);
    (1..=16usize, page_size, capacity, span, events).prop_map(|(gpus, page_size, capacity, span, events)| Script {
        gpus,
        page_size,
        capacity,
        span,
        events,
    })
}

/// A manager and the machine it manages.
struct Pair {
    manager: Manager,
    machine: Machine,
    gpus: usize,
    span: u32,
    exempt: bool,
    second: bool,
    kind: Kind,
    now: Time,
    /// Whether manager and machine are compared after every event, which takes most of the time.
    judged: bool,
    /// Every plan so far, for comparison with a second run.
    made: Vec<Plan>,
    /// The ends of accesses in progress, by the GPU whose memory has the page.
    under_way: BTreeMap<(ProcessorId, PageId), Time>,
}

impl Pair {
    fn new((config, kind, spaces, reach): Composed<'_>, script: &Script, judged: bool) -> Self {
        let capacity = vec![script.capacity.unwrap_or(u32::MAX); script.gpus];
        let topology = Topology::of(capacity.clone());
        let (topology, first) = match reach {
            Reach::Pcie => (topology, FIRST.into()),
            Reach::Coherent => {
                (topology.coherent(), Allocation { kind: Kind::System, populated: false, ..FIRST.into() })
            }
        };
        let config = MemoryConfig { page_size: Bytes(script.page_size), ..config.clone() };
        let placements = [&config.placement, &config.system.placement];
        let own = spaces.iter().filter_map(|space| space.placement.as_ref());
        let mut pair = Self {
            manager: Manager::new(&config, &topology).unwrap().with_spaces(&config, spaces).unwrap(),
            machine: Machine::new(script.gpus, &capacity, PAGES),
            gpus: script.gpus,
            span: script.span,
            exempt: placements.into_iter().chain(own).any(|choice| choice.name == "ideal"),
            second: false,
            kind,
            now: Time::ZERO,
            judged,
            made: Vec::new(),
            under_way: BTreeMap::new(),
        };
        pair.manager.handle(Time::ZERO, Event::Allocate(first), &mut Vec::new());
        pair.machine.allocate(FIRST, first.populated);
        pair
    }

    /// A page of the first run; sometimes of the second, if it exists.
    fn page(&self, number: u32) -> PageId {
        if self.second && number.is_multiple_of(5) {
            PageId(SECOND.first.0 + number % SECOND.count)
        } else {
            PageId(FIRST.first.0 + number % self.span)
        }
    }

    fn gpu(&self, number: u8) -> ProcessorId {
        ProcessorId::gpu(usize::from(number) % self.gpus)
    }

    fn happens(&mut self, happening: &Happening) {
        match happening {
            Happening::Faults(faults) => self.faults(faults),
            Happening::Counter(gpu, page) if self.manager.needs().counters.is_some() => {
                let notification = CounterNotification { processor: self.gpu(*gpu), page: self.page(*page) };
                self.handle(Event::Counter(notification));
            }
            Happening::Report(counts) if self.manager.needs().reports.is_some() => self.report(counts),
            Happening::KernelEnd => {
                self.handle(crate::common::kernel_end(self.gpus));
                self.handle(Event::Synchronise(octavo_manager::SpaceId::default()));
            }
            Happening::Capacity(gpu, pages) => {
                let processor = self.gpu(*gpu);
                self.machine.resize(processor, *pages);
                self.handle(Event::Capacity { memory: processor.memory(), pages: *pages });
            }
            Happening::Toggle => self.toggle(),
            Happening::Pass(time) => self.pass(Time(*time)),
            Happening::Complete(index) if self.machine.unfinished() > 0 => {
                self.complete(index % self.machine.unfinished());
            }
            Happening::Fail(index, steps, pages) if self.machine.unfinished() > 0 => {
                self.fail(index % self.machine.unfinished(), *steps, *pages);
            }
            _ => {}
        }
    }

    fn faults(&mut self, faults: &[(u8, u32, bool)]) {
        let mut batch = Vec::new();
        for &(processor, page, write) in faults {
            let access = if write { Access::Write } else { Access::Read };
            // The host touches pages too, now and then.
            let processor = if processor == 0 { ProcessorId(0) } else { self.gpu(processor) };
            let fault = Fault { processor, page: self.page(page), access };
            if self.machine.fault(fault) {
                batch.push(fault);
            }
        }
        self.handle(Event::Faults(&batch));
        if self.manager.wants_accesses() {
            let named = |&(gpu, page, stores): &(u8, u32, bool)| Accessed {
                processor: self.gpu(gpu),
                page: self.page(page),
                times: 1,
                stores,
            };
            let accesses: Vec<Accessed> = faults.iter().map(named).collect();
            self.manager.note_accesses(&accesses);
        }
        if self.manager.wants_outstanding() {
            faults.iter().for_each(|&(gpu, page, _)| self.goes_under_way(self.gpu(gpu), self.page(page), page));
        }
    }

    /// An access of a GPU to a page that it holds takes up to 225 us, in steps: time passes in few of them.
    fn goes_under_way(&mut self, processor: ProcessorId, page: PageId, number: u32) {
        let view = self.manager.page(page);
        if view.allocated && !view.busy && view.resident.contains(processor.memory()) {
            let until = self.now + Time(u64::from(number % 4) * 75_000_000);
            self.manager.note_outstanding(&[UnderWay { processor, page, until }]);
            let last = self.under_way.entry((processor, page)).or_default();
            *last = until.max(*last);
        }
    }

    /// Pages that leave a GPU to make room have no access in progress.
    fn judge_evictions(&self, plan: &Plan) {
        for step in &plan.steps {
            let Step::Copy { pages, from, cause: Cause::Eviction, .. } = *step else { continue };
            for page in pages.iter() {
                let until = self.under_way.get(&(from.processor(), page));
                assert!(until.is_none_or(|&until| until <= self.now), "page {} leaves {from} in use", page.0);
            }
        }
    }

    fn report(&mut self, counts: &[(u8, u32, u32)]) {
        let count = |&(gpu, page, lines): &(u8, u32, u32)| AccessCount {
            processor: self.gpu(gpu),
            page: self.page(page),
            lines,
        };
        let mut counts: Vec<AccessCount> = counts.iter().map(count).collect();
        counts.sort_by_key(|count| (count.page, count.processor));
        counts.dedup_by_key(|count| (count.page, count.processor));
        self.handle(Event::Report(&counts));
    }

    fn toggle(&mut self) {
        if !self.second {
            self.machine.allocate(SECOND, false);
            let space = octavo_manager::SpaceId(1);
            self.handle(Event::Allocate(Allocation { space, kind: self.kind, populated: false, ..SECOND.into() }));
            self.second = true;
        } else if self.machine.idle(SECOND) {
            self.machine.free(SECOND);
            self.handle(Event::Free(SECOND));
            self.second = false;
        }
    }

    fn handle(&mut self, event: Event<'_>) {
        let mut plans = Vec::new();
        self.manager.handle(self.now, event, &mut plans);
        self.manager.work_ahead(self.now, &mut plans);
        self.carry_out(plans, false);
    }

    fn complete(&mut self, index: usize) {
        let mut plans = Vec::new();
        self.manager.complete(self.now, self.machine.complete(index), &mut plans);
        self.manager.work_ahead(self.now, &mut plans);
        self.carry_out(plans, false);
    }

    fn fail(&mut self, index: usize, steps: usize, pages: u32) {
        let mut plans = Vec::new();
        let (plan, done) = self.machine.fail(index, steps, pages);
        self.manager.fail(self.now, &plan, Refusal { done, why: Why::Again }, &mut plans);
        self.manager.work_ahead(self.now, &mut plans);
        self.carry_out(plans, true);
    }

    fn carry_out(&mut self, plans: Vec<Plan>, after_failure: bool) {
        for (index, plan) in plans.into_iter().enumerate() {
            assert!(self.made.last().is_none_or(|last| last.id < plan.id), "numbers ascend");
            self.judge_evictions(&plan);
            self.made.push(plan.clone());
            self.machine.begin(plan, !(after_failure && index == 0), self.exempt);
        }
        if self.judged {
            self.machine.compare(&self.manager);
            self.manager.check().unwrap();
        }
    }

    /// Time passes, and strategies are asked when they want to be.
    fn pass(&mut self, time: Time) {
        let until = self.now + time;
        while let Some(deadline) = self.manager.deadline().filter(|at| *at <= until) {
            self.now = self.now.max(deadline);
            self.handle(Event::Tick);
        }
        self.now = until;
    }

    /// Acknowledges everything until nothing is under way, at any time.
    fn finish(&mut self) {
        loop {
            while self.machine.unfinished() > 0 {
                self.complete(0);
            }
            let Some(deadline) = self.manager.deadline() else { break };
            self.now = self.now.max(deadline);
            self.handle(Event::Tick);
        }
        let outstanding = self.machine.outstanding();
        let hopeless = self.manager.out_of_memory().is_some();
        assert!(hopeless || outstanding.is_empty(), "never woken: {outstanding:?}");
    }
}

/// A memory system, the second run, and the strategies that the two runs, each an address space, have of their own.
type Composed<'a> = (&'a MemoryConfig, Kind, &'a [SpaceConfig], Reach);

/// Which processor reaches which memory on a node.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reach {
    /// GPUs everything, the host its own memory.
    Pcie,
    /// Everyone everything; the first allocation is the operating system's, in one page table.
    Coherent,
}

fn plans_of(composed: Composed<'_>, script: &Script, judged: bool) -> Vec<Plan> {
    let mut pair = Pair::new(composed, script, judged);
    script.events.iter().for_each(|happening| pair.happens(happening));
    pair.finish();
    pair.made
}

fn conforms(config: &MemoryConfig) {
    conform((config, Kind::Managed, &[], Reach::Pcie));
}

fn conform(composed: Composed<'_>) {
    // There are many compositions: each gets a sixty-fourth of PROPTEST_CASES, four by default. The first two are cheap
    // and say little.
    let cases = Config::default().cases.div_ceil(64);
    let mut runner = TestRunner::new_with_rng(
        Config { cases, failure_persistence: None, ..Config::default() },
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    // A second play costs as much as the first, and one script of each composition says whether plans repeat.
    let repeats = Cell::new(true);
    let outcome = runner.run(&script(), |script| {
        let plans = plans_of(composed, &script, true);
        if repeats.replace(false) {
            prop_assert_eq!(plans, plans_of(composed, &script, false), "the same script gives the same plans");
        }
        Ok(())
    });
    if let Err(error) = outcome {
        let MemoryConfig { placement, prefetch, eviction, guard, .. } = composed.0;
        panic!("{} + {} + {} + {}: {error}", placement.name, prefetch.name, eviction.name, guard.name);
    }
}

/// Compositions with this placement.
fn compositions(placement: Choice) -> impl Iterator<Item = MemoryConfig> {
    let pairs = PREFETCHERS.names().flat_map(|prefetch| EVICTIONS.names().map(move |eviction| (prefetch, eviction)));
    let composed = pairs.enumerate().flat_map(|pair| GUARDS.names().map(move |guard| (pair, guard)));
    composed.map(move |((number, (prefetch, eviction)), guard)| MemoryConfig {
        // Each with one of them.
        prefetch_plan: [PrefetchPlan::Shared, PrefetchPlan::Own, PrefetchPlan::AtOnce][number % 3],
        synchronisation: if number % 2 == 0 { Synchronisation::DirtyHome } else { Synchronisation::Stay },
        outstanding: if number / 2 % 2 == 0 { OutstandingAccesses::Stay } else { OutstandingAccesses::Leave },
        placement: placement.clone(),
        prefetch: Choice::named(prefetch),
        eviction: Choice::named(eviction),
        guard: Choice::named(guard),
        ..MemoryConfig::default()
    })
}

#[test]
fn every_composition_of_registered_strategies_conforms() {
    for placement in PLACEMENTS.names() {
        compositions(Choice::named(placement)).for_each(|config| conforms(&config));
    }
}

/// Every evictor chooses among the pages of one address space as well as among all.
#[test]
fn every_evictor_conforms_where_address_spaces_are_told_apart() {
    for placement in ["on-touch", "duplication"] {
        for config in compositions(Choice::named(placement)).filter(|config| config.guard.name == "none") {
            conforms(&MemoryConfig { sharing: Choice::named("quota"), ..config });
        }
    }
}

/// A placement that can be combined with any other: all that count have the default threshold of `access-counter`, as a
/// GPU's counters have only one.
fn beside_others(name: &str) -> Choice {
    if name == "delayed-migration" { choice(name, r#"{"threshold": 256}"#) } else { Choice::named(name) }
}

/// Each placement next to each other one, and each prefetcher.
#[test]
fn every_placement_conforms_for_system_memory() {
    let prefetchers: Vec<&str> = PREFETCHERS.names().collect();
    let pairs = PLACEMENTS.names().flat_map(|one| PLACEMENTS.names().map(move |other| (one, other)));
    for (number, (managed, system)) in pairs.enumerate() {
        let config = MemoryConfig {
            placement: beside_others(managed),
            system: SystemConfig {
                placement: beside_others(system),
                prefetch: Choice::named(prefetchers[number % prefetchers.len()]),
                ..SystemConfig::default()
            },
            ..MemoryConfig::default()
        };
        conform((&config, Kind::System, &[], Reach::Pcie));
    }
}

/// Each placement next to each other one, with every prefetcher and evictor in turn.
#[test]
fn address_spaces_with_strategies_of_their_own_conform() {
    let prefetchers: Vec<&str> = PREFETCHERS.names().collect();
    let evictions: Vec<&str> = EVICTIONS.names().filter(|name| *name != "none").collect();
    let pairs = PLACEMENTS.names().flat_map(|one| PLACEMENTS.names().map(move |other| (one, other)));
    for (number, (common, own)) in pairs.enumerate() {
        let config = MemoryConfig {
            placement: beside_others(common),
            sharing: Choice::named("quota"),
            ..MemoryConfig::default()
        };
        let own = SpaceConfig {
            name: "own".to_owned(),
            placement: Some(beside_others(own)),
            prefetch: Some(Choice::named(prefetchers[number % prefetchers.len()])),
            eviction: Some(Choice::named(evictions[number % evictions.len()])),
        };
        let spaces = [own, SpaceConfig::default()];
        let spaces = if number % 2 == 0 { spaces } else { [spaces[1].clone(), spaces[0].clone()] };
        conform((&config, Kind::Managed, &spaces, Reach::Pcie));
    }
}

#[test]
fn every_placement_conforms_beside_memory_that_all_processors_find_in_one_page_table() {
    for placement in PLACEMENTS.names() {
        for (eviction, prefetch) in [("lru-page", "none"), ("lru-block", "tree"), ("tree-neighborhood", "none")] {
            let system = SystemConfig {
                placement: Choice::named(placement),
                prefetch: Choice::named(prefetch),
                ..SystemConfig::default()
            };
            let config = MemoryConfig { system, eviction: Choice::named(eviction), ..MemoryConfig::default() };
            conform((&config, Kind::Managed, &[], Reach::Coherent));
        }
    }
}

#[test]
fn options_that_change_mechanisms_conform() {
    let options = [
        ("grit", r#"{"fault_threshold": 2, "pa_cache_entries": 4, "host_pages": "map", "counter_moves": "group"}"#),
        ("grit", r#"{"fault_threshold": 1, "pa_cache": false, "downgrade_drain": true}"#),
        ("access-counter", r#"{"host_pages": "migrate", "moves": "group"}"#),
        ("duplication", r#"{"downgrade_drain": true}"#),
        ("duplication", r#"{"host_replicas": true}"#),
        ("grit", r#"{"fault_threshold": 2, "host_replicas": true}"#),
        ("griffin-dpc", r#"{"smoothing": 1.0, "touched": 0.0, "shifting": 1.0}"#),
    ];
    for (name, options) in options {
        let placement = Choice { name: name.to_owned(), options: serde_json::from_str(options).unwrap() };
        compositions(placement).for_each(|config| conforms(&config));
    }
}

#[test]
fn every_placement_conforms_where_idle_gpus_keep_victims() {
    let options = [
        r#"{"reserve": "0B"}"#,
        r#"{"reserve": "6MiB", "neighbour": "fewest-pending"}"#,
        r#"{"reserve": "0B", "parallel_fetch": true}"#,
    ];
    let others =
        [("lru-page", "none"), ("lru-block", "tree"), ("tree-neighborhood", "none"), ("lru-block", "multi-path")];
    for (number, placement) in PLACEMENTS.names().enumerate() {
        for (eviction, prefetch) in others {
            conforms(&MemoryConfig {
                placement: Choice::named(placement),
                prefetch: Choice::named(prefetch),
                eviction: Choice::named(eviction),
                demotion: crate::common::choice("spare-memory", options[number % options.len()]),
                ..MemoryConfig::default()
            });
        }
    }
}
