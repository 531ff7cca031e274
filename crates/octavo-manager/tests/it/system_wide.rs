//! Memory of the operating system where all processors share its page table: who touches it first, what then costs no
//! fault, what moves, and what does not.

use crate::common::{Node, choice};
use octavo_manager::{
    Access, Allocation, CounterNotification, CounterSpec, Event, Fault, HOST, HOST_MEMORY, Kind, MemoryConfig,
    MemoryId, PageId, PageRun, PrefetchPlan, Prefix, ProcessorId, Refusal, SpaceId, SystemConfig, SystemTable,
    Topology, Why,
};
use octavo_units::{Bytes, Time};

/// 64 pages of 64 KiB: two blocks of 2 MiB.
const PAGES: PageRun = PageRun { first: PageId(3072), count: 64 };

fn config() -> MemoryConfig {
    let system = SystemConfig { placement: choice("coherent", "{}"), ..SystemConfig::default() };
    MemoryConfig { page_size: Bytes(64 << 10), system, ..MemoryConfig::default() }
}

fn node(topology: &Topology) -> Node {
    let mut node = Node::with(&config(), topology);
    let system = Allocation { kind: Kind::System, populated: false, ..PAGES.into() };
    assert!(node.event(Event::Allocate(system)).is_empty(), "nobody has touched it");
    node
}

fn touch(node: &mut Node, processor: ProcessorId, page: u32) -> Vec<String> {
    node.event(Event::Faults(&[Fault { processor, page: PageId(page), access: Access::Write }]))
}

fn notify(node: &mut Node, page: u32) -> Vec<String> {
    node.event(Event::Counter(CounterNotification { processor: ProcessorId::gpu(0), page: PageId(page) }))
}

fn owner(node: &Node, page: u32) -> MemoryId {
    node.manager.page(PageId(page)).owner
}

#[test]
fn whoever_touches_a_page_first_has_it_and_everyone_reaches_it() {
    let mut node = node(&Topology::unlimited(2).coherent());
    let lines = touch(&mut node, HOST, 3072);
    assert_eq!(lines, ["populate 3072 host", "map host+gpu0+gpu1 3072 -> host rw", "wake host 3072"]);
    let lines = touch(&mut node, ProcessorId::gpu(0), 3073);
    assert_eq!(lines, ["populate 3073 gpu0", "map host+gpu0+gpu1 3073 -> gpu0 rw", "wake gpu0 3073"]);
    for (processor, page) in [(HOST, 3073), (ProcessorId::gpu(0), 3072), (ProcessorId::gpu(1), 3073)] {
        let fault = Fault { processor, page: PageId(page), access: Access::Write };
        assert!(node.manager.believes_mapped(&fault), "{processor} does not fault on page {page}");
    }
}

#[test]
fn a_page_moves_when_its_region_was_accessed_often_and_nobody_loses_it() {
    let mut node = node(&Topology::unlimited(1).coherent());
    assert_eq!(node.manager.needs().counters, Some(CounterSpec { threshold: 256, group_pages: 1 }));
    touch(&mut node, HOST, 3075);
    let moved = [
        "drain gpu0 3075",
        "invalidate host+gpu0 3075",
        "copy 3075 host gpu0 migration",
        "release host 3075",
        "map host+gpu0 3075 -> gpu0 rw",
        "clear 3075",
    ];
    assert_eq!(notify(&mut node, 3075), moved);
    assert_eq!(notify(&mut node, 3075), ["clear 3075"], "it is there");
    assert_eq!(notify(&mut node, 3080), ["clear 3080"], "nobody has touched it");
    let counts = node.manager.statistics();
    assert_eq!((counts.counter_migrations, counts.counters_ignored, counts.far_faults), (1, 2, 1));
}

#[test]
fn a_full_gpu_takes_no_more_and_gives_nothing_up() {
    let mut node = node(&Topology::of(vec![2]).coherent());
    let gpu = ProcessorId::gpu(0);
    (3072..3074).for_each(|page| _ = touch(&mut node, gpu, page));
    let lines = touch(&mut node, gpu, 3074);
    assert_eq!(lines, ["populate 3074 host", "map host+gpu0 3074 -> host rw", "wake gpu0 3074"]);
    assert_eq!(notify(&mut node, 3074), ["clear 3074"], "there is no room for it");
    assert_eq!([3072, 3073, 3074].map(|page| owner(&node, page).on_host()), [false, false, true]);
    // Managed memory does not drive it out either.
    assert!(node.write(0, 7).is_empty());
    assert_eq!(node.manager.out_of_memory().unwrap().page, PageId(7));
}

#[test]
fn managed_pages_are_not_evicted_for_it() {
    let mut node = node(&Topology::of(vec![2]).coherent());
    (0..2).for_each(|page| _ = node.write(0, page));
    touch(&mut node, ProcessorId::gpu(0), 3072);
    assert_eq!([0, 1, 3072].map(|page| owner(&node, page).on_host()), [false, false, true]);
    node.write(0, 2);
    assert!(owner(&node, 0).on_host(), "but for other managed pages");
}

#[test]
fn it_is_not_evicted_either_after_a_refused_plan_that_was_to_take_it_away() {
    let mut node = node(&Topology::of(vec![2]).coherent());
    touch(&mut node, ProcessorId::gpu(0), 3072);
    node.write(0, 0);
    let mut plans = Vec::new();
    let wish = Event::Prefetch { pages: PageRun::one(PageId(3072)), to: HOST_MEMORY };
    node.manager.handle(Time::ZERO, wish, &mut plans);
    let refusal = Refusal { done: Prefix::NONE, why: Why::Again };
    let plan = plans.remove(0);
    node.manager.fail(Time::ZERO, &plan, refusal, &mut plans);
    plans.iter().for_each(|plan| node.manager.complete(Time::ZERO, plan.id, &mut Vec::new()));
    node.write(0, 1);
    assert_eq!([3072, 0, 1].map(|page| owner(&node, page).on_host()), [false, true, false]);
}

#[test]
fn memory_of_gpus_that_is_no_node_of_the_operating_system_takes_none() {
    let topology = Topology { system: SystemTable::Shared { on_gpus: false }, ..Topology::unlimited(1) };
    let mut node = node(&topology);
    let lines = touch(&mut node, ProcessorId::gpu(0), 3072);
    assert_eq!(lines, ["populate 3072 host", "map host+gpu0 3072 -> host rw", "wake gpu0 3072"]);
    assert_eq!(notify(&mut node, 3072), ["clear 3072"]);
    assert!(node.event(Event::Prefetch { pages: PAGES, to: MemoryId::gpu(0) }).is_empty());
}

#[test]
fn a_program_can_bring_pages_and_freeing_forgets_them() {
    let mut node = node(&Topology::of(vec![40]).coherent());
    touch(&mut node, HOST, 3072);
    node.event(Event::Prefetch { pages: PageRun { count: 2, ..PAGES }, to: MemoryId::gpu(0) });
    assert_eq!([3072, 3073].map(|page| owner(&node, page)), [MemoryId::gpu(0); 2]);
    node.event(Event::Free(PAGES));
    assert_eq!(node.manager.frames_held(MemoryId::gpu(0)), 0);
    assert_eq!(node.manager.page(PageId(3072)).owner, HOST_MEMORY);
}

#[test]
fn counters_are_not_heard_of_small_pages() {
    let small = MemoryConfig { page_size: Bytes(4 << 10), ..config() };
    assert_eq!(Node::with(&small, &Topology::unlimited(1).coherent()).manager.needs().counters, None);
}

#[test]
fn a_quota_is_of_what_can_be_made_to_leave() {
    let config = MemoryConfig { sharing: choice("quota", "{}"), ..config() };
    let mut node = Node::with(&config, &Topology::of(vec![10]).coherent());
    let mut allocate = |first: u32, space: u16, kind: Kind| {
        let run = PageRun { first: PageId(first), count: 32 };
        node.event(Event::Allocate(Allocation { space: SpaceId(space), kind, populated: false, ..run.into() }));
    };
    allocate(4096, 0, Kind::Managed);
    allocate(4160, 1, Kind::System);
    allocate(4224, 1, Kind::Managed);
    let gpu = ProcessorId::gpu(0);
    (4096..4100).chain(4160..4166).for_each(|page| _ = touch(&mut node, gpu, page));
    // Four of ten frames hold what can leave, all of the first space's: it gives up one for the other.
    let lines = touch(&mut node, gpu, 4224);
    assert!(lines.contains(&"copy 4096 gpu0 host eviction".to_owned()), "{lines:?}");
}

/// The mapping of a page of the first GPU was refused.
fn unmapped() -> Node {
    let mut node = node(&Topology::unlimited(2).coherent());
    let fault = Fault { processor: ProcessorId::gpu(0), page: PageId(3072), access: Access::Write };
    let mut plans = Vec::new();
    node.manager.handle(Time::ZERO, Event::Faults(&[fault]), &mut plans);
    let refusal = Refusal { done: Prefix { steps: 1, pages: 0 }, why: Why::Again };
    let plan = plans.remove(0);
    node.manager.fail(Time::ZERO, &plan, refusal, &mut plans);
    while let Some(plan) = plans.pop() {
        node.manager.complete(Time::ZERO, plan.id, &mut plans);
    }
    assert_eq!(owner(&node, 3072), MemoryId::gpu(0));
    node
}

#[test]
fn a_page_that_is_mapped_again_where_it_is_near_is_no_remote_mapping() {
    for gpu in 0..2 {
        let mut node = unmapped();
        let lines = touch(&mut node, ProcessorId::gpu(gpu), 3072);
        assert_eq!(lines, ["map host+gpu0+gpu1 3072 -> gpu0 rw".to_owned(), format!("wake gpu{gpu} 3072")]);
        assert_eq!(node.manager.statistics().remote_maps, gpu as u64, "GPU {gpu}");
    }
}

/// A node whose only GPU is full of 32 managed pages, and where 64 KiB come with each page that does.
fn full(populated: bool) -> Node {
    let config = MemoryConfig {
        system: SystemConfig { prefetch: choice("sequential-local", "{}"), ..SystemConfig::default() },
        prefetch_plan: PrefetchPlan::AtOnce,
        ..MemoryConfig::default()
    };
    let mut node = Node::with(&config, &Topology::of(vec![32]).coherent());
    node.event(Event::Allocate(Allocation { kind: Kind::System, populated, ..PAGES.into() }));
    (0..32).for_each(|page| _ = node.write(0, page));
    node
}

#[test]
fn no_managed_page_leaves_for_it_and_what_comes_with_it() {
    let mut node = full(false);
    touch(&mut node, ProcessorId::gpu(0), 3072);
    assert_eq!(owner(&node, 3072), HOST_MEMORY);
    assert_eq!(node.manager.statistics().evictions_written, 0);
}

#[test]
fn a_page_that_stays_where_it_is_brings_no_others() {
    let mut node = full(true);
    node.event(Event::Free(PageRun { first: PageId(0), count: 2048 }));
    let lines = touch(&mut node, ProcessorId::gpu(0), 3072);
    assert_eq!(lines, ["map host+gpu0 3072 -> host rw", "wake gpu0 3072"]);
}
