//! The host faults like any processor, and no processor gets a mapping that is out of reach.

use crate::common::{Node, fault, placement};
use octavo_manager::{Access, Event, Fault, HOST, HOST_MEMORY, MemoryMask, PageId, Reach, Topology};

fn on_host(node: &mut Node, page: u32, access: Access) -> Vec<String> {
    node.event(Event::Faults(&[Fault { processor: HOST, page: PageId(page), access }]))
}

#[test]
fn what_the_host_cannot_map_comes_to_it() {
    let fetched = [
        "drain gpu0 3",
        "invalidate gpu0 3",
        "copy 3 gpu0 host migration",
        "release gpu0 3",
        "map host 3 -> host rw",
        "wake host 3",
    ];
    for (name, options) in
        [("on-touch", "{}"), ("first-touch", "{}"), ("gps", "{}"), ("interleaved", r#"{"first_gpu": 2}"#)]
    {
        let mut node = Node::new(&placement(name, options));
        node.write(0, 3);
        assert_eq!(on_host(&mut node, 3, Access::Write), fetched, "{name}");
        assert_eq!(on_host(&mut node, 3, Access::Read), ["wake host 3"], "{name}: it is there");
        assert_eq!(node.write(0, 3).last().unwrap(), "wake gpu0 3", "{name}");
    }
}

#[test]
fn a_page_that_is_local_everywhere_is_local_nowhere_once_the_host_has_it() {
    let mut node = Node::new(&placement("ideal", "{}"));
    node.read(0, 5);
    let expected = [
        "drain gpu0+gpu1 5",
        "invalidate gpu0+gpu1 5",
        "copy 5 gpu0 host migration",
        "release gpu0 5",
        "map host 5 -> host rw",
        "wake host 5",
    ];
    assert_eq!(on_host(&mut node, 5, Access::Read), expected);
    let again = [
        "invalidate host 5",
        "copy 5 host gpu1 migration",
        "release host 5",
        "map gpu0+gpu1 5 -> own rw",
        "wake gpu1 5",
    ];
    assert_eq!(node.read(1, 5), again);
}

#[test]
fn a_coherent_host_maps_what_a_gpu_holds() {
    let everything = MemoryMask::all_gpus(2).with(HOST_MEMORY);
    let coherent = Topology { reach: Reach::new(vec![everything; 3]), ..Topology::unlimited(2) };
    for name in ["first-touch", "access-counter", "ideal"] {
        let mut node = Node::with(&placement(name, "{}"), &coherent);
        node.write(0, 3);
        let owner = node.manager.page(PageId(3)).owner;
        let mapped = [format!("map host 3 -> {owner} rw"), "wake host 3".to_owned()];
        assert_eq!(on_host(&mut node, 3, Access::Write), mapped, "{name}");
    }
}

#[test]
fn gpus_without_a_way_to_each_other_take_pages_from_each_other() {
    let own = |index: u8| MemoryMask(1 << index).with(HOST_MEMORY);
    let apart = Topology { reach: Reach::new((0..3).map(own).collect()), ..Topology::unlimited(2) };
    let mut node = Node::with(&placement("first-touch", "{}"), &apart);
    node.write(0, 3);
    assert!(node.write(1, 3).contains(&"copy 3 gpu0 gpu1 migration".to_owned()));
    // A GPU that has lost its memory finds the page in the host's.
    node.event(Event::Capacity { memory: octavo_manager::MemoryId::gpu(0), pages: 0 });
    let found = node.event(Event::Faults(&[fault(0, 3, Access::Read)]));
    assert!(found.contains(&"copy 3 gpu1 host migration".to_owned()), "{found:?}");
    assert!(found.contains(&"map gpu0 3 -> host rw".to_owned()), "{found:?}");
}
