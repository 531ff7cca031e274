//! Untouched pages are made where the first touch wants them, and nothing is copied.

use crate::common::{Node, fault, placement};
use octavo_manager::{Access, Allocation, Event, Fault, HOST, HOST_MEMORY, MemoryId, PageId, PageRun, Topology};

const FRESH: PageRun = PageRun { first: PageId(3000), count: 8 };

/// Pages 3000 to 3007 are allocated and untouched.
fn node(placement_name: &str, options: &str, topology: &Topology) -> Node {
    let mut node = Node::with(&placement(placement_name, options), topology);
    assert!(node.event(Event::Allocate(Allocation { populated: false, ..FRESH.into() })).is_empty());
    assert!(!node.manager.page(FRESH.first).populated());
    node
}

fn on_host(node: &mut Node, page: u32) -> Vec<String> {
    node.event(Event::Faults(&[Fault { processor: HOST, page: PageId(page), access: Access::Write }]))
}

#[test]
fn the_first_touch_copies_nothing_under_every_placement() {
    for name in octavo_manager::PLACEMENTS.names() {
        let mut node = node(name, "{}", &Topology::unlimited(2));
        for lines in [on_host(&mut node, 3000), node.read(1, 3001), node.write(0, 3002)] {
            assert!(lines[0].starts_with("populate 300"), "{name}: {lines:?}");
            assert!(!lines.iter().any(|line| line.starts_with("copy")), "{name}: {lines:?}");
        }
        assert_eq!(node.manager.page(PageId(3000)).owner, HOST_MEMORY, "{name}");
        assert_eq!((node.manager.statistics().populated, node.manager.statistics().migrations), (3, 0), "{name}");
    }
}

#[test]
fn a_page_with_a_home_comes_into_being_there() {
    let mut node = node("interleaved", r#"{"first_gpu": 1}"#, &Topology::unlimited(2));
    // 2048 pages were dealt before.
    let expected = ["populate 3001 gpu1", "map gpu1 3001 -> gpu1 rw", "map gpu0 3001 -> gpu1 rw", "wake gpu0 3001"];
    assert_eq!(node.read(0, 3001), expected);
}

#[test]
fn a_page_of_everyone_is_mapped_everywhere_at_once() {
    let mut node = node("ideal", "{}", &Topology::unlimited(2));
    let expected = ["populate 3000 gpu1", "map gpu0+gpu1 3000 -> own rw", "wake gpu1 3000"];
    assert_eq!(node.read(1, 3000), expected);
}

#[test]
fn room_is_made_for_a_page_that_nobody_touched() {
    let mut node = node("on-touch", "{}", &Topology::of(vec![1, 4]));
    node.write(0, 3000);
    let lines = node.write(0, 3001);
    assert!(lines.contains(&"copy 3000 gpu0 host eviction".to_owned()), "{lines:?}");
    assert!(lines.contains(&"populate 3001 gpu0".to_owned()), "{lines:?}");
}

#[test]
fn who_has_no_memory_touches_the_hosts() {
    let mut node = node("on-touch", "{}", &Topology::unlimited(2));
    node.event(Event::Capacity { memory: MemoryId::gpu(0), pages: 0 });
    let expected = ["populate 3000 host", "map host 3000 -> host rw", "map gpu0 3000 -> host rw", "wake gpu0 3000"];
    assert_eq!(node.event(Event::Faults(&[fault(0, 3000, Access::Read)])), expected);
}
