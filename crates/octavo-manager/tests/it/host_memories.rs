//! A host of several memories, by hand.

use crate::common::{Node, placement};
use octavo_manager::{Allocation, Event, Kind, Manager, MemoryConfig, MemoryId, MemorySpec, PageId, PageRun, Topology};
use octavo_units::Time;

/// One GPU with this many pages, and this many memories of the host.
fn topology(gpu: u32, hosts: &[u32]) -> Topology {
    let mut topology = Topology::of(vec![gpu]);
    topology.memories[0].capacity_pages = hosts[0];
    let further = hosts[1..].iter().zip(1..);
    topology
        .memories
        .extend(further.map(|(&capacity_pages, at)| MemorySpec { id: MemoryId::host(at), capacity_pages }));
    topology
}

fn allocate(manager: &mut Manager, first: u32, count: u32, kind: Kind) -> Vec<octavo_manager::Plan> {
    let run = PageRun { first: PageId(first), count };
    let mut plans = Vec::new();
    manager.handle(Time::ZERO, Event::Allocate(Allocation { kind, ..run.into() }), &mut plans);
    plans
}

fn held(manager: &Manager) -> Vec<(String, u32)> {
    manager.memories().map(|memory| (memory.to_string(), manager.frames_held(memory))).collect()
}

#[test]
fn allocations_fill_one_memory_after_another_and_leave_them_when_they_go() {
    let mut manager = Manager::new(&MemoryConfig::default(), &topology(4, &[3, 2, 9])).unwrap();
    allocate(&mut manager, 0, 2, Kind::Managed);
    for plan in allocate(&mut manager, 512, 6, Kind::Pinned) {
        manager.complete(Time::ZERO, plan.id, &mut Vec::new());
    }
    let owners: Vec<_> = (512..518).map(|page| manager.page(PageId(page)).owner.host_index()).collect();
    assert_eq!(owners, [0, 1, 1, 2, 2, 2].map(Some));
    let expected = [("host", 3), ("gpu0", 0), ("host1", 2), ("host2", 3)];
    assert_eq!(held(&manager), expected.map(|(name, frames)| (name.to_owned(), frames)));
    manager.handle(Time::ZERO, Event::Free(PageRun { first: PageId(512), count: 6 }), &mut Vec::new());
    assert_eq!(held(&manager).iter().map(|(_, frames)| frames).sum::<u32>(), 2);
    manager.check().unwrap();
}

#[test]
fn a_page_stays_in_the_hosts_memory_where_it_is() {
    let mut node = Node::with(&placement("on-touch", "{}"), &topology(1, &[2, 3000]));
    // `Node` allocates its pages one after another: pages 0 and 1 are in the first memory.
    assert_eq!(node.write(0, 2)[..2], ["copy 2 host1 gpu0 migration", "release host1 2"]);
    // Page 2 goes back to the nearest memory with room, which is the second: nobody left the first.
    let steps = node.write(0, 0);
    assert!(steps.contains(&"copy 2 gpu0 host1 eviction".to_owned()), "{steps:?}");
    // Now the first has room for what comes next.
    let steps = node.write(0, 5);
    assert!(steps.contains(&"copy 0 gpu0 host eviction".to_owned()), "{steps:?}");
}

#[test]
fn what_finds_no_room_on_the_host_is_out_of_memory() {
    let mut manager = Manager::new(&MemoryConfig::default(), &topology(4, &[3, 2])).unwrap();
    allocate(&mut manager, 0, 6, Kind::Managed);
    let out = manager.out_of_memory().unwrap();
    assert_eq!((out.memory, out.page), (MemoryId::host(0), PageId(5)));
    let mut manager = Manager::new(&MemoryConfig::default(), &topology(4, &[3, 2])).unwrap();
    allocate(&mut manager, 512, 6, Kind::Pinned);
    assert_eq!(manager.out_of_memory().unwrap().memory, MemoryId::host(0));
    manager.check().unwrap();
}

#[test]
fn victims_need_room_on_the_host_before_their_successors_leave_it() {
    // Two pages on a host of two, one frame on the GPU: page 0 can come, but page 1 cannot take its place, for page 0
    // finds a free frame on the host; once it is full, nothing can be exchanged.
    let mut manager = Manager::new(&MemoryConfig::default(), &topology(1, &[2])).unwrap();
    allocate(&mut manager, 0, 2, Kind::Managed);
    let mut plans = Vec::new();
    for page in [0, 1] {
        let fault = crate::common::fault(0, page, octavo_manager::Access::Write);
        manager.handle(Time::ZERO, Event::Faults(&[fault]), &mut plans);
        plans.drain(..).for_each(|plan| manager.complete(Time::ZERO, plan.id, &mut Vec::new()));
    }
    assert!(manager.out_of_memory().is_none(), "page 0 left a free frame behind");
    allocate(&mut manager, 2, 1, Kind::Managed);
    let fault = crate::common::fault(0, 0, octavo_manager::Access::Write);
    manager.handle(Time::ZERO, Event::Faults(&[fault]), &mut plans);
    assert!(plans.is_empty());
    assert_eq!(manager.out_of_memory().map(|out| (out.memory, out.page)), Some((MemoryId::host(0), PageId(0))));
    manager.check().unwrap();
}
