//! The tree prefetcher and block eviction in the manager.

use crate::common::{Node, choice, fault, placement, show};
use octavo_manager::{Access, Event, MemoryConfig, MemoryId, PageId, PageRun, Topology};
use octavo_units::{Bytes, Time};

fn tree(placed: &str) -> MemoryConfig {
    MemoryConfig { prefetch: choice("tree", "{}"), ..placement(placed, "{}") }
}

fn copies(steps: &[String]) -> Vec<&str> {
    steps.iter().map(String::as_str).filter(|step| step.starts_with("copy")).collect()
}

#[test]
fn prefetched_pages_are_mapped_and_nobody_is_woken_for_them() {
    let mut node = Node::new(&tree("on-touch"));
    let steps = [
        "copy 20 host gpu0 migration",
        "release host 20",
        "map gpu0 20 -> gpu0 rw",
        "copy 16x4 host gpu0 prefetch",
        "release host 16x4",
        "map gpu0 16x4 -> gpu0 rw",
        "copy 21x11 host gpu0 prefetch",
        "release host 21x11",
        "map gpu0 21x11 -> gpu0 rw",
        "wake gpu0 20",
    ];
    assert_eq!(node.read(0, 20), steps);
    assert_eq!(node.manager.statistics().prefetched, 15);
}

#[test]
fn faults_of_a_batch_on_one_block_are_served_together_for_each_processor() {
    let mut node = Node::new(&tree("on-touch"));
    let faults: Vec<_> = (0..17).flat_map(|big| [(0, big * 16), (1, 1024 + big * 16)]).collect();
    let mut faults: Vec<_> = faults.into_iter().map(|(gpu, page)| fault(gpu, page, Access::Read)).collect();
    faults.sort_by_key(|fault| fault.page);
    let steps = node.event(Event::Faults(&faults));
    assert_eq!(steps.iter().filter(|step| step.starts_with("wake")).count(), 34);
    let statistics = node.manager.statistics();
    assert_eq!(
        (statistics.migrations, statistics.prefetched),
        (34, 2 * (512 - 17)),
        "17 of 32 big pages bring the block"
    );
}

#[test]
fn pages_elsewhere_move_along_but_not_those_of_schemes_that_leave_pages_where_they_are() {
    for (placed, comes) in [("on-touch", true), ("fault-and-count", true), ("first-touch", false)] {
        let mut node = Node::new(&tree(placed));
        node.read(0, 0);
        node.event(Event::Free(PageRun { first: PageId(8), count: 1 }));
        node.event(Event::Allocate(PageRun { first: PageId(8), count: 1 }.into()));
        // Page 8 is an allocation, and so a tree, of its own.
        assert_eq!(copies(&node.read(1, 8)), ["copy 8 host gpu1 migration"]);
        node.read(1, 40);
        assert_eq!(node.manager.page(PageId(33)).owner, MemoryId::gpu(1));
        node.read(0, 33);
        let owner = MemoryId::gpu(if comes { 0 } else { 1 });
        assert_eq!(node.manager.page(PageId(34)).owner, owner, "{placed}");
    }
}

#[test]
fn busy_pages_are_passed_over() {
    let prefetch = choice("tree", r#"{"threshold": 1, "min_faults": 2}"#);
    let mut node = Node::new(&MemoryConfig { prefetch, ..tree("on-touch") });
    let mut plans = Vec::new();
    node.manager.handle(Time::ZERO, Event::Faults(&[fault(0, 70, Access::Read)]), &mut plans);
    node.manager.handle(Time::ZERO, Event::Faults(&[100, 101].map(|page| fault(1, page, Access::Read))), &mut plans);
    let second: Vec<String> = plans[1].steps.iter().map(show).collect();
    let prefetched =
        ["copy 0x70 host gpu1 prefetch", "copy 71x29 host gpu1 prefetch", "copy 102x410 host gpu1 prefetch"];
    assert_eq!(copies(&second)[1..], prefetched, "behind the two faults, which come together");
    node.manager.check().unwrap();
}

#[test]
fn no_prefetch_before_enough_faults() {
    let config = MemoryConfig { prefetch: choice("tree", r#"{"min_faults": 2}"#), ..placement("on-touch", "{}") };
    let mut node = Node::new(&config);
    assert_eq!(copies(&node.read(0, 5)).len(), 1);
    assert!(copies(&node.read(0, 40)).len() > 1);
    assert_eq!(copies(&node.read(1, 60)).len(), 1, "another destination counts anew");
}

#[test]
fn each_allocation_counts_its_own_faults_and_forgets_them_when_it_is_freed() {
    let config = MemoryConfig { prefetch: choice("tree", r#"{"min_faults": 2}"#), ..placement("on-touch", "{}") };
    let mut node = Node::new(&config);
    let part = PageRun { first: PageId(64), count: 64 };
    let renew = |node: &mut Node| {
        node.event(Event::Free(part));
        node.event(Event::Allocate(part.into()));
    };
    renew(&mut node);
    node.read(0, 5);
    assert_eq!(copies(&node.read(0, 70)).len(), 1, "the other allocation of the block has seen one fault");
    renew(&mut node);
    assert_eq!(copies(&node.read(0, 70)).len(), 1, "a new allocation has seen none");
    assert!(copies(&node.read(0, 100)).len() > 1);
}

#[test]
fn without_big_pages_a_fault_brings_only_what_is_mostly_there() {
    let config = MemoryConfig { prefetch: choice("tree", r#"{"big_pages": false}"#), ..placement("on-touch", "{}") };
    let mut node = Node::new(&config);
    assert_eq!([0, 1, 2].map(|page| copies(&node.read(0, page)).len()), [1, 1, 2]);
    assert_eq!(node.manager.statistics().prefetched, 1, "three of four pages bring the fourth");
}

#[test]
fn big_pages_and_large_pages_have_their_own_trees() {
    let config = |page_size| MemoryConfig { page_size: Bytes(page_size), ..tree("on-touch") };
    let mut node = Node::new(&config(64 << 10));
    assert_eq!([0, 1, 2, 4, 8, 16].map(|page| copies(&node.read(0, page)).len()), [1, 1, 2, 2, 2, 2]);
    let mut node = Node::new(&config(2 << 20));
    assert_eq!(copies(&node.read(0, 3)), ["copy 3 host gpu0 migration"]);
}

#[test]
fn prefetch_makes_room_or_does_without() {
    let topology = Topology::of(vec![16]);
    let mut node = Node::with(&tree("on-touch"), &topology);
    node.read(0, 0);
    let steps = node.read(0, 16);
    assert_eq!(node.manager.frames_held(MemoryId::gpu(0)), 16);
    let leave = ["copy 0 gpu0 host eviction", "copy 1x15 gpu0 host eviction"];
    let come = ["copy 16 host gpu0 migration", "copy 17x15 host gpu0 prefetch"];
    assert_eq!(copies(&steps), [leave, come].concat(), "all leave before any comes");
    let topology = Topology::of(vec![8]);
    let mut node = Node::with(&tree("on-touch"), &topology);
    assert_eq!(copies(&node.read(0, 0)), ["copy 0 host gpu0 migration"]);
}

#[test]
fn a_whole_block_leaves_at_once() {
    let topology = Topology::of(vec![4]);
    let config = MemoryConfig { eviction: choice("lru-block", "{}"), ..placement("on-touch", "{}") };
    let mut node = Node::with(&config, &topology);
    [0, 1, 512, 2].iter().for_each(|&page| drop(node.read(0, page)));
    let steps = node.read(0, 1024);
    assert_eq!(copies(&steps)[0], "copy 512 gpu0 host eviction", "the first block was used since");
    let steps = node.read(0, 1025);
    assert_eq!(copies(&steps)[0], "copy 0x3 gpu0 host eviction");
    assert_eq!(node.manager.frames_held(MemoryId::gpu(0)), 2);
}

/// The first fault decides a scheme; the second of a GPU brings the 64 KiB around it.
#[test]
fn grit_lets_pages_come_that_have_no_scheme_yet() {
    let config = MemoryConfig {
        prefetch: choice("tree", r#"{"min_faults": 2}"#),
        ..placement("grit", r#"{"fault_threshold": 1, "prediction": false}"#)
    };
    let mut node = Node::new(&config);
    node.write(1, 34);
    [33, 35].into_iter().for_each(|page| drop(node.write(0, page)));
    let owners = [32, 34, 36].map(|page| node.manager.page(PageId(page)).owner);
    assert_eq!(owners, [0, 1, 0].map(MemoryId::gpu), "the counted one stays where it is");
}

/// A fault brings its block and the next one; `coherent` leaves pages where they are.
#[test]
fn blocks_ahead_come_only_if_the_placement_lets_them() {
    let prefetch = choice("local-path", r#"{"blocks": 1, "stride": 1}"#);
    for (placed, held) in [("on-touch", 1024), ("coherent", 0)] {
        let mut node = Node::new(&MemoryConfig { prefetch: prefetch.clone(), ..placement(placed, "{}") });
        node.read(0, 0);
        assert_eq!(node.manager.frames_held(MemoryId::gpu(0)), held, "{placed}");
    }
}
