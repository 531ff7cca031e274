//! Advice decides before the placement strategy does, as in the stock driver; prefetch calls bring pages.

use crate::common::{Node, choice, fault, placement};
use octavo_manager::{
    Access, Advice, Allocation, CounterNotification, Event, Fault, HOST, HOST_MEMORY, MemoryConfig, MemoryMask,
    PLACEMENTS, PageId, PageRun, ProcessorId, ProcessorMask, Topology,
};
use octavo_units::Time;

const GPU0: ProcessorId = ProcessorId::gpu(0);
const GPU1: ProcessorId = ProcessorId::gpu(1);

fn advised(name: &str, advice: Advice) -> Node {
    let mut node = Node::new(&placement(name, "{}"));
    node.event(Event::Advise { pages: PageRun { first: PageId(0), count: 16 }, advice });
    node
}

fn on_host(node: &mut Node, page: u32, access: Access) -> Vec<String> {
    node.event(Event::Faults(&[Fault { processor: HOST, page: PageId(page), access }]))
}

#[test]
fn pages_go_to_their_preferred_location_and_are_mapped_there() {
    for name in PLACEMENTS.names() {
        let mut node = advised(name, Advice { preferred: Some(GPU1.memory()), ..Advice::default() });
        let expected = [
            "copy 3 host gpu1 migration",
            "release host 3",
            "map gpu1 3 -> gpu1 rw",
            "map gpu0 3 -> gpu1 rw",
            "wake gpu0 3",
        ];
        assert_eq!(node.read(0, 3), expected, "{name}");
        // The host cannot map it there: it gets it; the next GPU brings it back.
        assert!(on_host(&mut node, 3, Access::Write).contains(&"copy 3 gpu1 host migration".to_owned()), "{name}");
        assert!(node.read(0, 3).contains(&"copy 3 host gpu1 migration".to_owned()), "{name}");
    }
}

#[test]
fn who_accesses_pages_maps_them_wherever_they_are() {
    let both = ProcessorMask::only(GPU0).with(GPU1).with(HOST);
    let mut node = Node::new(&placement("on-touch", "{}"));
    let pages = PageRun { first: PageId(0), count: 4 };
    let advice = Advice { accessed_by: both, ..Advice::default() };
    assert_eq!(node.event(Event::Advise { pages, advice }), ["map host+gpu0+gpu1 0x4 -> host rw"]);
    assert_eq!(node.manager.statistics().remote_maps, 2 * 4, "the host's own is none");
    // Pages without advised accessors migrate, and no other processor maps them.
    assert!(!node.write(0, 7).contains(&"map gpu1 7 -> gpu0 rw".to_owned()));
    let moved = node.event(Event::Prefetch { pages, to: GPU0.memory() });
    assert!(moved.contains(&"map gpu1 0x4 -> gpu0 rw".to_owned()), "{moved:?}");
    assert_eq!(node.write(1, 2), ["wake gpu1 2"], "no fault is left to serve");
}

#[test]
fn what_is_replicated_or_nowhere_is_mapped_for_nobody() {
    let mut node = Node::with(&placement("duplication", "{}"), &Topology::unlimited(3));
    (0..2).for_each(|gpu| _ = node.read(gpu, 3));
    let fresh = PageRun { first: PageId(3000), count: 4 };
    node.event(Event::Allocate(Allocation { populated: false, ..fresh.into() }));
    for pages in [PageRun::one(PageId(3)), fresh] {
        let advice = Advice { accessed_by: ProcessorMask::all_gpus(3), ..Advice::default() };
        assert_eq!(node.event(Event::Advise { pages, advice }), [""; 0], "{pages:?}");
    }
}

#[test]
fn who_should_have_a_page_does_not_map_it_elsewhere() {
    let mut node = Node::with(&placement("on-touch", "{}"), &Topology::unlimited(3));
    node.write(0, 3);
    let accessed_by = ProcessorMask::all_gpus(3);
    let advice = Advice { preferred: Some(GPU1.memory()), accessed_by, ..Advice::default() };
    assert_eq!(node.event(Event::Advise { pages: PageRun::one(PageId(3)), advice }), ["map gpu2 3 -> gpu0 rw"]);
}

#[test]
fn pages_that_are_mostly_read_are_replicated_and_collapse_at_a_write() {
    for name in PLACEMENTS.names() {
        let mut node = advised(name, Advice { read_mostly: true, ..Advice::default() });
        assert!(node.read(0, 3).contains(&"copy 3 host gpu0 duplication".to_owned()), "{name}");
        assert!(node.read(1, 3).contains(&"copy 3 host gpu1 duplication".to_owned()), "{name}");
        assert_eq!(node.manager.page(PageId(3)).resident, MemoryMask(0b111), "{name}");
        node.write(1, 3);
        assert_eq!(node.manager.page(PageId(3)).resident, MemoryMask::only(GPU1.memory()), "{name}");
        let wish = Event::Prefetch { pages: PageRun { first: PageId(3), count: 2 }, to: GPU0.memory() };
        let brought = node.event(wish);
        assert!(brought.contains(&"copy 3 gpu1 gpu0 duplication".to_owned()), "{name}: {brought:?}");
        assert!(node.event(wish).is_empty(), "{name}: they are there");
    }
}

#[test]
fn a_prefetch_call_makes_untouched_pages_though_they_are_mostly_read() {
    let mut node = Node::new(&placement("on-touch", "{}"));
    let pages = PageRun { first: PageId(3000), count: 2 };
    let advice = Advice { read_mostly: true, ..Advice::default() };
    node.event(Event::Allocate(Allocation { advice, populated: false, ..pages.into() }));
    let made = node.event(Event::Prefetch { pages, to: GPU0.memory() });
    assert_eq!(made, ["populate 3000x2 gpu0", "map gpu0 3000x2 -> gpu0 rw"]);
    assert_eq!(node.manager.statistics().prefetched, 2);
}

#[test]
fn pages_that_should_be_elsewhere_are_not_brought_along() {
    let prefetch = choice("sequential-local", "{}");
    let mut node = Node::new(&MemoryConfig { prefetch, ..placement("on-touch", "{}") });
    for (first, gpu) in [(4, GPU1), (8, GPU0)] {
        let advice = Advice { preferred: Some(gpu.memory()), ..Advice::default() };
        node.event(Event::Advise { pages: PageRun { first: PageId(first), count: 4 }, advice });
    }
    node.read(0, 0);
    let here = (0..20).filter(|&page| node.manager.page(PageId(page)).owner == GPU0.memory());
    assert_eq!(here.collect::<Vec<_>>(), (0..4).chain(8..16).collect::<Vec<_>>());
}

#[test]
fn a_prefetch_call_brings_each_block_by_a_plan_of_its_own() {
    let mut node = Node::with(&placement("first-touch", "{}"), &Topology::of(vec![600, 600]));
    let mut plans = Vec::new();
    let pages = PageRun { first: PageId(500), count: 100 };
    node.manager.handle(Time::ZERO, Event::Prefetch { pages, to: GPU0.memory() }, &mut plans);
    assert_eq!(plans.len(), 2);
    plans.drain(..).for_each(|plan| node.manager.complete(Time::ZERO, plan.id, &mut Vec::new()));
    assert_eq!((node.manager.statistics().prefetched, node.manager.frames_held(GPU0.memory())), (100, 100));
    assert_eq!(node.event(Event::Faults(&[fault(0, 520, Access::Write)])), ["wake gpu0 520"]);
    assert!(node.event(Event::Prefetch { pages, to: GPU0.memory() }).is_empty(), "they are there");
    assert_eq!(
        node.event(Event::Prefetch { pages, to: HOST_MEMORY }).iter().filter(|line| line.starts_with("copy")).count(),
        2
    );
}

#[test]
fn advice_is_forgotten_with_the_pages_and_replaced_by_new_advice() {
    let prefers = |preferred| Advice { preferred: Some(preferred), ..Advice::default() };
    let mut node = advised("on-touch", prefers(GPU1.memory()));
    node.event(Event::Advise { pages: PageRun { first: PageId(4), count: 2 }, advice: Advice::default() });
    let lands = |node: &mut Node, page| {
        node.read(0, page);
        node.manager.page(PageId(page)).owner.processor()
    };
    assert_eq!([3, 4, 5, 6].map(|page| lands(&mut node, page)), [GPU1, GPU0, GPU0, GPU1]);
    node.event(Event::Free(PageRun { first: PageId(8), count: 1 }));
    node.event(Event::Allocate(PageRun { first: PageId(8), count: 1 }.into()));
    assert_eq!([7, 8, 9].map(|page| lands(&mut node, page)), [GPU1, GPU0, GPU1]);
}

fn notify(node: &mut Node, gpu: usize, page: u32) -> Vec<String> {
    node.event(Event::Counter(CounterNotification { processor: ProcessorId::gpu(gpu), page: PageId(page) }))
}

/// Rules 3 and 9 of the driver's residency selection hold for access counters, too.
#[test]
fn counters_leave_pages_where_they_should_be() {
    let mut node = advised("access-counter", Advice { preferred: Some(HOST_MEMORY), ..Advice::default() });
    node.read(1, 20); // what was said ends with page 15
    node.read(1, 3);
    assert_eq!(notify(&mut node, 1, 3), ["clear 0x16"]);
    assert_eq!(notify(&mut node, 1, 20)[2], "copy 20 host gpu1 migration");
    assert_eq!(node.manager.page(PageId(3)).owner, HOST_MEMORY);
}

#[test]
fn counters_bring_pages_to_where_they_should_be() {
    let mut node = Node::new(&placement("access-counter", "{}"));
    node.read(0, 3);
    let advice = Advice { preferred: Some(GPU1.memory()), ..Advice::default() };
    node.event(Event::Advise { pages: PageRun { first: PageId(3), count: 1 }, advice });
    assert!(notify(&mut node, 0, 3).contains(&"copy 3 host gpu1 migration".to_owned()));
    // The one whose place it is gets it as ever.
    node.event(Event::Advise { pages: PageRun { first: PageId(4), count: 1 }, advice });
    node.event(Event::Prefetch { pages: PageRun { first: PageId(4), count: 1 }, to: GPU0.memory() });
    assert!(notify(&mut node, 1, 4).contains(&"copy 4 gpu0 gpu1 migration".to_owned()));
}

#[test]
fn counters_of_a_group_move_each_page_to_its_own_place() {
    let mut node = Node::new(&placement("access-counter", r#"{"moves": "group"}"#));
    let advice = Advice { preferred: Some(GPU0.memory()), ..Advice::default() };
    node.event(Event::Advise { pages: PageRun { first: PageId(4), count: 2 }, advice });
    node.read(1, 0);
    notify(&mut node, 1, 0);
    let owner = |page| node.manager.page(PageId(page)).owner.processor();
    assert_eq!([0, 3, 4, 5, 6, 15].map(owner), [GPU1, GPU1, GPU0, GPU0, GPU1, GPU1]);
}
