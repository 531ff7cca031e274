//! NUMA policies of the operating system's memory, by hand.

use crate::common::{Node, choice};
use octavo_manager::{
    Access, Allocation, CounterNotification, Event, Fault, HOST, HOST_MEMORY, Kind, Manager, MemoryConfig, MemoryId,
    MemorySpec, NumaConfig, NumaPolicy, PageId, PageRun, ProcessorId, SystemConfig, SystemTable, Topology,
};
use octavo_units::Bytes;

const GPU: ProcessorId = ProcessorId::gpu(0);
/// 64 pages of 64 KiB, the first of them an even number.
const PAGES: PageRun = PageRun { first: PageId(3072), count: 64 };

fn memory(policy: NumaPolicy, nodes: &[&str], placement: &str) -> MemoryConfig {
    let numa = NumaConfig { policy, nodes: nodes.iter().map(ToString::to_string).collect() };
    let system = SystemConfig { placement: choice(placement, "{}"), numa, ..SystemConfig::default() };
    MemoryConfig { page_size: Bytes(64 << 10), system, ..MemoryConfig::default() }
}

/// One coherent GPU with this many pages, and this many memories of the host.
fn coherent(gpu: u32, hosts: &[u32]) -> Topology {
    with_hosts(Topology::of(vec![gpu]).coherent(), hosts)
}

fn with_hosts(mut topology: Topology, hosts: &[u32]) -> Topology {
    topology.memories[0].capacity_pages = 2048 + hosts[0]; // beside the pages that `Node` has on the host
    let further = hosts[1..].iter().zip(1..);
    let spec = |(&capacity_pages, at)| MemorySpec { id: MemoryId::host(at), capacity_pages };
    topology.memories.extend(further.map(spec));
    topology
}

fn node(config: &MemoryConfig, topology: &Topology) -> Node {
    let mut node = Node::with(config, topology);
    node.event(Event::Allocate(Allocation { kind: Kind::System, populated: false, ..PAGES.into() }));
    node
}

fn touch(node: &mut Node, processor: ProcessorId, page: u32) -> Vec<String> {
    node.event(Event::Faults(&[Fault { processor, page: PageId(page), access: Access::Write }]))
}

/// The places of two pages that the host touches and then of four that the GPU touches.
fn places(node: &mut Node) -> String {
    (3072..3078).for_each(|page| _ = touch(node, if page < 3074 { HOST } else { GPU }, page));
    let owner = |page| node.manager.page(PageId(page)).owner.to_string();
    (3072..3078).map(owner).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_policy_says_where_pages_come_into_being() {
    use NumaPolicy::{Bind, Interleave, Local, Preferred};
    let found = |policy, nodes: &[&str]| {
        let mut node = node(&memory(policy, nodes, "coherent"), &coherent(9, &[90, 90]));
        let found = places(&mut node);
        node.manager.check().unwrap();
        found
    };
    assert_eq!(found(Local, &[]), "host host gpu0 gpu0 gpu0 gpu0");
    assert_eq!(found(Preferred, &["host"]), "host host host host host host");
    assert_eq!(found(Preferred, &["host1"]), "host1 host1 host1 host1 host1 host1");
    assert_eq!(found(Preferred, &["gpu0"]), "gpu0 gpu0 gpu0 gpu0 gpu0 gpu0");
    assert_eq!(found(Preferred, &["gpu0", "host1"]), "host1 host1 gpu0 gpu0 gpu0 gpu0", "the nearest of them");
    assert_eq!(found(Bind, &["host1", "host"]), "host host host host host host");
    // The GPU's own touches are not dealt out.
    assert_eq!(found(Interleave, &["gpu0", "host"]), "host gpu0 gpu0 gpu0 gpu0 gpu0");
    assert_eq!(found(Interleave, &["host1", "host"]), "host host1 gpu0 gpu0 gpu0 gpu0");
}

#[test]
fn a_full_node_is_passed_over() {
    use NumaPolicy::{Bind, Interleave, Preferred};
    let found = |policy, nodes: &[&str]| {
        let mut node = node(&memory(policy, nodes, "coherent"), &coherent(1, &[90, 1]));
        places(&mut node)
    };
    assert_eq!(found(Preferred, &["gpu0"]), "gpu0 host host host host host");
    assert_eq!(found(Preferred, &["host1"]), "host1 host host host host host");
    assert_eq!(found(Preferred, &["host1", "gpu0"]), "host1 gpu0 host host host host", "all that have room");
    assert_eq!(found(Interleave, &["host1", "gpu0"]), "host1 gpu0 host host host host");
    assert_eq!(found(Bind, &["host1", "gpu0", "host"]), "host host gpu0 host host host");
}

#[test]
fn memory_that_is_bound_runs_out_beside_memory_that_is_free() {
    let config = memory(NumaPolicy::Bind, &["host1", "gpu0"], "coherent");
    let mut node = node(&config, &coherent(1, &[90, 1]));
    assert_eq!(touch(&mut node, HOST, 3072)[0], "populate 3072 host1");
    assert_eq!(touch(&mut node, HOST, 3073)[0], "populate 3073 gpu0");
    assert!(touch(&mut node, HOST, 3074).is_empty());
    assert_eq!(node.manager.out_of_memory().unwrap().page, PageId(3074));
    assert_eq!(node.manager.bound(PageId(3074)), Some(&[MemoryId::host(1), GPU.memory()][..]));
    assert_eq!(node.manager.bound(PageId(0)), None, "managed memory");
}

#[test]
fn memory_that_is_bound_to_a_full_gpu_does_not_go_to_the_host() {
    let mut node = node(&memory(NumaPolicy::Bind, &["gpu0"], "coherent"), &coherent(1, &[90]));
    assert_eq!(touch(&mut node, GPU, 3072)[0], "populate 3072 gpu0");
    assert!(touch(&mut node, GPU, 3073).is_empty());
    assert_eq!(node.manager.out_of_memory().map(|out| (out.memory, out.page)), Some((GPU.memory(), PageId(3073))));
}

#[test]
fn a_full_host_is_out_of_the_memory_that_the_policy_prefers() {
    let mut node = node(&memory(NumaPolicy::Preferred, &["host1"], "coherent"), &coherent(9, &[0, 1]));
    assert_eq!(touch(&mut node, HOST, 3072)[0], "populate 3072 host1");
    assert!(touch(&mut node, HOST, 3073).is_empty());
    assert_eq!(node.manager.out_of_memory().map(|out| (out.memory, out.page)), Some((MemoryId::host(1), PageId(3073))));
}

#[test]
fn counters_do_not_bring_pages_past_a_policy() {
    let moved = |policy, nodes: &[&str]| {
        let mut node = node(&memory(policy, nodes, "coherent"), &coherent(9, &[90, 90]));
        touch(&mut node, HOST, 3072);
        let lines = node.event(Event::Counter(CounterNotification { processor: GPU, page: PageId(3072) }));
        lines.iter().any(|line| line.starts_with("copy"))
    };
    assert!(moved(NumaPolicy::Local, &[]));
    assert!(moved(NumaPolicy::Interleave, &["host", "host1"]));
    assert!(moved(NumaPolicy::Preferred, &["host1", "gpu0"]));
    assert!(!moved(NumaPolicy::Preferred, &["host"]));
    assert!(!moved(NumaPolicy::Bind, &["host"]));
}

#[test]
fn hosts_of_several_memories_have_policies_without_coherence() {
    // A page that the GPU takes and the host takes back goes where the policy says again.
    let places = |policy, nodes: &[&str]| {
        let mut node = node(&memory(policy, nodes, "on-touch"), &with_hosts(Topology::of(vec![9]), &[90, 2]));
        let faults = (3072..3075).flat_map(|page| [(HOST, page), (GPU, page), (HOST, page)]);
        faults.for_each(|(processor, page)| _ = touch(&mut node, processor, page));
        let owner = |page| node.manager.page(PageId(page)).owner.to_string();
        (3072..3075).map(owner).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(places(NumaPolicy::Local, &[]), "host host host");
    assert_eq!(places(NumaPolicy::Preferred, &["host1"]), "host1 host1 host");
    assert_eq!(places(NumaPolicy::Interleave, &["host1", "host"]), "host host1 host");
}

#[test]
fn what_comes_back_passes_over_a_full_node_to_the_next_of_its_policy() {
    let config = memory(NumaPolicy::Preferred, &["host1", "host2"], "on-touch");
    let mut node = node(&config, &with_hosts(Topology::of(vec![9]), &[90, 1, 90]));
    let faults = (3072..3074).flat_map(|page| [(HOST, page), (GPU, page), (HOST, page)]);
    faults.for_each(|(processor, page)| _ = touch(&mut node, processor, page));
    let owners = [3072, 3073].map(|page| node.manager.page(PageId(page)).owner);
    assert_eq!(owners, [MemoryId::host(1), MemoryId::host(2)], "and not to the nearest");
}

#[test]
fn a_turn_of_a_gpu_keeps_no_page_from_the_host() {
    let config = memory(NumaPolicy::Interleave, &["host", "gpu0"], "coherent");
    let mut node = node(&config, &coherent(9, &[90]));
    touch(&mut node, GPU, 3073);
    assert_eq!(node.manager.page(PageId(3073)).owner, GPU.memory());
    node.event(Event::Prefetch { pages: PageRun::one(PageId(3073)), to: HOST_MEMORY });
    assert_eq!(node.manager.page(PageId(3073)).owner, HOST_MEMORY);
}

#[test]
fn a_policy_says_nothing_about_managed_memory() {
    let config = memory(NumaPolicy::Preferred, &["host1"], "coherent");
    let mut node = node(&config, &coherent(9, &[90, 90]));
    node.write(0, 5);
    touch(&mut node, HOST, 5);
    assert_eq!(node.manager.page(PageId(5)).owner, HOST_MEMORY);
    let counting = MemoryConfig { placement: choice("access-counter", "{}"), ..config };
    let mut node = self::node(&counting, &coherent(9, &[90, 90]));
    node.write(0, 5);
    assert_eq!(node.manager.page(PageId(5)).owner, HOST_MEMORY, "mapped where it is");
    node.event(Event::Counter(CounterNotification { processor: GPU, page: PageId(5) }));
    assert_eq!(node.manager.page(PageId(5)).owner, GPU.memory());
}

#[test]
fn what_is_no_node_is_refused_with_those_that_are() {
    let refused = |policy, nodes: &[&str], topology: &Topology| {
        Manager::new(&memory(policy, nodes, "coherent"), topology).err().expect("refused").to_string()
    };
    let found = refused(NumaPolicy::Bind, &["gpu1"], &coherent(9, &[9, 9]));
    let expected = "expected NUMA nodes of this node, host, host1, gpu0, found `gpu1`; did you mean `gpu0`?";
    assert_eq!(found, format!("`system.numa.nodes`: {expected}"));
    let cdmm = Topology { system: SystemTable::Shared { on_gpus: false }, ..Topology::unlimited(1) };
    assert!(refused(NumaPolicy::Bind, &["gpu0"], &cdmm).contains("of this node, host, found `gpu0`"));
    assert!(refused(NumaPolicy::Bind, &["gpu0"], &Topology::unlimited(1)).contains("of this node, host, found `gpu0`"));
    assert!(refused(NumaPolicy::Bind, &[], &coherent(9, &[9])).contains("expected at least one node"));
    assert!(refused(NumaPolicy::Local, &["host"], &coherent(9, &[9])).contains("expected none beside `local`"));
}
