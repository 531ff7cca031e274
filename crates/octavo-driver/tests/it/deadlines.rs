//! Strategies that request a call at a certain time.

use octavo_driver::{Driver, Service};
use octavo_manager::{
    Context, Decision, EVICTIONS, Fault, Geometry, Manager, MemoryId, Move, PREFETCHERS, PageId, PageRun, PageView,
    Placement, Topology,
};
use octavo_registry::Choice;
use octavo_units::{Bytes, Time};

use crate::scripted::{Scripted, read};

/// Maps pages where they are and brings them at the time that is their number.
#[derive(Default)]
struct Punctual(Vec<Move>);

impl Placement for Punctual {
    fn on_fault(&mut self, fault: &Fault, _page: &PageView, _context: &mut Context<'_>) -> Decision {
        self.0.push(Move { page: fault.page, to: fault.processor.memory() });
        Decision::MapRemote
    }

    fn deadline(&self) -> Option<Time> {
        self.0.iter().map(|wanted| Time(wanted.page.0.into())).min()
    }

    fn on_deadline(&mut self, context: &mut Context<'_>, moves: &mut Vec<Move>) {
        moves.extend(self.0.extract_if(.., |wanted| Time(wanted.page.0.into()) <= context.now()));
    }
}

fn driver(to: &mut Scripted) -> Driver {
    let geometry = Geometry { gpus: 2, page_size: Bytes(4096) };
    let prefetch = PREFETCHERS.build(&Choice::named("none"), &geometry).unwrap();
    let eviction = EVICTIONS.build(&Choice::named("lru-page"), &geometry).unwrap();
    let placement = Box::new(Punctual::default());
    let topology = Topology::unlimited(2);
    let manager = Manager::with_strategies(geometry, &topology, placement, prefetch, eviction).unwrap();
    let mut driver = Driver::new(manager, Service::at_once());
    driver.allocate(Time::ZERO, PageRun { first: PageId(0), count: 64 }.into(), to);
    driver
}

fn reminders(to: &mut Scripted) -> Vec<String> {
    to.take().into_iter().filter(|line| line.contains("Strategies")).collect()
}

#[test]
fn the_driver_is_reminded_of_the_next_deadline_only() {
    let mut to = Scripted::default();
    let mut driver = driver(&mut to);
    assert_eq!((reminders(&mut to), driver.deadline()), (vec![], None), "nobody waits");
    driver.faults(Time(1), &[read(0, 40)], &mut to);
    assert_eq!(reminders(&mut to), ["remind 40 Strategies"]);
    driver.faults(Time(2), &[read(0, 50)], &mut to);
    assert_eq!(reminders(&mut to), [""; 0], "there is an alarm before that");
    driver.faults(Time(3), &[read(1, 30)], &mut to);
    assert_eq!(reminders(&mut to), ["remind 30 Strategies"]);
    driver.tick(Time(30), &mut to);
    assert_eq!(driver.manager().page(PageId(30)).owner, MemoryId::gpu(1));
    assert_eq!(reminders(&mut to), ["remind 40 Strategies"]);
    // Two alarms of time 40: the second finds nothing to do.
    driver.tick(Time(40), &mut to);
    assert_eq!(driver.manager().page(PageId(40)).owner, MemoryId::gpu(0));
    assert_eq!((reminders(&mut to), driver.deadline()), (vec!["remind 50 Strategies".to_owned()], Some(Time(50))));
    driver.tick(Time(99), &mut to);
    assert_eq!(driver.manager().page(PageId(50)).owner, MemoryId::gpu(0));
    assert_eq!((driver.deadline(), driver.manager().statistics().timed_migrations), (None, 3));
}

#[test]
fn a_deadline_in_the_past_is_kept_at_once() {
    let mut to = Scripted::default();
    let mut driver = driver(&mut to);
    driver.faults(Time(60), &[read(0, 8)], &mut to);
    assert_eq!(reminders(&mut to), ["remind 60 Strategies"]);
    driver.tick(Time(60), &mut to);
    assert_eq!(driver.manager().page(PageId(8)).owner, MemoryId::gpu(0));
}
