//! Every plan of a few programs is refused after every step, and after every page of every step.

use octavo_manager::{
    Access, Advice, Allocation, EVICTIONS, Event, Fault, HOST, Kind, MemoryConfig, MemoryId, PLACEMENTS, PageId,
    PageRun, Plan, Prefix, ProcessorId, ProcessorMask, Refusal, Step, Topology, Why,
};
use octavo_registry::Choice;
use octavo_units::Time;

use crate::common::{Node, choice, fault, placement, show};
use crate::harness::Harness;

/// Pages of the first allocation and of both.
const PAGES: (u32, u32) = (10, 14);

/// Where a plan is refused: its number among all, whole steps, and pages of the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Point {
    plan: usize,
    steps: usize,
    pages: usize,
}

/// A program and its present state.
struct Run {
    harness: Harness,
    refused: Option<Point>,
    /// Where plans could be refused.
    points: Vec<Point>,
    plans: usize,
}

impl Run {
    fn touch(&mut self, processor: ProcessorId, pages: &[u32], access: Access) {
        let touches: Vec<Fault> = pages.iter().map(|&page| Fault { processor, page: PageId(page), access }).collect();
        self.harness.touch(&touches);
        self.settle();
    }

    /// Finishes all plans under way, except for one, which is refused.
    fn settle(&mut self) {
        while let Some(running) = self.harness.running.first() {
            let steps = &running.plan.steps;
            let begun = steps.iter().take_while(|step| !matches!(step, Step::Wake { .. })).count();
            let points = (0..=begun).flat_map(|at| {
                let pages = if at < begun { steps[at].changed().map_or(1, |pages| pages.count) } else { 1 };
                (0..pages).map(move |pages| (at, pages as usize))
            });
            let plan = self.plans;
            self.points.extend(points.map(|(steps, pages)| Point { plan, steps, pages }));
            self.plans += 1;
            match self.refused.filter(|point| point.plan == plan) {
                Some(Point { steps, pages, .. }) => self.harness.fail(0, steps, pages),
                None => self.harness.finish(0),
            }
        }
        self.harness.settle();
    }
}

/// Two GPUs and the host share pages, fill their memories, lose some of them, and free what they touched.
fn program(config: &MemoryConfig, (kind, advice): (Kind, Advice), refused: Option<Point>) -> Run {
    let topology = Topology::of(vec![5, 3]);
    let by_decree = config.placement.name == "ideal";
    let harness = Harness::without_model(config, &topology, by_decree);
    let mut run = Run { harness, refused, points: Vec::new(), plans: 0 };
    let [one, two] = [0, 1].map(ProcessorId::gpu);
    (run.harness.second_kind, run.harness.second_advice) = (kind, advice);
    run.harness.second_space = PAGES.0;
    run.harness.allocate(0, PAGES.0);
    run.harness.allocate(PAGES.0, PAGES.1 - PAGES.0);
    run.settle();
    run.touch(one, &[0, 1, 2, 12], Access::Write);
    run.touch(two, &[1, 2, 12, 13], Access::Read);
    run.touch(one, &[2, 3, 4, 5, 13], Access::Read);
    run.harness.counter(two, PageId(3));
    run.touch(two, &[1, 12, 6], Access::Write);
    run.touch(HOST, &[1, 2, 11], Access::Read);
    run.harness.event(crate::common::kernel_end(2));
    run.harness.resize(one, 4);
    run.settle();
    run.touch(one, &[1, 6, 11], Access::Write);
    run.harness.free_present(4, PAGES.1 - 4);
    run.settle();
    run.touch(two, &[0, 1, 2, 3], Access::Write);
    run
}

fn refuse_everywhere(config: &MemoryConfig, second: (Kind, Advice)) {
    let points = program(config, second, None).points;
    assert!(points.len() > 40, "{config:?} has {} points", points.len());
    for point in points {
        let outcome = std::panic::catch_unwind(|| drop(program(config, second, Some(point))));
        assert!(outcome.is_ok(), "{point:?} of {} and {}", config.placement.name, config.eviction.name);
    }
}

fn config(placement: &str, prefetch: &str, eviction: &str) -> MemoryConfig {
    let [placement, prefetch, eviction] = [placement, prefetch, eviction].map(Choice::named);
    MemoryConfig { placement, prefetch, eviction, ..MemoryConfig::default() }
}

#[test]
fn plans_of_every_placement_can_be_refused_at_every_page() {
    for placement in PLACEMENTS.names() {
        for prefetch in ["none", "tree"] {
            refuse_everywhere(&config(placement, prefetch, "lru-page"), (Kind::Managed, Advice::default()));
        }
    }
}

#[test]
fn plans_of_every_eviction_can_be_refused_at_every_page() {
    for eviction in EVICTIONS.names().filter(|&name| name != "none") {
        for placement in ["on-touch", "gps", "ideal"] {
            refuse_everywhere(&config(placement, "tree", eviction), (Kind::Managed, Advice::default()));
        }
    }
}

#[test]
fn plans_for_memory_of_every_kind_and_advice_can_be_refused_at_every_page() {
    let advice = |preferred, read_mostly| Advice { preferred, read_mostly, ..Advice::default() };
    let mapped = Advice { accessed_by: ProcessorMask::all_gpus(2), ..Advice::default() };
    let second = [
        (Kind::System, Advice::default()),
        (Kind::Device, Advice::default()),
        (Kind::Pinned, Advice::default()),
        (Kind::Managed, advice(Some(HOST.memory()), false)),
        (Kind::Managed, advice(Some(ProcessorId::gpu(1).memory()), false)),
        (Kind::Managed, advice(None, true)),
        (Kind::Managed, mapped),
    ];
    for second in second {
        refuse_everywhere(&config("on-touch", "none", "lru-page"), second);
    }
}

/// The first plan of an event is refused after this many steps, and pages of the next one; returns the steps that
/// follow.
fn refused(node: &mut Node, event: Event<'_>, (steps, pages): (u32, u32), why: Why) -> Vec<Plan> {
    let mut plans = Vec::new();
    node.manager.handle(Time::ZERO, event, &mut plans);
    refuse(node, &plans[0], (steps, pages), why)
}

fn refuse(node: &mut Node, plan: &Plan, (steps, pages): (u32, u32), why: Why) -> Vec<Plan> {
    let mut plans = Vec::new();
    node.manager.fail(Time::ZERO, plan, Refusal { done: Prefix { steps, pages }, why }, &mut plans);
    node.manager.check().unwrap();
    plans
}

fn lines(plans: &[Plan]) -> Vec<String> {
    plans.iter().flat_map(|plan| &plan.steps).map(show).collect()
}

#[test]
fn pages_that_were_copied_leave_where_they_were_and_the_others_stay() {
    let mut node = Node::new(&placement("on-touch", "{}"));
    let wish = Event::Prefetch { pages: PageRun { first: PageId(0), count: 4 }, to: MemoryId::gpu(0) };
    let plans = refused(&mut node, wish, (0, 2), Why::Again);
    assert_eq!(lines(&plans), ["release host 0x2"]);
    assert_eq!([0, 1, 2, 3].map(|page| node.manager.page(PageId(page)).on_host()), [false, false, true, true]);
}

#[test]
fn a_page_that_was_on_its_way_to_everyone_gets_there() {
    let mut node = Node::new(&placement("ideal", "{}"));
    let plans = refused(&mut node, Event::Faults(&[fault(0, 5, Access::Read)]), (1, 0), Why::Again);
    assert_eq!(lines(&plans), ["release host 5", "map gpu0+gpu1 5 -> own rw", "wake gpu0 5"]);
}

#[test]
fn a_page_that_was_copied_back_to_the_host_is_nobody_elses_any_more() {
    let mut node = Node::new(&placement("ideal", "{}"));
    node.read(0, 5);
    let back = Fault { processor: HOST, page: PageId(5), access: Access::Read };
    let plans = refused(&mut node, Event::Faults(&[back]), (3, 0), Why::Again);
    assert_eq!(lines(&plans), ["release gpu0 5", "wake host 5"]);
}

#[test]
fn memory_that_stays_is_mapped_even_if_that_was_refused() {
    let mut node = Node::new(&placement("on-touch", "{}"));
    let pinned = Allocation { kind: Kind::Pinned, ..PageRun { first: PageId(3000), count: 4 }.into() };
    let plans = refused(&mut node, Event::Allocate(pinned), (1, 0), Why::Again);
    assert_eq!(lines(&plans), ["map host+gpu0+gpu1 3000x4 -> host rw"]);
}

/// Both lie unmapped in one memory, when a plan that maps the one and evicts the other is refused.
#[test]
fn device_memory_is_mapped_beside_a_managed_page_that_is_not() {
    let mut node = Node::with(&placement("on-touch", "{}"), &Topology::of(vec![3, 3]));
    refused(&mut node, Event::Faults(&[fault(0, 2047, Access::Write)]), (2, 0), Why::Again);
    let run = PageRun { first: PageId(2048), count: 2 };
    let device = Allocation { kind: Kind::Device, gpu: Some(ProcessorId::gpu(0)), ..run.into() };
    // The memory turns out to end behind the first of them, and so the managed page has to go.
    let plans = refused(&mut node, Event::Allocate(device), (0, 1), Why::NoMemory);
    let evicts = ["drain gpu0 2047", "copy 2047 gpu0 host eviction", "release gpu0 2047"];
    let lays_out = ["map gpu0+gpu1 2048 -> gpu0 rw", "populate 2049 gpu0 as it is", "map gpu0+gpu1 2049 -> gpu0 rw"];
    assert_eq!(lines(&plans), [evicts, lays_out].concat());
    assert_eq!(lines(&refuse(&mut node, &plans[0], (0, 0), Why::Again)), [evicts, lays_out].concat());
}

/// A block that leaves takes no note of a page that takes up no room. When the page does so again, because its plan is
/// refused, it is the next to leave.
#[test]
fn a_page_that_was_not_to_be_everywhere_after_all_can_leave() {
    let config = MemoryConfig { eviction: choice("lru-block", "{}"), ..placement("ideal", "{}") };
    let mut node = Node::with(&config, &Topology::of(vec![2, 2]));
    let fetch = |page| Event::Prefetch { pages: PageRun::one(PageId(page)), to: MemoryId::gpu(0) };
    [5, 6].into_iter().for_each(|page| drop(node.event(fetch(page))));
    let mut plans = Vec::new();
    node.manager.handle(Time::ZERO, Event::Faults(&[fault(1, 5, Access::Write)]), &mut plans);
    node.event(fetch(600));
    let plan = plans.remove(0);
    node.manager.fail(Time::ZERO, &plan, Refusal { done: Prefix::NONE, why: Why::Again }, &mut plans);
    plans.iter().for_each(|plan| node.manager.complete(Time::ZERO, plan.id, &mut Vec::new()));
    node.event(fetch(1100));
    assert_eq!(
        [5, 6, 600, 1100].map(|page| node.manager.page(PageId(page)).owner.on_host()),
        [true, true, false, false]
    );
}
