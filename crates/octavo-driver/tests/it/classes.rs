//! Which fault waits for which pages: prefetched pages that come in a plan of their own.

use octavo_driver::config::{BatchConfig, BatchScope, Replay, ServiceModel};
use octavo_driver::{Driver, Service};
use octavo_manager::{MemoryConfig, MemoryId, PageId, PrefetchPlan, Prefix, Refusal, Why};
use octavo_registry::Choice;
use octavo_units::Time;

use crate::scripted::{Scripted, driver_of, read};

/// One fault brings the surrounding 64 KiB: pages 0 to 15.
fn tree(prefetch_plan: PrefetchPlan, service: Service, to: &mut Scripted) -> Driver {
    let config = MemoryConfig { prefetch: Choice::named("tree"), prefetch_plan, ..MemoryConfig::default() };
    driver_of(&config, service, &[64], to)
}

fn slow_copies() -> Scripted {
    Scripted { durations: vec![("copy", 30)], ..Scripted::default() }
}

/// Where pages 0 to 15 are: how many have come.
fn there(driver: &Driver) -> usize {
    (0..16).filter(|page| driver.manager().page(PageId(*page)).owner == MemoryId::gpu(0)).count()
}

#[test]
fn a_fault_waits_for_all_pages_or_for_its_own() {
    let woken = [PrefetchPlan::Shared, PrefetchPlan::Own].map(|plan| {
        let mut to = slow_copies();
        let mut driver = tree(plan, Service::at_once(), &mut to);
        driver.faults(Time(5), &[read(0, 0)], &mut to);
        while let Some(at) = driver.deadline() {
            driver.tick(at, &mut to);
        }
        assert!(driver.is_idle() && there(&driver) == 16, "all pages come either way");
        to.take().into_iter().find(|line| line.contains("wake")).unwrap()
    });
    assert_eq!(woken, ["65 wake gpu0 0 evicting 0", "35 wake gpu0 0 evicting 0"]);
}

#[test]
fn prefetched_pages_begin_to_come_when_the_demand_is_met() {
    let mut to = slow_copies();
    let mut driver = tree(PrefetchPlan::Own, Service::at_once(), &mut to);
    driver.faults(Time(5), &[read(0, 0)], &mut to);
    assert_eq!(to.take(), ["5 copy", "remind 35 Plan(0)"]);
    driver.tick(Time(35), &mut to);
    let log = to.take();
    assert_eq!(log[..4], ["35 release", "35 map", "35 wake gpu0 0 evicting 0", "35 plan ends"]);
    assert_eq!(log[4], "35 copy", "{log:?}");
    // A fault on a page that is under way waits for it, as for any other plan.
    driver.faults(Time(40), &[read(0, 7)], &mut to);
    assert_eq!(to.take(), [""; 0]);
    driver.tick(Time(65), &mut to);
    assert!(to.take().contains(&"65 wake gpu0 7 evicting 0".to_owned()));
}

#[test]
fn a_batch_does_not_wait_for_what_is_prefetched() {
    let zero = Time::ZERO;
    let batch = BatchConfig {
        size: 8,
        batch: Time(100),
        request: Time(10),
        block: zero,
        interrupt: zero,
        look: zero,
        scope: BatchScope::Node,
        replay: Replay::Batch,
    };
    let mut to = slow_copies();
    let mut driver = tree(PrefetchPlan::Own, Service::new(&ServiceModel::Batch(batch)), &mut to);
    driver.faults(Time(0), &[read(0, 0)], &mut to);
    driver.tick(Time(110), &mut to);
    to.take();
    driver.tick(Time(140), &mut to);
    let log = to.take();
    let at = |what: &str| log.iter().position(|line| line.contains(what)).unwrap_or_else(|| panic!("{what}: {log:?}"));
    assert!(at("140 batch ends") < at("140 wake gpu0 0") && at("140 wake gpu0 0") < at("140 copy"), "{log:?}");
}

#[test]
fn what_was_prefetched_with_a_refused_demand_is_given_up() {
    let done = Refusal { done: Prefix::NONE, why: Why::Again };
    let mut to = Scripted { refused: vec![("copy", 0, done)], ..slow_copies() };
    let mut driver = tree(PrefetchPlan::Own, Service::at_once(), &mut to);
    driver.faults(Time(5), &[read(0, 0)], &mut to);
    assert!(to.take().contains(&"5 wake gpu0 0 evicting 0".to_owned()));
    assert!(driver.is_idle() && there(&driver) == 0);
    driver.manager().check().unwrap();
    driver.faults(Time(6), &[read(0, 0)], &mut to);
    driver.tick(Time(36), &mut to);
    assert!(driver.is_idle());
    assert_eq!(there(&driver), 1, "it is served alone");
}
