//! The results of decisions that no registered placement takes about a page in that state, and of homes.

use crate::common::{Node, fault, placement};
use octavo_manager::{
    Access, Cause, Context, Decision, EVICTIONS, Event, Fault, Geometry, HOST, Manager, MemoryId, MemoryMask,
    PREFETCHERS, PageId, PageView, Placement, ProcessorId, ProcessorMask, Reach, Topology,
};
use octavo_registry::Choice;
use octavo_units::{Bytes, Time};

const GPU0: ProcessorId = ProcessorId::gpu(0);
const GPU2: ProcessorId = ProcessorId::gpu(2);

/// Decides by the fault alone.
struct Rule(fn(&Fault) -> Decision);

impl Placement for Rule {
    fn on_fault(&mut self, fault: &Fault, _page: &PageView, _context: &mut Context<'_>) -> Decision {
        self.0(fault)
    }
}

fn node(topology: &Topology, rule: fn(&Fault) -> Decision) -> Node {
    let geometry = Geometry { gpus: topology.gpus(), page_size: Bytes(4096) };
    let prefetch = PREFETCHERS.build(&Choice::named("none"), &geometry).unwrap();
    let eviction = EVICTIONS.build(&Choice::named("lru-page"), &geometry).unwrap();
    Node::of(Manager::with_strategies(geometry, topology, Box::new(Rule(rule)), prefetch, eviction).unwrap())
}

/// The first two GPUs replicate, and whoever comes third is served as decided.
fn replicated(topology: &Topology, rule: fn(&Fault) -> Decision) -> Node {
    let mut node = node(topology, rule);
    node.read(0, 3);
    node.read(1, 3);
    assert_eq!(node.manager.page(PageId(3)).resident, MemoryMask::all_gpus(2));
    node
}

fn on_host(page: u32) -> Fault {
    Fault { processor: HOST, page: PageId(page), access: Access::Read }
}

fn duplicate_but_for(fault: &Fault, third: ProcessorId, decision: Decision) -> Decision {
    if fault.processor == third { decision } else { Decision::Duplicate { drain: false } }
}

/// The account for the time of a fault.
fn cause(node: &mut Node, fault: Fault) -> Cause {
    let mut plans = Vec::new();
    node.manager.handle(Time::ZERO, Event::Faults(&[fault]), &mut plans);
    plans.iter().for_each(|plan| node.manager.complete(Time::ZERO, plan.id, &mut Vec::new()));
    plans[0].cause
}

#[test]
fn a_page_that_is_to_be_everywhere_stays_on_the_host_for_the_host() {
    let mut node = node(&Topology::unlimited(2), |_| Decision::Everywhere);
    assert_eq!(node.event(Event::Faults(&[on_host(5)])), ["map host 5 -> host rw", "wake host 5"]);
}

#[test]
fn a_page_that_is_to_be_everywhere_comes_to_a_host_that_cannot_map_it() {
    let mut node = node(&Topology::unlimited(2), |fault| match fault.processor {
        HOST => Decision::Everywhere,
        _ => Decision::Migrate,
    });
    node.write(0, 3);
    let lines = node.event(Event::Faults(&[on_host(3)]));
    assert_eq!(lines[2..5], ["copy 3 gpu0 host migration", "release gpu0 3", "map host 3 -> host rw"]);
}

#[test]
fn a_page_is_everywhere_by_decree_even_where_gpus_cannot_map_each_others_memory() {
    let own = |index: u8| MemoryMask(1 << index).union(MemoryMask::HOSTS);
    let apart = Topology { reach: Reach::new((0..3).map(own).collect()), ..Topology::unlimited(2) };
    let mut node = node(&apart, |fault| match fault.processor {
        GPU0 => Decision::Migrate,
        _ => Decision::Everywhere,
    });
    node.write(0, 3);
    assert_eq!(node.read(1, 3), ["map gpu0+gpu1 3 -> own rw", "wake gpu1 3"]);
}

#[test]
fn a_page_with_replicas_is_mapped_at_its_owner_before_it_is_everywhere() {
    let mut node = replicated(&Topology::unlimited(3), |fault| duplicate_but_for(fault, GPU2, Decision::Everywhere));
    let lines = ["invalidate gpu0+gpu1 3", "release gpu1 3", "map gpu0+gpu2 3 -> gpu0 rw", "wake gpu2 3"];
    assert_eq!(node.read(2, 3), lines);
}

#[test]
fn a_store_that_ends_replication_is_accounted_to_that_and_a_load_is_not() {
    for (access, expected) in [(Access::Read, Cause::RemoteMap), (Access::Write, Cause::WriteCollapse)] {
        let rule = |fault: &Fault| duplicate_but_for(fault, GPU2, Decision::MapRemote);
        let mut node = replicated(&Topology::unlimited(3), rule);
        assert_eq!(cause(&mut node, fault(2, 3, access)), expected);
        assert_eq!(node.manager.statistics().replicas_left, 1);
    }
}

#[test]
fn only_loads_from_elsewhere_are_mapped_for_reading_alone() {
    let mut node = node(&Topology::unlimited(2), |_| Decision::ReadRemote);
    assert_eq!(node.read(0, 3), ["map gpu0 3 -> host ro", "wake gpu0 3"]);
    assert_eq!(node.manager.statistics().remote_maps, 1);
    assert_eq!(node.write(0, 4), ["map gpu0 4 -> host rw", "wake gpu0 4"]);
    assert_eq!(node.event(Event::Faults(&[on_host(5)])), ["map host 5 -> host rw", "wake host 5"], "its own memory");
    assert_eq!(node.manager.statistics().remote_maps, 2);
}

#[test]
fn a_load_that_is_to_be_mapped_ends_replication() {
    let mut node = replicated(&Topology::unlimited(3), |fault| duplicate_but_for(fault, GPU2, Decision::ReadRemote));
    node.read(2, 3);
    let page = node.manager.page(PageId(3));
    assert_eq!((page.resident, page.writable), (MemoryMask::only(GPU0.memory()), ProcessorMask::only(GPU0).with(GPU2)));
}

#[test]
fn a_store_to_a_page_that_is_to_be_replicated_leaves_one_copy() {
    let mut node = node(&Topology::unlimited(2), |_| Decision::Replicate);
    node.read(0, 3);
    assert_eq!(node.manager.page(PageId(3)).resident.len(), 2, "the host keeps its copy");
    node.write(1, 3);
    let page = node.manager.page(PageId(3));
    let writer = ProcessorId::gpu(1);
    assert_eq!((page.resident, page.writable), (MemoryMask::only(writer.memory()), ProcessorMask::only(writer)));
}

#[test]
fn a_page_with_replicas_goes_to_who_touches_it_and_not_where_it_is_wanted() {
    let rule = |fault: &Fault| duplicate_but_for(fault, GPU2, Decision::To(GPU0.memory()));
    let mut node = replicated(&Topology::unlimited(3), rule);
    node.write(2, 3);
    assert_eq!(node.manager.page(PageId(3)).resident, MemoryMask::only(GPU2.memory()));
}

#[test]
fn the_host_stands_in_for_a_gpu_that_lost_its_memory() {
    let mut node = node(&Topology::unlimited(2), |_| Decision::To(MemoryId::gpu(1)));
    assert_eq!(node.read(0, 2)[0], "copy 2 host gpu1 migration");
    node.event(Event::Capacity { memory: MemoryId::gpu(1), pages: 0 });
    assert_eq!(node.read(0, 3), ["map gpu0 3 -> host rw", "wake gpu0 3"]);
    // The same where pages have a home: the even ones on the first GPU, the others on the second.
    let mut dealt = Node::new(&placement("interleaved", r#"{"first_gpu": 1}"#));
    dealt.event(Event::Capacity { memory: MemoryId::gpu(1), pages: 0 });
    assert_eq!(dealt.read(0, 3), ["map gpu0 3 -> host rw", "wake gpu0 3"]);
}

#[test]
fn a_page_that_comes_home_is_a_migration_for_its_gpu_and_a_remote_mapping_for_others() {
    let mut node = Node::new(&placement("interleaved", r#"{"first_gpu": 1}"#));
    assert_eq!(cause(&mut node, fault(1, 3, Access::Write)), Cause::Migration);
    assert_eq!(cause(&mut node, fault(0, 5, Access::Write)), Cause::RemoteMap);
    assert_eq!([3, 5].map(|page| node.manager.page(PageId(page)).owner), [MemoryId::gpu(1); 2]);
}

/// A host that reaches the first GPU and not the second.
fn half_coherent() -> Topology {
    let gpus = MemoryMask::all_gpus(2).union(MemoryMask::HOSTS);
    let host = MemoryMask::only(GPU0.memory()).union(MemoryMask::HOSTS);
    Topology { reach: Reach::new(vec![host, gpus, gpus]), ..Topology::unlimited(2) }
}

#[test]
fn stores_are_broadcast_from_the_owner_only_by_who_reaches_every_replica() {
    let mut node = Node::with(&placement("gps", "{}"), &half_coherent());
    node.read(0, 4);
    node.read(1, 4);
    let lines = node.event(Event::Faults(&[on_host(4)]));
    assert!(lines.contains(&"copy 4 gpu0 host collapse".to_owned()), "{lines:?}");
}

#[test]
fn a_page_is_mapped_by_who_reaches_its_owner_where_replicas_end() {
    let mut node = replicated(&half_coherent(), |fault| duplicate_but_for(fault, HOST, Decision::MapRemote));
    let lines = node.event(Event::Faults(&[on_host(3)]));
    assert_eq!(lines[2..], ["map host+gpu0 3 -> gpu0 rw", "wake host 3"]);
}

#[test]
fn stores_are_broadcast_only_between_gpus_that_reach_each_other() {
    let everything = MemoryMask::all_gpus(2).union(MemoryMask::HOSTS);
    let first = MemoryMask::only(GPU0.memory()).union(MemoryMask::HOSTS);
    let one_way = Topology { reach: Reach::new(vec![MemoryMask::HOSTS, first, everything]), ..Topology::unlimited(2) };
    let mut node = Node::with(&placement("gps", "{}"), &one_way);
    node.write(0, 4);
    let lines = node.read(1, 4);
    assert!(lines.contains(&"copy 4 gpu0 gpu1 migration".to_owned()), "{lines:?}");
}
