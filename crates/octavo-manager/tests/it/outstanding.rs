//! Pages stay while accesses to them are under way (UVMSmart, `gmmu_t::is_block_evictable`).

use octavo_manager::{
    Allocation, Event, Kind, MemoryConfig, OutstandingAccesses, PageId, PageRun, ProcessorId, Topology, UnderWay,
};
use octavo_units::Time;

use crate::common::{Node, choice, placement};

/// Two pages of memory that hold pages 0 and 1; accesses to these are under way until then.
fn full(outstanding: OutstandingAccesses, until: &[(u32, u64)]) -> Node {
    let config = MemoryConfig { outstanding, ..placement("on-touch", "{}") };
    let mut node = Node::with(&config, &Topology::of(vec![2]));
    [0, 1].into_iter().for_each(|page| drop(node.read(0, page)));
    under_way(&mut node, until);
    node
}

/// The GPU has accesses to these pages under way until then.
fn under_way(node: &mut Node, until: &[(u32, u64)]) {
    let processor = ProcessorId::gpu(0);
    let access = |&(page, until): &(u32, u64)| UnderWay { processor, page: PageId(page), until: Time(until) };
    node.manager.note_outstanding(&until.iter().map(access).collect::<Vec<_>>());
}

/// The pages that the GPU has.
fn here(node: &Node) -> Vec<u32> {
    (0..4).filter(|&page| node.manager.page(PageId(page)).resident.near(ProcessorId::gpu(0))).collect()
}

#[test]
fn a_page_with_an_outstanding_access_is_no_victim() {
    for (outstanding, stays) in [(OutstandingAccesses::Leave, 1), (OutstandingAccesses::Stay, 0)] {
        let mut node = full(outstanding, &[(0, 100)]);
        assert_eq!(node.manager.wants_outstanding(), outstanding == OutstandingAccesses::Stay);
        node.read(0, 2);
        assert_eq!(here(&node), [stays, 2], "{outstanding:?}");
    }
}

#[test]
fn a_fault_waits_for_the_first_access_that_comes_back() {
    let mut node = full(OutstandingAccesses::Stay, &[(0, 100), (1, 70)]);
    assert!(node.read(0, 2).is_empty(), "nothing can leave");
    assert_eq!(node.manager.deadline(), Some(Time(70)));
    assert!(node.manager.starving().is_none(), "it does not wait in vain");
    let mut plans = Vec::new();
    node.manager.handle(Time(69), Event::Tick, &mut plans);
    assert!(plans.is_empty());
    node.manager.handle(Time(70), Event::Tick, &mut plans);
    assert_eq!(plans.len(), 1);
    assert_eq!(here(&node), [0, 2], "what has come back leaves, although it was used last");
    assert_eq!(node.manager.deadline(), None);
}

#[test]
fn a_unit_stays_while_any_of_its_pages_is_in_use() {
    for eviction in ["lru-block", "lfu-block", "sequential-local", "tree-neighborhood"] {
        let config = MemoryConfig {
            outstanding: OutstandingAccesses::Stay,
            eviction: choice(eviction, "{}"),
            prefetch: choice("sequential-local", "{}"),
            ..placement("on-touch", "{}")
        };
        let mut node = Node::with(&config, &Topology::of(vec![32]));
        [0, 512].into_iter().for_each(|page| drop(node.read(0, page)));
        let processor = ProcessorId::gpu(0);
        node.manager.note_outstanding(&[UnderWay { processor, page: PageId(5), until: Time(9) }]);
        node.read(0, 1024);
        let there = [0, 512, 1024].map(|page| node.manager.page(PageId(page)).resident.near(processor));
        assert_eq!(there, [true, false, true], "{eviction}");
    }
}

#[test]
fn memory_that_shrinks_waits_for_accesses_that_are_under_way() {
    let mut node = full(OutstandingAccesses::Stay, &[(0, 50), (1, 60)]);
    let memory = ProcessorId::gpu(0).memory();
    assert!(node.event(Event::Capacity { memory, pages: 1 }).is_empty());
    assert_eq!(node.manager.deadline(), Some(Time(50)));
    let mut plans = Vec::new();
    node.manager.handle(Time(50), Event::Tick, &mut plans);
    node.manager.work_ahead(Time(50), &mut plans);
    assert_eq!((plans.len(), here(&node)), (1, vec![1]));
}

#[test]
fn nobody_waits_for_accesses_to_device_memory() {
    let config = MemoryConfig { outstanding: OutstandingAccesses::Stay, ..placement("on-touch", "{}") };
    let mut node = Node::with(&config, &Topology::of(vec![2]));
    let device = PageRun::one(PageId(3000));
    node.event(Event::Allocate(Allocation { kind: Kind::Device, ..device.into() }));
    node.read(0, 0);
    under_way(&mut node, &[(3000, 20), (0, 50)]);
    assert!(node.read(0, 1).is_empty(), "nothing can leave");
    assert_eq!(node.manager.deadline(), Some(Time(50)), "device memory never leaves");
}
