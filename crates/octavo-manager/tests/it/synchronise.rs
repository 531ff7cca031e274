//! Which pages go home when the host waits for the GPUs, and which of them come again.

use std::collections::BTreeSet;

use octavo_manager::{Accessed, Event, MemoryConfig, PageId, Plan, ProcessorId, SpaceId, Synchronisation, Topology};
use octavo_units::Time;
use proptest::prelude::*;

use crate::common::{Node, choice, placement, show};

fn accessed(gpu: usize, page: u32, stores: bool) -> Accessed {
    Accessed { processor: ProcessorId::gpu(gpu), page: PageId(page), times: 1, stores }
}

fn node(synchronisation: Synchronisation, capacity: u32) -> Node {
    let config = MemoryConfig { synchronisation, ..placement("on-touch", "{}") };
    Node::with(&config, &Topology::of(vec![capacity]))
}

const WAIT: Event<'static> = Event::Synchronise(SpaceId(0));

#[test]
fn written_pages_go_home_and_read_ones_stay() {
    let mut node = node(Synchronisation::DirtyHome, 8);
    [3, 4, 5].into_iter().for_each(|page| drop(node.write(0, page)));
    node.manager.note_accesses(&[accessed(0, 3, true), accessed(0, 4, false), accessed(0, 5, true)]);
    let left = node.event(WAIT);
    assert_eq!(
        left,
        ["drain gpu0 3", "invalidate gpu0 3", "copy 3 gpu0 host migration", "release gpu0 3"]
            .into_iter()
            .chain(["drain gpu0 5", "invalidate gpu0 5", "copy 5 gpu0 host migration", "release gpu0 5"])
            .collect::<Vec<_>>()
    );
    assert_eq!(node.manager.statistics().synchronised, 2);
    assert!(node.event(WAIT).is_empty(), "what is at home stays there");
    node.read(0, 3);
    assert!(node.event(WAIT).is_empty(), "what came back was not written since");
    assert_eq!(node.manager.statistics().thrashed, 0, "it did not leave because memory was full");
}

#[test]
fn written_pages_of_a_block_go_home_together() {
    let mut node = node(Synchronisation::DirtyHome, 8);
    let pages = [3, 4, 600];
    pages.into_iter().for_each(|page| drop(node.write(0, page)));
    node.manager.note_accesses(&pages.map(|page| accessed(0, page, true)));
    let mut plans = Vec::new();
    node.manager.handle(Time::ZERO, WAIT, &mut plans);
    let copies = |plan: &Plan| plan.steps.iter().map(show).find(|step| step.starts_with("copy")).unwrap();
    assert_eq!(
        plans.iter().map(copies).collect::<Vec<_>>(),
        ["copy 3x2 gpu0 host migration", "copy 600 gpu0 host migration"]
    );
}

#[test]
fn what_is_written_stays_unless_that_is_asked_for() {
    let mut node = node(Synchronisation::Stay, 8);
    node.write(0, 3);
    node.manager.note_accesses(&[accessed(0, 3, true)]);
    assert!(!node.manager.wants_accesses() && node.event(WAIT).is_empty());
}

#[test]
fn pages_of_others_stay() {
    let mut node = node(Synchronisation::DirtyHome, 8);
    node.write(0, 3);
    node.manager.note_accesses(&[accessed(0, 3, true)]);
    assert!(node.event(Event::Synchronise(SpaceId(1))).is_empty());
}

#[test]
fn a_replica_that_comes_again_counts() {
    let config = placement("duplication", "{}");
    let mut node = Node::with(&config, &Topology::of(vec![8, 1]));
    node.read(0, 1);
    [1, 2, 1].into_iter().for_each(|page| drop(node.read(1, page)));
    assert_eq!(node.manager.statistics().evictions_dropped, 1);
    assert_eq!(node.manager.statistics().thrashed, 1);
}

#[test]
fn a_page_that_comes_again_counts() {
    let mut node = node(Synchronisation::Stay, 1);
    [1, 2, 1, 2].into_iter().for_each(|page| drop(node.write(0, page)));
    let statistics = node.manager.statistics();
    assert_eq!((statistics.evictions_written, statistics.thrashed), (3, 2));
}

proptest! {
    /// Against what the plans say: pages that an eviction copied to the host, and that are copied to the GPU again.
    #[test]
    fn pages_that_come_again_are_those_that_left(
        pages in prop::collection::vec((0..200u32, any::<bool>()), 1..200),
        capacity in 1..64u32,
        eviction in prop::sample::select(vec!["lru-page", "lru-block", "sequential-local", "tree-neighborhood"]),
        waits in any::<bool>(),
    ) {
        let synchronisation = if waits { Synchronisation::DirtyHome } else { Synchronisation::Stay };
        let config = MemoryConfig {
            synchronisation,
            prefetch: choice("sequential-local", "{}"),
            eviction: choice(eviction, "{}"),
            ..placement("on-touch", "{}")
        };
        let mut node = Node::with(&config, &Topology::of(vec![capacity]));
        let (mut gone, mut again) = (BTreeSet::new(), 0u64);
        for (number, &(page, stores)) in pages.iter().enumerate() {
            let mut lines = node.read(0, page);
            node.manager.note_accesses(&[accessed(0, page, stores)]);
            if number % 16 == 15 {
                lines.extend(node.event(WAIT));
            }
            for line in lines.iter().filter(|line| line.starts_with("copy")) {
                let words: Vec<&str> = line.split(' ').collect();
                let (first, count) = words[1].split_once('x').unwrap_or((words[1], "1"));
                let first: u32 = first.parse().unwrap();
                for page in first..first + count.parse::<u32>().unwrap() {
                    match (words[3], words[4]) {
                        ("host", "eviction") => drop(gone.insert(page)),
                        ("gpu0", _) => again += u64::from(gone.remove(&page)),
                        _ => {}
                    }
                }
            }
        }
        prop_assert_eq!(node.manager.statistics().thrashed, again);
        prop_assert!(waits || node.manager.statistics().synchronised == 0);
    }
}
