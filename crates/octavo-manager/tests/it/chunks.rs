//! Frames of 2 MiB for blocks of pages of 64 KiB, as the production driver has them.

use crate::common::{Node, choice, placement};
use octavo_manager::{
    Allocation, Event, Fragmentation, Kind, Manager, MemoryConfig, PageId, PageRun, ProcessorId, SystemConfig,
    SystemTable, Topology,
};
use octavo_units::{Bytes, Time};

const GPU: ProcessorId = ProcessorId(1);

fn config() -> MemoryConfig {
    MemoryConfig {
        page_size: Bytes(64 << 10),
        allocator: choice("chunks", "{}"),
        sizing: choice("whole-blocks", "{}"),
        system: SystemConfig { placement: choice("coherent", "{}"), ..SystemConfig::default() },
        eviction: choice("lru-block", "{}"),
        ..placement("on-touch", "{}")
    }
}

/// A coherent node with memory of this kind and nothing else.
fn node(kind: Kind, pages: u32, capacity: u32) -> Node {
    let system = SystemTable::Shared { on_gpus: true };
    let mut node = Node::with(&config(), &Topology { system, ..Topology::of(vec![capacity]) });
    let all = PageRun { first: PageId(0), count: 2048 };
    node.event(Event::Free(all));
    node.event(Event::Allocate(Allocation { kind, populated: false, ..PageRun { count: pages, ..all }.into() }));
    node
}

fn large(node: &Node, pages: std::ops::Range<u32>) -> usize {
    pages.filter(|&page| node.manager.coalesced(GPU, PageId(page))).count()
}

fn touch(node: &mut Node, pages: std::ops::Range<u32>) -> Vec<String> {
    pages.map(|page| node.write(0, page)).last().unwrap_or_default()
}

#[test]
fn the_page_that_fills_a_block_makes_it_one_large_page() {
    let mut node = node(Kind::Managed, 64, 1000);
    touch(&mut node, 1..32);
    assert_eq!(large(&node, 0..64), 0);
    let steps = touch(&mut node, 0..1);
    assert_eq!(steps, ["populate 0 gpu0", "map gpu0 0 -> gpu0 rw", "coalesce gpu0 0x32", "wake gpu0 0"]);
    assert_eq!(large(&node, 0..64), 32);
}

#[test]
fn a_block_that_is_not_whole_stays_in_base_pages() {
    let mut node = node(Kind::Managed, 40, 1000);
    touch(&mut node, 0..40);
    assert_eq!((large(&node, 0..32), large(&node, 32..40)), (32, 0));
}

#[test]
fn a_full_memory_has_large_pages_like_an_empty_one() {
    // Two blocks fit; each block that comes drives one out whole, and finds its places.
    let mut node = node(Kind::Managed, 160, 64);
    for block in [0, 1, 2, 3, 4, 0, 2] {
        touch(&mut node, block * 32..block * 32 + 32);
        assert_eq!(large(&node, block * 32..block * 32 + 32), 32, "block {block}");
    }
    let statistics = node.manager.statistics();
    assert_eq!((statistics.coalesced, statistics.splintered), (7, 5));
    assert!(node.manager.frames_held(GPU.memory()) <= 64);
}

#[test]
fn a_page_that_takes_the_room_of_its_victims_needs_no_more() {
    let mut node = node(Kind::Managed, 160, 64);
    touch(&mut node, 0..64);
    let mut plans = Vec::new();
    let write = crate::common::fault(0, 64, octavo_manager::Access::Write);
    node.manager.handle(Time::ZERO, Event::Faults(&[write]), &mut plans);
    assert_eq!((plans.len(), node.manager.frames_held(GPU.memory())), (1, 64), "until the plan is done");
}

#[test]
fn device_memory_is_large_from_its_allocation_on() {
    let node = node(Kind::Device, 70, 1000);
    assert_eq!((large(&node, 0..64), large(&node, 64..70)), (64, 0));
}

#[test]
fn pages_of_the_operating_system_are_never_large() {
    let mut node = node(Kind::System, 64, 1000);
    touch(&mut node, 0..64);
    assert_eq!((node.manager.pages_held(GPU.memory()), large(&node, 0..64)), (64, 0));
}

#[test]
fn what_needs_scarce_frames_is_refused() {
    let refused = |config: &MemoryConfig| Manager::new(config, &Topology::of(vec![64])).err().unwrap().key;
    let fragmentation = Fragmentation { index: 50, occupancy: 50, ..Fragmentation::default() };
    assert_eq!(refused(&MemoryConfig { fragmentation, ..config() }), "fragmentation.index");
    assert_eq!(
        refused(&MemoryConfig { sizing: choice("mosaic", r#"{"threshold": 16}"#), ..config() }),
        "sizing.compaction"
    );
}
