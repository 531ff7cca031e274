//! The purposes of plans, and prefetched pages in plans of their own.

use crate::common::{choice, fault, show};
use octavo_manager::{
    Access, CounterNotification, Event, Manager, MemoryConfig, MemoryId, PageId, PageRun, Plan, PlanClass,
    PrefetchPlan, ProcessorId, Topology,
};
use octavo_units::Time;

fn manager(config: &MemoryConfig, capacity: u32) -> Manager {
    let mut manager = Manager::new(config, &Topology::of(vec![capacity; 2])).unwrap();
    let run = PageRun { first: PageId(0), count: 1024 };
    manager.handle(Time::ZERO, Event::Allocate(run.into()), &mut Vec::new());
    manager
}

fn plans(manager: &mut Manager, event: Event<'_>) -> Vec<Plan> {
    let mut plans = Vec::new();
    manager.handle(Time::ZERO, event, &mut plans);
    plans
}

fn classes(plans: &[Plan]) -> Vec<PlanClass> {
    plans.iter().map(|plan| plan.class).collect()
}

fn own() -> MemoryConfig {
    MemoryConfig { prefetch: choice("tree", "{}"), prefetch_plan: PrefetchPlan::Own, ..MemoryConfig::default() }
}

#[test]
fn plans_say_what_they_are_for() {
    let config = MemoryConfig { placement: choice("access-counter", "{}"), ..MemoryConfig::default() };
    let mut manager = manager(&config, 8);
    let faulted = plans(&mut manager, Event::Faults(&[fault(0, 3, Access::Read)]));
    assert_eq!(classes(&faulted), [PlanClass::Demand]);
    let notification = CounterNotification { processor: ProcessorId::gpu(1), page: PageId(40) };
    assert_eq!(classes(&plans(&mut manager, Event::Counter(notification))), [PlanClass::Background]);
    let wish = Event::Prefetch { pages: PageRun { first: PageId(510), count: 4 }, to: MemoryId::gpu(1) };
    assert_eq!(classes(&plans(&mut manager, wish)), [PlanClass::Prefetch; 2], "one for each block");
    faulted.iter().for_each(|plan| manager.complete(Time::ZERO, plan.id, &mut Vec::new()));
    let shrunk = plans(&mut manager, Event::Capacity { memory: MemoryId::gpu(1), pages: 1 });
    assert!(classes(&shrunk).iter().all(|&class| class == PlanClass::Background));
}

#[test]
fn prefetched_pages_can_have_a_plan_of_their_own() {
    let mut manager = manager(&own(), 64);
    let made = plans(&mut manager, Event::Faults(&[fault(0, 3, Access::Read)]));
    let steps: Vec<Vec<String>> = made.iter().map(|plan| plan.steps.iter().map(show).collect()).collect();
    assert_eq!(classes(&made), [PlanClass::Demand, PlanClass::Prefetch]);
    assert_eq!(steps[0].last().unwrap(), "wake gpu0 3");
    let brought: Vec<&String> = steps[1].iter().filter(|step| step.starts_with("copy")).collect();
    assert_eq!(brought, ["copy 0x3 host gpu0 prefetch", "copy 4x12 host gpu0 prefetch"]);
    assert!(!steps[1].iter().any(|step| step.starts_with("wake")));
    assert_eq!((manager.statistics().prefetch_plans, manager.statistics().prefetched), (1, 15));
    manager.check().unwrap();
}

/// In a memory of one page the demand gets its room, and prefetched pages find none and take none.
#[test]
fn the_demand_has_its_room_first() {
    let mut manager = manager(&own(), 1);
    for page in [3, 100] {
        let made = plans(&mut manager, Event::Faults(&[fault(0, page, Access::Read)]));
        assert_eq!(classes(&made), [PlanClass::Demand], "page {page}");
        assert_eq!(show(made[0].steps.last().unwrap()), format!("wake gpu0 {page}"));
        manager.complete(Time::ZERO, made[0].id, &mut Vec::new());
        assert_eq!(manager.page(PageId(page)).owner, MemoryId::gpu(0));
        manager.check().unwrap();
    }
    assert_eq!(manager.statistics().prefetched, 0);
}

/// Only one of the four blocks ahead of the first is allocated, and only that one has a plan.
#[test]
fn blocks_that_are_brought_ahead_have_plans_of_their_own() {
    let prefetch = choice("local-path", r#"{"blocks": 4, "stride": 1}"#);
    let mut manager = manager(&MemoryConfig { prefetch, ..MemoryConfig::default() }, 1024);
    let made = plans(&mut manager, Event::Faults(&[fault(0, 3, Access::Read)]));
    assert_eq!(classes(&made), [PlanClass::Demand, PlanClass::Prefetch]);
    assert_eq!(show(&made[1].steps[0]), "copy 512x512 host gpu0 prefetch");
    assert_eq!(manager.statistics().prefetch_plans, 1);
}
