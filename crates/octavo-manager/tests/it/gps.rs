//! GPS: who subscribes, who is unsubscribed, and how stores are broadcast.

use crate::common::{Node, placement};
use octavo_manager::{Advice, Event, HOST_MEMORY, MemoryId, Mode, PageId, PageRun, ProcessorMask, Topology};

fn gps() -> Node {
    Node::with(&placement("gps", "{}"), &Topology::unlimited(3))
}

#[test]
fn the_first_subscriber_is_alone_and_the_second_makes_both_broadcast() {
    let mut node = gps();
    assert_eq!(
        node.write(0, 7),
        ["copy 7 host gpu0 migration", "release host 7", "map gpu0 7 -> gpu0 rw", "wake gpu0 7"]
    );
    let second = [
        "drain gpu0 7",
        "invalidate gpu0 7",
        "copy 7 gpu0 gpu1 duplication",
        "map gpu0+gpu1 7 -> own rw broadcast",
        "wake gpu1 7",
    ];
    assert_eq!(node.read(1, 7), second);
    let third = node.write(2, 7);
    assert_eq!(third[..2], ["drain gpu0+gpu1 7", "invalidate gpu0+gpu1 7"]);
    assert_eq!(node.manager.page(PageId(7)).mode, Mode::Broadcast);
    assert_eq!(node.manager.page(PageId(7)).writable, ProcessorMask::all_gpus(3));
}

#[test]
fn replicas_made_by_stores_are_given_up_after_the_first_kernel_in_runs() {
    let mut node = gps();
    for page in 4..8 {
        node.read(0, page);
        node.write(1, page);
    }
    let steps = ["drain gpu1 4x4", "invalidate gpu1 4x4", "release gpu1 4x4", "map gpu0 4x4 -> gpu0 rw"];
    assert_eq!(node.event(crate::common::kernel_end(2)), steps);
    assert_eq!(node.write(1, 4), ["map gpu1 4 -> gpu0 rw", "wake gpu1 4"], "stores go to the owner");
    assert_eq!(node.read(1, 5)[2], "copy 5 gpu0 gpu1 duplication", "a load subscribes again");
    assert!(node.event(crate::common::kernel_end(2)).is_empty(), "only once");
    assert_eq!(node.manager.statistics().unsubscribed, 4);
}

#[test]
fn a_store_without_a_replica_is_broadcast_from_the_owner() {
    let mut node = gps();
    node.read(0, 4);
    node.read(1, 4);
    node.write(2, 4);
    node.event(crate::common::kernel_end(2));
    assert_eq!(node.write(2, 4), ["map gpu2 4 -> gpu0 rw broadcast", "wake gpu2 4"]);
    assert_eq!(node.manager.page(PageId(4)).resident.len(), 2);
}

#[test]
fn the_last_replica_left_by_evictions_is_mapped_directly() {
    let topology = Topology::of(vec![1, 4]);
    let mut node = Node::with(&placement("gps", "{}"), &topology);
    node.read(0, 4);
    node.read(1, 4);
    let steps = ["drain gpu0 4", "invalidate gpu0 4", "release gpu0 4", "map gpu1 4 -> gpu1 rw"];
    assert_eq!(node.read(0, 5)[..4], steps);
    assert_eq!(node.manager.page(PageId(4)).mode, Mode::Plain);
    assert_eq!(node.manager.page(PageId(4)).owner, MemoryId::gpu(1));
    assert_ne!(node.manager.page(PageId(5)).owner, HOST_MEMORY);
}

/// Two GPUs have replicas of page 4, and a third stores to it from afar.
fn two_replicas_and_a_stranger(capacity: &[u32]) -> Node {
    let mut node = Node::with(&placement("gps", "{}"), &Topology::of(capacity.to_vec()));
    node.read(0, 4);
    node.read(1, 4);
    node.write(2, 4);
    node.event(crate::common::kernel_end(3));
    node.write(2, 4);
    node
}

#[test]
fn who_stores_from_afar_loses_its_mapping_with_the_copy_of_the_owner_alone() {
    let mut node = two_replicas_and_a_stranger(&[4, 1, 4]);
    let replica = ["drain gpu1 4", "invalidate gpu1 4", "release gpu1 4", "map gpu0+gpu2 4 -> gpu0 rw"];
    assert_eq!(node.read(1, 5)[..4], replica);
    let mut node = two_replicas_and_a_stranger(&[1, 4, 4]);
    let owner = ["drain gpu0+gpu2 4", "invalidate gpu0+gpu2 4", "release gpu0 4", "map gpu1 4 -> gpu1 rw"];
    assert_eq!(node.read(0, 5)[..4], owner);
}

#[test]
fn every_replica_that_is_given_up_counts() {
    let mut node = gps();
    for page in 4..8 {
        node.read(0, page);
        (1..3).for_each(|gpu| _ = node.write(gpu, page));
    }
    node.event(crate::common::kernel_end(3));
    assert_eq!(node.manager.statistics().unsubscribed, 2 * 4);
}

#[test]
fn a_page_leaves_a_coherent_host_for_its_first_subscriber() {
    let mut node = Node::with(&placement("gps", "{}"), &Topology::unlimited(2).coherent());
    let lines = ["copy 7 host gpu0 migration", "release host 7", "map gpu0 7 -> gpu0 rw", "wake gpu0 7"];
    assert_eq!(node.write(0, 7), lines);
}

#[test]
fn a_page_that_is_allocated_anew_has_no_readers_yet() {
    let mut node = gps();
    (0..2).for_each(|gpu| _ = node.read(gpu, 4));
    let pages = PageRun { first: PageId(0), count: 2048 };
    node.event(Event::Free(pages));
    node.event(Event::Allocate(pages.into()));
    node.read(0, 4);
    node.write(1, 4);
    let steps = ["drain gpu1 4", "invalidate gpu1 4", "release gpu1 4", "map gpu0 4 -> gpu0 rw"];
    assert_eq!(node.event(crate::common::kernel_end(2)), steps);
}

#[test]
fn replicas_of_pages_that_are_mostly_read_stay() {
    let mut node = gps();
    let advice = Advice { read_mostly: true, ..Advice::default() };
    node.event(Event::Advise { pages: PageRun::one(PageId(4)), advice });
    (0..2).for_each(|gpu| _ = node.read(gpu, 4));
    let replicas = node.manager.page(PageId(4)).resident;
    assert!(replicas.contains(MemoryId::gpu(0)) && replicas.contains(MemoryId::gpu(1)));
    assert!(node.event(crate::common::kernel_end(2)).is_empty());
    assert_eq!(node.manager.page(PageId(4)).resident, replicas);
}

#[test]
fn a_gpu_that_had_a_replica_by_advice_subscribes_when_it_stores() {
    let mut node = gps();
    let advise = |read_mostly| {
        let advice = Advice { read_mostly, ..Advice::default() };
        Event::Advise { pages: PageRun::one(PageId(4)), advice }
    };
    node.event(advise(true));
    (0..2).for_each(|gpu| _ = node.read(gpu, 4));
    node.event(crate::common::kernel_end(2));
    node.event(advise(false));
    node.write(1, 4);
    assert_eq!(node.manager.page(PageId(4)).owner, MemoryId::gpu(1), "it gave up nothing, and so gets the page");
}
