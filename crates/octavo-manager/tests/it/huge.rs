//! Huge pages of the operating system: what a core's first touch creates, and what splits it.

use crate::common::{Node, choice, placement};
use octavo_manager::{
    Access, Allocation, Event, Fault, HOST, HOST_MEMORY, Huge, Kind, Manager, MemoryConfig, PageId, PageRun,
    SystemConfig, SystemTable, Topology,
};
use octavo_units::Bytes;

fn config(system_placement: &str) -> MemoryConfig {
    let system =
        SystemConfig { placement: choice(system_placement, "{}"), huge_pages: Huge::Always, ..SystemConfig::default() };
    MemoryConfig { system, ..placement("on-touch", "{}") }
}

const MEMORY: PageRun = PageRun { first: PageId(0), count: 1200 };

/// A node with two blocks of 512 pages of one allocation and a part of a third.
fn node(system_placement: &str, system: SystemTable, host_pages: u32) -> Node {
    let mut topology = Topology { system, ..Topology::of(vec![2000]) };
    topology.memories[0].capacity_pages = host_pages;
    let mut node = Node::with(&config(system_placement), &Topology::unlimited(1));
    node.manager = Manager::new(&config(system_placement), &topology).unwrap();
    node.event(Event::Allocate(Allocation { kind: Kind::System, populated: false, ..MEMORY.into() }));
    node
}

fn touch(node: &mut Node, page: u32) -> Vec<String> {
    node.event(Event::Faults(&[Fault { processor: HOST, page: PageId(page), access: Access::Write }]))
}

fn huge(node: &Node) -> u32 {
    MEMORY.iter().filter(|&page| node.manager.is_huge(page)).count() as u32
}

#[test]
fn a_core_that_touches_a_block_first_gets_all_of_it() {
    let mut node = node("coherent", SystemTable::Shared { on_gpus: true }, u32::MAX);
    let steps = touch(&mut node, 700);
    assert_eq!(steps[0], "populate 512x512 host");
    assert_eq!((huge(&node), node.manager.pages_held(HOST_MEMORY), node.manager.entries(MEMORY)), (512, 512, 1));
    assert!(touch(&mut node, 1023).iter().all(|step| step.starts_with("wake")), "it is there");
    // The last 176 pages are no whole block.
    assert_eq!(touch(&mut node, 1100)[0], "populate 1100 host");
    assert_eq!((huge(&node), node.manager.entries(MEMORY)), (512, 2));
}

#[test]
fn what_a_gpu_touched_first_is_no_huge_page() {
    let mut node = node("coherent", SystemTable::Shared { on_gpus: true }, u32::MAX);
    assert_eq!(node.write(0, 3)[0], "populate 3 gpu0");
    assert_eq!(touch(&mut node, 4)[0], "populate 4 host", "one of its pages is there");
    assert_eq!((huge(&node), node.manager.entries(MEMORY)), (0, 2));
}

#[test]
fn a_page_that_moves_splits_its_huge_page() {
    let mut node = node("on-touch", SystemTable::Own, u32::MAX);
    touch(&mut node, 0);
    touch(&mut node, 512);
    assert_eq!((huge(&node), node.manager.entries(MEMORY)), (1024, 2));
    node.write(0, 5);
    assert_eq!((huge(&node), node.manager.entries(MEMORY)), (512, 512 + 1));
    node.event(Event::Free(MEMORY));
    assert_eq!(huge(&node), 0);
}

#[test]
fn a_gpu_that_maps_a_page_where_it_is_splits_nothing() {
    let mut node = node("access-counter", SystemTable::Own, u32::MAX);
    touch(&mut node, 0);
    assert_eq!(node.write(0, 5)[0], "map gpu0 5 -> host rw");
    assert_eq!((huge(&node), node.manager.entries(MEMORY)), (512, 1));
}

#[test]
fn large_pages_that_are_smaller_than_huge_ones_cannot_reach_them() {
    let config = |large: &str| MemoryConfig {
        sizing: choice("mosaic", &format!(r#"{{"large_page": "{large}", "threshold": 1}}"#)),
        ..config("coherent")
    };
    let on = |system, large| Manager::new(&config(large), &Topology { system, ..Topology::of(vec![2000]) }).err();
    let shared = SystemTable::Shared { on_gpus: true };
    assert_eq!(on(shared, "64KiB").unwrap().key, "system.huge_pages");
    assert!(on(shared, "2MiB").is_none() && on(SystemTable::Own, "64KiB").is_none());
}

#[test]
fn a_host_without_room_for_a_block_gives_a_page() {
    let mut node = node("coherent", SystemTable::Shared { on_gpus: true }, 600);
    touch(&mut node, 0);
    assert_eq!(touch(&mut node, 513)[0], "populate 513 host");
    assert_eq!((huge(&node), node.manager.pages_held(HOST_MEMORY)), (512, 513));
}

#[test]
fn kernels_of_larger_pages_have_none() {
    let config = MemoryConfig { page_size: Bytes(64 << 10), ..config("coherent") };
    let refused = config.resolve().unwrap_err();
    assert_eq!(refused.key, "system.huge_pages");
    assert!(refused.message.contains("a page_size of 4KiB"), "{refused}");
}
