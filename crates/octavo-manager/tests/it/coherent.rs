//! The placements of coherent nodes, `coherent` and `fault-and-count`: which pages counters bring, and which stay.

use crate::common::{Node, choice, placement};
use octavo_manager::{
    Access, Allocation, CounterNotification, CounterSpec, Event, Fault, HOST, Kind, Manager, MemoryConfig, MemoryId,
    PageId, PageRun, ProcessorId, SystemConfig, Topology,
};
use octavo_units::Bytes;

/// Two blocks of 2 MiB in pages of 64 KiB.
const PAGES: PageRun = PageRun { first: PageId(3072), count: 64 };

fn config(options: &str, prefetch: &str) -> MemoryConfig {
    let prefetch = choice(prefetch, "{}");
    let system = SystemConfig { placement: choice("coherent", options), prefetch, ..SystemConfig::default() };
    MemoryConfig { page_size: Bytes(64 << 10), system, ..MemoryConfig::default() }
}

/// Two coherent GPUs, and memory of the operating system of which the host has touched these pages.
fn node(config: &MemoryConfig, on_host: &[u32]) -> Node {
    let mut node = Node::with(config, &Topology::unlimited(2).coherent());
    node.event(Event::Allocate(Allocation { kind: Kind::System, populated: false, ..PAGES.into() }));
    let touch = |&page: &u32| Fault { processor: HOST, page: PageId(page), access: Access::Write };
    node.event(Event::Faults(&on_host.iter().map(touch).collect::<Vec<_>>()));
    node
}

fn counted(node: &mut Node, gpu: usize, page: u32) {
    let processor = ProcessorId::gpu(gpu);
    node.event(Event::Counter(CounterNotification { processor, page: PageId(page) }));
}

/// Those of the pages that the GPU holds.
fn held(node: &Node, gpu: usize, pages: std::ops::Range<u32>) -> Vec<u32> {
    pages.filter(|&page| node.manager.page(PageId(page)).resident.contains(MemoryId::gpu(gpu))).collect()
}

#[test]
fn a_counter_brings_its_whole_region_if_that_is_chosen() {
    let config = config(r#"{"region": "2MiB", "moves": "region"}"#, "none");
    let mut node = node(&config, &[3077, 3080, 3103, 3104]);
    assert_eq!(node.manager.needs().counters, Some(CounterSpec { threshold: 256, group_pages: 32 }));
    counted(&mut node, 0, 3080);
    assert_eq!(held(&node, 0, 3072..3136), [3077, 3080, 3103], "the last is of the next region");
}

#[test]
fn counters_move_pages_of_the_host_alone_and_only_if_pages_are_to_migrate() {
    for (options, comes) in [("{}", vec![3072]), (r#"{"migration": false}"#, vec![])] {
        let mut node = node(&config(options, "none"), &[3072]);
        node.write(1, 3073);
        (3072..3074).for_each(|page| counted(&mut node, 0, page));
        assert_eq!(held(&node, 0, 3072..3136), comes, "{options}");
        assert_eq!(held(&node, 1, 3072..3136), [3073], "{options}");
    }
}

/// The tree brings the rest of what is more than half resident.
#[test]
fn untouched_pages_come_along_and_those_that_are_somewhere_stay() {
    let mut node = node(&config("{}", "tree"), &[3075]);
    (3072..3075).for_each(|page| _ = node.write(0, page));
    assert_eq!(held(&node, 0, 3072..3136), [3072, 3073, 3074], "the fourth is on the host");
    (3076..3078).for_each(|page| _ = node.write(0, page));
    assert_eq!(held(&node, 0, 3072..3136), [3072, 3073, 3074, 3076, 3077, 3078, 3079]);
}

#[test]
fn a_region_is_a_power_of_two_from_64_kib_to_2_mib() {
    for region in ["96KiB", "32KiB", "4MiB"] {
        let config = config(&format!(r#"{{"region": "{region}"}}"#), "none");
        let error = Manager::new(&config, &Topology::unlimited(1).coherent()).err().unwrap();
        assert_eq!(error.key, "system.placement.region", "{region}");
    }
}

/// Managed pages.
#[test]
fn fault_and_count_brings_what_is_counted_from_the_host_and_from_nowhere_else() {
    for (options, comes) in [("{}", vec![0]), (r#"{"migration": false}"#, vec![])] {
        let config = MemoryConfig { page_size: Bytes(64 << 10), ..placement("fault-and-count", options) };
        let mut node = Node::new(&config);
        node.read(1, 1);
        (0..2).for_each(|page| counted(&mut node, 0, page));
        assert_eq!(held(&node, 0, 0..2048), comes, "{options}");
        assert_eq!(held(&node, 1, 0..2048), [1], "{options}");
    }
}
