//! Time is an argument: strategies see it, and are asked again when they want.

use std::sync::mpsc::{Sender, channel};

use octavo_manager::{
    AccessCount, Allocation, Context, Decision, Event, Fault, Geometry, HOST_MEMORY, KernelEnd, Kind, Manager,
    MemoryId, Move, Needs, PageId, PageRun, PageView, Placement, ProcessorId, ProcessorMask, ReportSpec, SpaceId,
    Topology, Unsubscribe,
};
use octavo_manager::{EVICTIONS, PREFETCHERS};
use octavo_registry::Choice;
use octavo_units::{Bytes, Time};

use crate::common::{fault, show};

/// How long a page of the host is mapped where it is before it comes.
const PATIENCE: u64 = 100;
const SPACE: SpaceId = SpaceId(7);

/// Maps pages where they are, and brings each a while after its first fault.
#[derive(Default)]
struct Patient {
    /// Times never go back, so the first is due first.
    wanted: Vec<(Time, Move)>,
    ended: Vec<KernelEnd>,
}

impl Placement for Patient {
    fn on_fault(&mut self, fault: &Fault, page: &PageView, context: &mut Context<'_>) -> Decision {
        assert_eq!(page.space, SPACE, "a fault is of the space of its page");
        let due = context.now() + Time(PATIENCE);
        self.wanted.push((due, Move { page: fault.page, to: fault.processor.memory() }));
        Decision::MapRemote
    }

    fn on_kernel_end(&mut self, end: &KernelEnd, context: &mut Context<'_>, _given_up: &mut Vec<Unsubscribe>) {
        assert_eq!(context.now(), Time(400));
        self.ended.push(*end);
    }

    fn deadline(&self) -> Option<Time> {
        self.wanted.first().map(|(due, _)| *due)
    }

    fn on_deadline(&mut self, context: &mut Context<'_>, moves: &mut Vec<Move>) {
        let due = self.wanted.iter().take_while(|(due, _)| *due <= context.now()).count();
        moves.extend(self.wanted.drain(..due).map(|(_, request)| request));
    }

    fn check(&self, _context: &Context<'_>) -> Result<(), String> {
        let ours = KernelEnd { space: SPACE, gpus: ProcessorMask::only(ProcessorId::gpu(1)) };
        if self.ended == [ours] { Ok(()) } else { Err(format!("{:?}", self.ended)) }
    }
}

fn manager(placement: impl Placement + 'static) -> Manager {
    let geometry = Geometry { gpus: 2, page_size: Bytes(4096) };
    let prefetch = PREFETCHERS.build(&Choice::named("none"), &geometry).unwrap();
    let eviction = EVICTIONS.build(&Choice::named("lru-page"), &geometry).unwrap();
    let topology = Topology::unlimited(2);
    let mut manager =
        Manager::with_strategies(geometry, &topology, Box::new(placement), prefetch, eviction).expect("valid");
    let run = PageRun { first: PageId(0), count: 16 };
    manager.handle(Time::ZERO, Event::Allocate(Allocation { space: SPACE, ..run.into() }), &mut Vec::new());
    manager
}

/// The steps that follow from `event`, when plans end at once.
fn steps(manager: &mut Manager, now: u64, event: Event<'_>) -> Vec<String> {
    let mut plans = Vec::new();
    manager.handle(Time(now), event, &mut plans);
    let lines = plans.iter().flat_map(|plan| plan.steps.iter().map(show)).collect();
    plans.iter().for_each(|plan| manager.complete(Time(now), plan.id, &mut Vec::new()));
    lines
}

#[test]
fn a_placement_moves_pages_at_times_that_it_named() {
    let mut manager = manager(Patient::default());
    assert_eq!(manager.deadline(), None);
    let read = |gpu, page| fault(gpu, page, octavo_manager::Access::Read);
    steps(&mut manager, 5, Event::Faults(&[read(0, 3)]));
    steps(&mut manager, 20, Event::Faults(&[read(1, 4)]));
    assert_eq!(manager.deadline(), Some(Time(105)));
    assert_eq!(steps(&mut manager, 104, Event::Tick), [""; 0], "too early");
    let comes = steps(&mut manager, 105, Event::Tick);
    let moves = ["copy 3 host gpu0 migration", "release host 3", "map gpu0 3 -> gpu0 rw"];
    assert_eq!(comes[2..], moves, "its remote mapping goes first: {comes:?}");
    assert_eq!(manager.deadline(), Some(Time(120)));
    assert_eq!(manager.page(PageId(4)).owner, HOST_MEMORY);
    steps(&mut manager, 300, Event::Tick);
    assert_eq!((manager.page(PageId(4)).owner, manager.deadline()), (MemoryId::gpu(1), None));
    let counts = manager.statistics();
    assert_eq!((counts.migrations, counts.timed_migrations), (2, 2));

    let end = KernelEnd { space: SPACE, gpus: ProcessorMask::only(ProcessorId::gpu(1)) };
    steps(&mut manager, 400, Event::KernelEnd(end));
    manager.check().unwrap();
}

/// Wants to be asked at a time that has passed.
struct Stuck;

impl Placement for Stuck {
    fn on_fault(&mut self, _fault: &Fault, _page: &PageView, _context: &mut Context<'_>) -> Decision {
        Decision::Migrate
    }

    fn deadline(&self) -> Option<Time> {
        Some(Time(9))
    }
}

#[test]
#[should_panic(expected = "a strategy was asked at 9ps and wants to be asked by then")]
fn a_deadline_that_stays_is_refused() {
    manager(Stuck).handle(Time(9), Event::Tick, &mut Vec::new());
}

/// Tells which pages a report is about.
struct Reported(Sender<Vec<u32>>);

impl Placement for Reported {
    fn needs(&self) -> Needs {
        Needs { reports: Some(ReportSpec { period_cycles: 1000, entry_bytes: 8 }), ..Needs::default() }
    }

    fn on_fault(&mut self, _fault: &Fault, _page: &PageView, _context: &mut Context<'_>) -> Decision {
        Decision::Migrate
    }

    fn on_report(&mut self, counts: &[AccessCount], _context: &mut Context<'_>, _moves: &mut Vec<Move>) {
        self.0.send(counts.iter().map(|count| count.page.0).collect()).unwrap();
    }
}

#[test]
fn a_report_is_about_pages_that_the_placement_decides_about() {
    let (sender, told) = channel();
    let mut manager = manager(Reported(sender));
    let count = |page| AccessCount { processor: ProcessorId::gpu(0), page: PageId(page), lines: 1 };
    let counts = [3, 15, 16].map(count);
    manager.handle(Time::ZERO, Event::Report(&counts[..2]), &mut Vec::new());
    assert_eq!(told.try_recv(), Ok(vec![3, 15]));
    let others = PageRun { first: PageId(16), count: 4 };
    let system = Allocation { kind: Kind::System, ..others.into() };
    manager.handle(Time::ZERO, Event::Allocate(system), &mut Vec::new());
    manager.handle(Time::ZERO, Event::Report(&counts), &mut Vec::new());
    assert_eq!(told.try_recv(), Ok(vec![3, 15]), "the operating system's memory has another");
}

#[test]
fn a_page_is_of_its_own_space_beside_those_of_others() {
    let mut manager = manager(Stuck);
    let other = PageRun { first: PageId(16), count: 4 };
    let spaces = |manager: &Manager| [0, 15, 16, 19].map(|page| manager.page(PageId(page)).space.0);
    let foreign = Allocation { space: SpaceId(2), ..other.into() };
    manager.handle(Time::ZERO, Event::Allocate(foreign), &mut Vec::new());
    assert_eq!(spaces(&manager), [7, 7, 2, 2]);
    manager.handle(Time::ZERO, Event::Free(PageRun { first: PageId(0), count: 15 }), &mut Vec::new());
    assert_eq!(spaces(&manager), [0, 7, 2, 2], "nobody's page is of no space");
    manager.handle(Time::ZERO, Event::Free(PageRun::one(PageId(15))), &mut Vec::new());
    assert_eq!(spaces(&manager), [0, 0, 2, 2]);
}
