//! Memory of every kind: which processor gets its pages, and what never moves.

use crate::common::{Node, choice, placement};
use octavo_manager::{
    Access, Allocation, CounterNotification, Event, Fault, HOST, HOST_MEMORY, Kind, Manager, MemoryConfig, MemoryId,
    PageId, PageRun, ProcessorId, Spread, SystemConfig, Topology,
};
use octavo_units::Time;

const PAGES: PageRun = PageRun { first: PageId(3000), count: 4 };

fn allocate(node: &mut Node, allocation: Allocation) -> Vec<String> {
    node.event(Event::Allocate(allocation))
}

fn device(spread: Spread) -> Allocation {
    Allocation { kind: Kind::Device, spread, ..PAGES.into() }
}

#[test]
fn device_memory_is_dealt_out_or_split_and_mapped_on_every_gpu() {
    let mut node = Node::new(&MemoryConfig::default());
    let expected = [
        "populate 3000x2 gpu0 as it is",
        "map gpu0+gpu1 3000x2 -> gpu0 rw",
        "populate 3002x2 gpu1 as it is",
        "map gpu0+gpu1 3002x2 -> gpu1 rw",
    ];
    assert_eq!(allocate(&mut node, device(Spread::Split)), expected);
    node.event(Event::Free(PAGES));
    let lines = allocate(&mut node, device(Spread::Interleaved));
    assert_eq!(
        lines[..3],
        ["populate 3000 gpu0 as it is", "map gpu0+gpu1 3000 -> gpu0 rw", "populate 3001 gpu1 as it is"]
    );
    // What is asked of one GPU lies there, and the next that is dealt out goes on.
    let own = Allocation {
        gpu: Some(ProcessorId::gpu(1)),
        run: PageRun { first: PageId(4000), count: 3 },
        ..device(Spread::Interleaved)
    };
    assert_eq!(allocate(&mut node, own), ["populate 4000x3 gpu1 as it is", "map gpu0+gpu1 4000x3 -> gpu1 rw"]);
    let next = Allocation { run: PageRun::one(PageId(5000)), ..device(Spread::Interleaved) };
    assert_eq!(allocate(&mut node, next)[0], "populate 5000 gpu0 as it is");
    assert_eq!(node.manager.frames_held(MemoryId::gpu(1)), 5);
    node.event(Event::Free(PageRun { first: PageId(4000), count: 3 }));
    assert_eq!(node.manager.frames_held(MemoryId::gpu(1)), 2, "frames are back at once");
}

#[test]
fn a_gpu_whose_part_is_empty_gets_no_frames() {
    let mut node = Node::new(&MemoryConfig::default());
    let one = Allocation { run: PageRun::one(PageId(3000)), ..device(Spread::Split) };
    assert_eq!(allocate(&mut node, one), ["populate 3000 gpu1 as it is", "map gpu0+gpu1 3000 -> gpu1 rw"]);
}

#[test]
fn a_fault_on_memory_that_stays_waits_for_its_frames_where_blocks_are_served_together() {
    let config = MemoryConfig { prefetch: choice("tree", "{}"), ..MemoryConfig::default() };
    let mut manager = Manager::new(&config, &Topology::of(vec![8, 8])).unwrap();
    let mut plans = Vec::new();
    manager.handle(Time::ZERO, Event::Allocate(Allocation { kind: Kind::Pinned, ..PAGES.into() }), &mut plans);
    let fault = Fault { processor: ProcessorId::gpu(0), page: PAGES.first, access: Access::Read };
    let mut woken = Vec::new();
    manager.handle(Time::ZERO, Event::Faults(&[fault]), &mut woken);
    assert!(woken.is_empty());
    plans.drain(..).for_each(|plan| manager.complete(Time::ZERO, plan.id, &mut woken));
    assert!(woken.iter().flat_map(|plan| plan.wakes()).eq([(fault.processor, fault.page)]));
}

#[test]
fn pinned_memory_lies_on_the_host_and_stays_there() {
    let config = placement("access-counter", r#"{"threshold": 1}"#);
    let mut node = Node::new(&config);
    let expected = ["populate 3000x4 host", "map host+gpu0+gpu1 3000x4 -> host rw"];
    assert_eq!(allocate(&mut node, Allocation { kind: Kind::Pinned, ..PAGES.into() }), expected);
    let counted = CounterNotification { processor: ProcessorId::gpu(0), page: PageId(3001) };
    assert_eq!(node.event(Event::Counter(counted)), ["clear 2992x16"]);
    assert_eq!(node.manager.statistics().counters_ignored, 1);
}

#[test]
fn managed_pages_make_room_for_device_memory_and_never_the_other_way_round() {
    for eviction in octavo_manager::EVICTIONS.names().filter(|name| *name != "none") {
        let config = MemoryConfig { eviction: choice(eviction, "{}"), ..MemoryConfig::default() };
        let mut node = Node::with(&config, &Topology::of(vec![6, 6]));
        (0..5).for_each(|page| _ = node.write(0, page));
        let own = Allocation { gpu: Some(ProcessorId::gpu(0)), ..device(Spread::Split) };
        let lines = allocate(&mut node, own);
        assert!(lines.iter().any(|line| line.ends_with("gpu0 host eviction")), "{eviction}: {lines:?}");
        for page in 0..20 {
            let lines = node.write(0, page);
            assert_eq!(lines.last().unwrap(), &format!("wake gpu0 {page}"), "{eviction}");
            assert!(!lines.iter().any(|line| line.contains(" 300")), "{eviction}: {lines:?}");
        }
        PAGES.iter().for_each(|page| assert_eq!(node.manager.page(page).owner, MemoryId::gpu(0), "{eviction}"));
        assert!(node.manager.out_of_memory().is_none(), "{eviction}");
    }
}

#[test]
fn device_memory_that_finds_no_room_is_out_of_memory() {
    let mut node = Node::with(&MemoryConfig::default(), &Topology::of(vec![3, 3]));
    allocate(&mut node, device(Spread::Interleaved));
    let more = Allocation { run: PageRun { first: PageId(4000), count: 4 }, ..device(Spread::Split) };
    allocate(&mut node, more);
    let out = node.manager.out_of_memory().unwrap();
    assert_eq!((out.memory, out.page), (MemoryId::gpu(0), PageId(4000)));
}

#[test]
fn managed_pages_that_find_only_device_memory_are_out_of_memory() {
    let mut node = Node::with(&MemoryConfig::default(), &Topology::of(vec![2, 9]));
    allocate(&mut node, device(Spread::Split));
    assert!(node.write(0, 7).is_empty());
    assert_eq!(node.manager.out_of_memory().unwrap().page, PageId(7));
}

#[test]
fn system_memory_moves_where_it_is_touched_whatever_is_chosen_for_managed_memory() {
    for name in octavo_manager::PLACEMENTS.names() {
        let mut node = Node::new(&MemoryConfig { prefetch: choice("tree", "{}"), ..placement(name, "{}") });
        let system = Allocation { kind: Kind::System, populated: false, ..PAGES.into() };
        allocate(&mut node, system);
        assert_eq!(node.write(0, 3000), ["populate 3000 gpu0", "map gpu0 3000 -> gpu0 rw", "wake gpu0 3000"], "{name}");
        let moved = node.read(1, 3000);
        assert!(moved.contains(&"copy 3000 gpu0 gpu1 migration".to_owned()), "{name}: {moved:?}");
        let back = node.event(Event::Faults(&[Fault { processor: HOST, page: PageId(3000), access: Access::Read }]));
        assert!(back.contains(&"copy 3000 gpu1 host migration".to_owned()), "{name}: {back:?}");
        assert_eq!(node.manager.statistics().prefetched, 0, "{name}");
    }
}

#[test]
fn system_memory_has_a_placement_and_a_prefetcher_of_its_own() {
    let config = MemoryConfig {
        system: SystemConfig {
            placement: choice("first-touch", "{}"),
            prefetch: choice("tree", "{}"),
            ..SystemConfig::default()
        },
        ..placement("duplication", "{}")
    };
    let mut node = Node::new(&config);
    allocate(&mut node, Allocation { kind: Kind::System, ..PAGES.into() });
    node.write(0, 3001);
    let held = PAGES.iter().filter(|&page| node.manager.page(page).owner == MemoryId::gpu(0)).count();
    assert_eq!(held, 4, "the tree brings what there is of 64 KiB");
    assert_eq!(node.read(1, 3001), ["map gpu1 3001 -> gpu0 rw", "wake gpu1 3001"], "first touch decides");
    node.write(0, 7);
    assert_eq!(node.manager.page(PageId(8)).owner, HOST_MEMORY, "managed pages come alone");
    let read = node.read(1, 7);
    assert!(read.contains(&"copy 7 gpu0 gpu1 duplication".to_owned()), "{read:?}");
}

#[test]
fn counters_move_system_pages_if_their_placement_says_so() {
    let system = SystemConfig { placement: choice("access-counter", "{}"), ..SystemConfig::default() };
    let mut node = Node::new(&MemoryConfig { system, ..MemoryConfig::default() });
    assert_eq!(node.manager.needs().counters.unwrap().threshold, 256);
    allocate(&mut node, Allocation { kind: Kind::System, ..PAGES.into() });
    assert_eq!(node.read(0, 3001), ["map gpu0 3001 -> host rw", "wake gpu0 3001"]);
    let counted = CounterNotification { processor: ProcessorId::gpu(0), page: PageId(3001) };
    let lines = node.event(Event::Counter(counted));
    assert!(lines.contains(&"copy 3001 host gpu0 migration".to_owned()), "{lines:?}");
    assert_eq!(node.manager.needs_of(PageId(7)), octavo_manager::Needs::default(), "managed pages move on touch");
}

/// Both keep a scheme of their pages in the same bits.
#[test]
fn two_grits_decide_each_about_its_own_pages() {
    let grit = choice("grit", r#"{"fault_threshold": 1, "counter_threshold": 8}"#);
    let system = SystemConfig { placement: grit.clone(), ..SystemConfig::default() };
    let mut node = Node::new(&MemoryConfig { placement: grit, system, ..MemoryConfig::default() });
    // Neighbours of managed pages in a group of 512: theirs are no business of the other.
    let run = PageRun { first: PageId(2048), count: 8 };
    allocate(&mut node, Allocation { kind: Kind::System, run, ..PAGES.into() });
    (2048..2053).for_each(|page| _ = node.read(0, page));
    (0..2).for_each(|page| _ = node.write(1, page));
    let statistics = node.manager.statistics();
    let managed = ["pages_by_scheme.none", "pages_by_scheme.on_touch", "pages_by_scheme.access_counter"];
    let managed = managed.map(|path| statistics.placement.get(path).unwrap());
    assert_eq!(managed, [8, 2046, 2], "pages of others have no scheme");
    let system = statistics.placements.get("system").unwrap();
    let names = ["pages_by_scheme.none", "pages_by_scheme.duplication", "predictions", "groups_formed"];
    assert_eq!(names.map(|path| system.get(path).unwrap()), [0, 8, 3, 1], "five of eight agree, and three follow");
    let text = serde_json::to_value(&statistics).unwrap();
    assert_eq!(text["placements"]["system"]["predictions"], 3);
    assert_eq!(text["predictions"], 0);
    node.event(Event::Free(run));
    assert_eq!(node.manager.statistics().placements.get("system").unwrap().get("pages_by_scheme.duplication"), Some(0));
}

#[test]
fn a_node_has_one_sort_of_counters_and_of_reports() {
    let refusal = |managed: octavo_registry::Choice, system: octavo_registry::Choice| {
        let system = SystemConfig { placement: system, ..SystemConfig::default() };
        let config = MemoryConfig { placement: managed, system, ..MemoryConfig::default() };
        let error = Manager::new(&config, &Topology::unlimited(2)).err().unwrap();
        (error.key, error.message)
    };
    let (key, message) = refusal(choice("grit", "{}"), choice("access-counter", r#"{"threshold": 64}"#));
    assert_eq!(key, "system.placement");
    assert!(message.starts_with("expected access counters with a threshold of 256 lines"), "{message}");
    assert!(message.contains("found 64: a GPU's counters have one"), "{message}");
    let slow = choice("griffin-dpc", r#"{"period_cycles": 2000}"#);
    let (_, message) = refusal(choice("griffin-dpc", "{}"), slow);
    assert!(message.contains("every 1000 cycles and 8 bytes an entry"), "{message}");
    assert!(message.contains("found 2000 cycles and 8 bytes"), "{message}");
}

#[test]
#[should_panic(expected = "host touches page 3000, which it cannot map")]
fn the_host_cannot_touch_device_memory() {
    let mut node = Node::new(&MemoryConfig::default());
    allocate(&mut node, device(Spread::Split));
    node.event(Event::Faults(&[Fault { processor: HOST, page: PageId(3000), access: Access::Read }]));
}

#[test]
fn faults_cost_nothing_where_one_of_two_placements_has_pages_in_place_from_the_start() {
    let free = |managed: &str| Node::new(&placement(managed, "{}")).manager.needs().free_faults;
    assert!(free("interleaved"), "beside the operating system's memory, which moves on touch");
    assert!(!free("on-touch"));
}
