//! How the uniform schemes treat the same few faults, step by step.

use crate::common::{Node, fault, placement};
use octavo_manager::{
    Access, Allocation, Event, HOST_MEMORY, Manager, MemoryId, MemoryMask, PageId, PageRun, Plan, Prefix, ProcessorId,
    Refusal, Step, Topology, Why,
};
use octavo_units::Time;

#[test]
fn on_touch_moves_a_page_to_whoever_touches_it() {
    let mut node = Node::new(&placement("on-touch", "{}"));
    assert_eq!(
        node.read(0, 7),
        ["copy 7 host gpu0 migration", "release host 7", "map gpu0 7 -> gpu0 rw", "wake gpu0 7"]
    );
    let moves =
        ["drain gpu0 7", "invalidate gpu0 7", "copy 7 gpu0 gpu1 migration", "release gpu0 7", "map gpu1 7 -> gpu1 rw"];
    assert_eq!(node.write(1, 7), [&moves[..], &["wake gpu1 7"]].concat());
    assert_eq!(node.read(1, 7), ["wake gpu1 7"], "a fault on a mapped page is stale");
    let statistics = node.manager.statistics();
    assert_eq!((statistics.far_faults, statistics.cold_faults, statistics.stale_faults), (2, 1, 1));
}

#[test]
fn first_touch_pins() {
    let mut node = Node::new(&placement("first-touch", "{}"));
    node.read(0, 7);
    assert_eq!(node.write(1, 7), ["map gpu1 7 -> gpu0 rw", "wake gpu1 7"]);
    assert_eq!(node.manager.page(PageId(7)).owner, MemoryId::gpu(0));
}

#[test]
fn duplication_replicates_for_readers_and_collapses_for_a_writer() {
    let mut node = Node::new(&placement("duplication", "{}"));
    assert_eq!(
        node.read(0, 7),
        ["copy 7 host gpu0 migration", "release host 7", "map gpu0 7 -> gpu0 rw", "wake gpu0 7"]
    );
    let second = ["protect gpu0 7", "copy 7 gpu0 gpu1 duplication", "map gpu1 7 -> gpu1 ro", "wake gpu1 7"];
    assert_eq!(node.read(1, 7), second);
    let collapse = ["invalidate gpu0+gpu1 7", "release gpu0 7", "map gpu1 7 -> gpu1 rw", "wake gpu1 7"];
    assert_eq!(node.write(1, 7), collapse);
    assert_eq!(node.manager.page(PageId(7)).resident, MemoryMask::only(MemoryId::gpu(1)));
    let statistics = node.manager.statistics();
    assert_eq!((statistics.duplications, statistics.collapses, statistics.protection_faults), (1, 1, 1));
}

#[test]
fn a_writer_without_a_replica_gets_the_owners_copy() {
    let mut node = Node::with(&placement("duplication", "{}"), &Topology::unlimited(3));
    node.read(0, 7);
    node.read(1, 7);
    let collapse = [
        "invalidate gpu0+gpu1 7",
        "copy 7 gpu0 gpu2 collapse",
        "release gpu0 7",
        "release gpu1 7",
        "map gpu2 7 -> gpu2 rw",
        "wake gpu2 7",
    ];
    assert_eq!(node.write(2, 7), collapse);
}

#[test]
fn a_downgrade_can_be_made_to_drain() {
    let mut node = Node::new(&placement("duplication", r#"{"downgrade_drain": true}"#));
    node.read(0, 7);
    assert_eq!(node.read(1, 7)[..2], ["drain gpu0 7", "protect gpu0 7"]);
}

#[test]
fn a_read_of_a_host_page_can_leave_the_host_its_copy() {
    let mut node = Node::new(&placement("duplication", r#"{"host_replicas": true}"#));
    assert_eq!(node.read(0, 7), ["copy 7 host gpu0 duplication", "map gpu0 7 -> gpu0 ro", "wake gpu0 7"]);
    assert_eq!(node.read(1, 7)[0], "copy 7 host gpu1 duplication");
    let released = |steps: &[String], holder: &str| steps.iter().any(|step| *step == format!("release {holder} 7"));
    let collapse = node.write(0, 7);
    assert!(released(&collapse, "gpu1") && released(&collapse, "host"), "{collapse:?}");
    assert_eq!(node.read(1, 7).iter().find(|step| step.starts_with("copy")).unwrap(), "copy 7 gpu0 gpu1 duplication");
}

#[test]
fn a_sole_read_only_copy_is_upgraded_without_a_copy() {
    let topology = Topology::of(vec![2, 1]);
    let mut node = Node::with(&placement("duplication", "{}"), &topology);
    node.read(0, 7);
    node.read(1, 7);
    let evicts = ["invalidate gpu1 7", "release gpu1 7", "copy 8 host gpu1 migration"];
    assert_eq!(node.read(1, 8)[..3], evicts);
    assert_eq!(node.write(0, 7), ["map gpu0 7 -> gpu0 rw", "wake gpu0 7"]);
    assert_eq!(node.manager.statistics().upgrades, 1);
}

#[test]
fn ideal_is_local_everywhere_after_one_copy_and_needs_no_room() {
    let topology = Topology::of(vec![1, 1]);
    let mut node = Node::with(&placement("ideal", "{}"), &topology);
    assert!(node.manager.needs().free_store_faults);
    for page in 0..4 {
        let steps = node.read(0, page);
        let expected = [
            format!("copy {page} host gpu0 migration"),
            format!("release host {page}"),
            format!("map gpu0+gpu1 {page} -> own rw"),
            format!("wake gpu0 {page}"),
        ];
        assert_eq!(steps, expected);
        assert_eq!(node.write(1, page), [format!("wake gpu1 {page}")]);
    }
    assert_eq!(node.manager.frames_held(MemoryId::gpu(0)), 0);
}

#[test]
fn the_page_serviced_least_recently_is_written_back() {
    let topology = Topology::of(vec![2, 2]);
    let mut node = Node::with(&placement("on-touch", "{}"), &topology);
    node.read(0, 1);
    node.read(0, 2);
    let evicts = [
        "drain gpu0 1",
        "invalidate gpu0 1",
        "copy 1 gpu0 host eviction",
        "release gpu0 1",
        "copy 3 host gpu0 migration",
    ];
    assert_eq!(node.read(0, 3)[..5], evicts);
    assert_eq!(node.manager.page(PageId(1)).owner, HOST_MEMORY);
}

/// A manager whose plans the test acknowledges.
fn manager(capacity: u32) -> Manager {
    let topology = Topology::of(vec![capacity; 2]);
    let mut manager = Manager::new(&placement("on-touch", "{}"), &topology).unwrap();
    manager.handle(Time::ZERO, Event::Allocate(PageRun { first: PageId(0), count: 16 }.into()), &mut Vec::new());
    manager
}

fn touch(manager: &mut Manager, gpu: usize, page: u32) -> Vec<Plan> {
    let mut plans = Vec::new();
    manager.handle(Time::ZERO, Event::Faults(&[fault(gpu, page, Access::Read)]), &mut plans);
    manager.check().unwrap();
    plans
}

#[test]
fn a_fault_on_a_busy_page_waits_for_the_plan() {
    let mut manager = manager(4);
    let first = touch(&mut manager, 0, 5);
    assert!(touch(&mut manager, 1, 5).is_empty());
    let mut plans = Vec::new();
    manager.complete(Time::ZERO, first[0].id, &mut plans);
    assert_eq!(plans.len(), 1);
    assert!(matches!(plans[0].steps.last(), Some(Step::Wake { processor, .. }) if *processor == ProcessorId::gpu(1)));
}

#[test]
fn a_plan_of_which_nothing_is_done_leaves_no_trace_and_wakes_everyone() {
    let mut manager = manager(1);
    let first = touch(&mut manager, 0, 5);
    manager.complete(Time::ZERO, first[0].id, &mut Vec::new());
    let before = [5, 6].map(|page| manager.page(PageId(page)));
    let second = touch(&mut manager, 0, 6);
    assert!(touch(&mut manager, 1, 5).is_empty(), "the victim is busy");
    let mut plans = Vec::new();
    manager.fail(Time::ZERO, &second[0], Refusal { done: Prefix::NONE, why: Why::Again }, &mut plans);
    manager.check().unwrap();
    let after = [5, 6].map(|page| manager.page(PageId(page)));
    assert_eq!(before.map(|view| (view.owner, view.mapped)), after.map(|view| (view.owner, view.mapped)));
    let woken: Vec<String> = plans[0].steps.iter().map(crate::common::show).collect();
    assert_eq!(woken, ["wake gpu0 6", "wake gpu1 5"]);
}

#[test]
fn a_fault_waits_for_room_until_a_plan_is_done() {
    let mut manager = manager(1);
    let first = touch(&mut manager, 0, 5);
    assert!(touch(&mut manager, 0, 6).is_empty());
    assert_eq!(manager.statistics().faults_without_room, 1);
    let mut plans = Vec::new();
    manager.complete(Time::ZERO, first[0].id, &mut plans);
    let steps: Vec<String> = plans[0].steps.iter().map(crate::common::show).collect();
    assert_eq!(steps[2..5], ["copy 5 gpu0 host eviction", "release gpu0 5", "copy 6 host gpu0 migration"]);
}

#[test]
fn plans_say_which_of_their_steps_make_room() {
    let topology = Topology::of(vec![2, 1]);
    let mut manager = Manager::new(&placement("duplication", "{}"), &topology).unwrap();
    manager.handle(Time::ZERO, Event::Allocate(PageRun { first: PageId(0), count: 16 }.into()), &mut Vec::new());
    let mut room = |event: Event<'_>| {
        let mut plans = Vec::new();
        manager.handle(Time::ZERO, event, &mut plans);
        manager.work_ahead(Time::ZERO, &mut plans);
        let Plan { id, room_steps, ref steps, .. } = plans[0];
        manager.complete(Time::ZERO, id, &mut Vec::new());
        steps[..room_steps as usize].iter().map(crate::common::show).collect::<Vec<_>>()
    };
    let mut read = |gpu, page| room(Event::Faults(&[fault(gpu, page, Access::Read)]));
    assert!(read(0, 7).is_empty());
    assert!(read(1, 7).is_empty());
    assert_eq!(read(1, 8), ["invalidate gpu1 7", "release gpu1 7"], "a replica is dropped");
    assert_eq!(
        read(1, 9),
        ["drain gpu1 8", "invalidate gpu1 8", "copy 8 gpu1 host eviction", "release gpu1 8"],
        "a sole copy"
    );
    let shrunk = room(Event::Capacity { memory: MemoryId::gpu(1), pages: 0 });
    assert_eq!(
        shrunk,
        ["drain gpu1 9", "invalidate gpu1 9", "copy 9 gpu1 host eviction", "release gpu1 9"],
        "nothing but evictions"
    );
}

#[test]
fn a_smaller_capacity_evicts_what_is_too_much() {
    let mut node = Node::new(&placement("on-touch", "{}"));
    for page in 0..4 {
        node.read(0, page);
    }
    let steps = node.event(Event::Capacity { memory: MemoryId::gpu(0), pages: 1 });
    assert_eq!(steps, ["drain gpu0 0x3", "invalidate gpu0 0x3", "copy 0x3 gpu0 host eviction", "release gpu0 0x3"]);
    node.event(Event::Capacity { memory: MemoryId::gpu(0), pages: 0 });
    assert_eq!(node.read(0, 9), ["map gpu0 9 -> host rw", "wake gpu0 9"], "no memory at all: mapped where it is");
}

#[test]
fn freed_memory_makes_room() {
    let topology = Topology::of(vec![1, 1]);
    let mut node = Node::with(&placement("on-touch", "{}"), &topology);
    node.read(0, 3);
    node.event(Event::Free(PageRun { first: PageId(0), count: 8 }));
    assert_eq!(node.read(0, 9)[0], "copy 9 host gpu0 migration");
    node.event(Event::Allocate(PageRun { first: PageId(2), count: 4 }.into()));
    assert_eq!(node.read(1, 3)[0], "copy 3 host gpu1 migration");
}

/// Three GPUs and no pages any more.
fn dealt() -> Node {
    let mut node = Node::with(&placement("interleaved", r#"{"first_gpu": 1}"#), &Topology::unlimited(3));
    node.event(Event::Free(PageRun { first: PageId(0), count: 2048 }));
    node
}

/// Which GPUs these pages come to.
fn owners(node: &mut Node, pages: &[u32]) -> Vec<usize> {
    pages.iter().for_each(|&page| _ = node.read(0, page));
    let owners = pages.iter().map(|&page| node.manager.page(PageId(page)).owner);
    owners.map(|owner| owner.gpu_index().expect("on a GPU")).collect()
}

/// 2048 pages were dealt before: two more than whole turns.
#[test]
fn interleaved_goes_on_with_each_allocation_and_remembers_those_below_and_above() {
    let mut node = dealt();
    for (first, count) in [(4000, 2), (3001, 4), (5000, 1)] {
        node.event(Event::Allocate(PageRun { first: PageId(first), count }.into()));
    }
    assert_eq!(owners(&mut node, &[4000, 4001]), [2, 0]);
    assert_eq!(owners(&mut node, &[3001, 3002, 3003, 3004]), [1, 2, 0, 1]);
    assert_eq!(owners(&mut node, &[5000]), [2]);
}

#[test]
fn interleaved_pages_have_their_place_whatever_is_freed_beside_them() {
    let mut node = dealt();
    for (first, count) in [(3001, 10), (4000, 3)] {
        node.event(Event::Allocate(PageRun { first: PageId(first), count }.into()));
    }
    // Page 3001 is GPU 2's, 3011 would be GPU 0's and page 4000 is.
    node.event(Event::Free(PageRun { first: PageId(3001), count: 2 }));
    node.event(Event::Free(PageRun { first: PageId(3005), count: 2 }));
    assert_eq!(owners(&mut node, &[3003, 3004, 3007, 3008, 3009, 3010]), [1, 2, 2, 0, 1, 2]);
    assert_eq!(owners(&mut node, &[4000, 4001, 4002]), [0, 1, 2]);
}

#[test]
fn interleaved_has_pages_where_the_program_asked_for_them() {
    let mut node = dealt();
    let run = PageRun { first: PageId(3001), count: 3 };
    node.event(Event::Allocate(Allocation { gpu: Some(ProcessorId::gpu(1)), ..run.into() }));
    node.event(Event::Free(PageRun::one(PageId(3001))));
    assert_eq!(owners(&mut node, &[3002, 3003]), [1, 1]);
}
