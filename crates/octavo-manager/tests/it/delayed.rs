//! Pages that are read from the host until they were accessed often enough (UVMSmart, `should_cause_page_migration`).

use octavo_manager::{
    Accessed, CounterNotification, CounterSpec, Event, MemoryConfig, PageId, ProcessorId, SpaceId, Topology,
};

use crate::common::{Node, kernel_end, placement};

fn node(options: &str, capacity: u32) -> Node {
    Node::with(&placement("delayed-migration", options), &Topology::of(vec![capacity]))
}

/// The GPU accesses a page this often; the result when the hardware's counter is full.
fn accesses(node: &mut Node, page: u32, times: u32) -> Vec<String> {
    note(node, page, times);
    let notification = CounterNotification { processor: ProcessorId::gpu(0), page: PageId(page) };
    node.event(Event::Counter(notification))
}

fn note(node: &mut Node, page: u32, times: u32) {
    let processor = ProcessorId::gpu(0);
    node.manager.note_accesses(&[Accessed { processor, page: PageId(page), times, stores: false }]);
}

const READ_ONLY: [&str; 2] = ["map gpu0 3 -> host ro", "wake gpu0 3"];
const COMES: [&str; 4] = ["copy 3 host gpu0 migration", "release host 3", "map gpu0 3 -> gpu0 rw", "wake gpu0 3"];

#[test]
fn a_page_is_read_from_the_host_until_it_was_accessed_often_enough() {
    let mut node = node(r#"{"threshold": 8}"#, 8);
    assert_eq!(node.read(0, 3), READ_ONLY);
    assert_eq!(accesses(&mut node, 3, 7), ["clear 0x16"]);
    let moved = accesses(&mut node, 4, 1);
    assert_eq!(moved, ["copy 4 host gpu0 migration", "release host 4", "map gpu0 4 -> gpu0 rw", "clear 0x16"]);
    assert!(accesses(&mut node, 3, 0).contains(&"copy 3 host gpu0 migration".to_owned()), "64 KiB have one counter");
    assert_eq!(node.read(0, 5)[0], "copy 5 host gpu0 migration");
    assert_eq!(node.read(0, 17)[0], "map gpu0 17 -> host ro");
}

#[test]
fn what_is_written_moves_at_once() {
    let mut node = node("{}", 8);
    assert_eq!(node.write(0, 3), COMES);
    assert_eq!(node.read(0, 4), ["map gpu0 4 -> host ro", "wake gpu0 4"]);
    let moved = node.write(0, 4);
    assert!(moved.contains(&"copy 4 host gpu0 migration".to_owned()), "{moved:?}");
    assert_eq!(node.manager.statistics().protection_faults, 1);
}

#[test]
fn before_memory_was_full_everything_moves_if_only_that_matters() {
    let mut node = node(r#"{"when": "full"}"#, 2);
    for page in [0, 16, 32] {
        assert!(node.read(0, page).contains(&format!("copy {page} host gpu0 migration")), "{page}");
    }
    assert_eq!(node.read(0, 48), ["map gpu0 48 -> host ro", "wake gpu0 48"]);
}

#[test]
fn the_emptier_memory_is_the_sooner_pages_move() {
    let mut node = node(r#"{"when": "adaptive", "threshold": 4}"#, 4);
    // 1 + 4 × 0 / 4, then 1 + 4 × 1 / 4 accesses.
    assert!(node.read(0, 0)[0].contains("copy"));
    assert!(node.read(0, 16)[0].contains("map"));
    assert_eq!(accesses(&mut node, 16, 1), ["clear 16x16"]);
    assert!(accesses(&mut node, 16, 1).contains(&"copy 16 host gpu0 migration".to_owned()));
}

#[test]
fn what_has_left_comes_back_the_later_the_more_often_it_left() {
    let mut node = node(r#"{"when": "adaptive", "threshold": 1, "penalty": 3}"#, 1);
    // Two blocks, far apart.
    assert!(node.read(0, 0)[0].contains("copy"));
    note(&mut node, 512, 1);
    note(&mut node, 512, 1);
    // Until something has left, 1 + 1 × 1 / 1 accesses.
    assert!(node.read(0, 512).iter().any(|step| step.starts_with("copy 512 host")));
    // Then 1 × 3 × (1 + once).
    note(&mut node, 0, 4);
    assert!(node.read(0, 0)[0].contains("map"), "five of six");
    assert!(accesses(&mut node, 0, 2).iter().any(|step| step.starts_with("copy 0 host")), "six");
    // A third block has never left: 1 × 3 × 1.
    note(&mut node, 1024, 1);
    assert!(node.read(0, 1024)[0].contains("map"), "two of three");
    assert!(accesses(&mut node, 1024, 2).iter().any(|step| step.starts_with("copy 1024 host")), "three");
}

#[test]
fn faults_out_of_order_delay_what_comes_once_memory_was_full() {
    for (pages, delays) in [([0, 16, 32, 48], false), ([0, 32, 16, 48], true)] {
        let mut node = node(r#"{"when": "irregular"}"#, 2);
        pages.into_iter().for_each(|page| drop(node.read(0, page)));
        let last = node.read(0, 64);
        assert_eq!(last[0].contains("map"), delays, "{pages:?}: {last:?}");
    }
    let mut node = node(r#"{"when": "irregular"}"#, 2);
    for page in [0, 32, 48] {
        node.read(0, page);
    }
    node.event(kernel_end(1));
    assert!(node.read(0, 16).iter().any(|step| step.contains("copy 16")), "each kernel has an order of its own");
}

#[test]
fn counts_end_with_their_allocation() {
    let mut node = node("{}", 8);
    note(&mut node, 3, 8);
    let whole = octavo_manager::PageRun { first: PageId(0), count: 2048 };
    node.event(Event::Free(whole));
    node.event(Event::Allocate(octavo_manager::Allocation { space: SpaceId(0), ..whole.into() }));
    assert_eq!(node.read(0, 3), READ_ONLY);
}

#[test]
fn accesses_are_told_of_where_somebody_wants_to_know() {
    assert!(node("{}", 8).manager.wants_accesses());
    let config = placement("delayed-migration", "{}");
    assert!(config.may_see_accesses([]).unwrap() && !MemoryConfig::default().may_see_accesses([]).unwrap());
}

#[test]
fn the_hardware_counts_to_the_same_threshold_by_64_kib() {
    let counters = node(r#"{"threshold": 9}"#, 8).manager.needs().counters;
    assert_eq!(counters, Some(CounterSpec { threshold: 9, group_pages: 16 }));
}

#[test]
fn all_counts_are_halved_when_one_is_full() {
    let mut node = node(r#"{"threshold": 10}"#, 8);
    note(&mut node, 16, 18);
    note(&mut node, 32, 16);
    note(&mut node, 0, (1 << 27) - 1);
    assert_eq!(node.read(0, 16)[0], "copy 16 host gpu0 migration", "nine and this one");
    assert_eq!(node.read(0, 32)[0], "map gpu0 32 -> host ro", "eight and this one");
}

#[test]
fn faults_on_the_same_64_kib_are_in_order() {
    let mut node = node(r#"{"when": "irregular"}"#, 2);
    [0, 16, 17, 32].into_iter().for_each(|page| drop(node.read(0, page)));
    let last = node.read(0, 48);
    assert!(last.iter().any(|step| step.contains("copy 48 host")), "{last:?}");
}
