//! `lru-block` against what the production driver evicts: nvidia-uvm 595.45.04, `uvm_pmm_gpu.c` and `uvm_va_block.c`.
//! Each test names the function whose decision it states.

use crate::common::{Node, choice, fault, placement, show};
use octavo_manager::{Access, Event, Manager, MemoryConfig, MemoryId, PageId, PageRun, Plan, Topology};
use octavo_units::Time;

/// First pages of four blocks of 2 MiB.
const BLOCKS: [u32; 4] = [0, 512, 1024, 1536];

fn config(placed: &str) -> MemoryConfig {
    MemoryConfig { eviction: choice("lru-block", "{}"), ..placement(placed, "{}") }
}

/// Two GPUs; the first holds this many pages.
fn topology(pages: u32) -> Topology {
    Topology::of(vec![pages, u32::MAX])
}

fn node(placed: &str, pages: u32) -> Node {
    Node::with(&config(placed), &topology(pages))
}

/// The copies that `steps` make room with.
fn leaves(steps: &[String]) -> Vec<&str> {
    steps.iter().map(String::as_str).filter(|step| step.ends_with("eviction")).collect()
}

#[test]
fn pick_root_chunk_to_evict_takes_the_block_serviced_least_recently() {
    let mut node = node("on-touch", 3);
    BLOCKS[..3].iter().for_each(|&page| drop(node.read(0, page)));
    assert_eq!(leaves(&node.read(0, BLOCKS[3])), ["copy 0 gpu0 host eviction"]);
    assert_eq!(leaves(&node.read(0, BLOCKS[0])), ["copy 512 gpu0 host eviction"]);
}

#[test]
fn chunk_update_lists_locked_a_page_that_comes_makes_its_block_the_newest() {
    let mut node = node("on-touch", 4);
    [0, 512, 1024, 1].into_iter().for_each(|page| drop(node.read(0, page)));
    assert_eq!(leaves(&node.read(0, 1536)), ["copy 512 gpu0 host eviction"]);
}

#[test]
fn block_mark_memory_used_a_service_that_only_maps_makes_the_block_the_newest() {
    let mut node = node("first-touch", 2);
    [0, 512].into_iter().for_each(|page| drop(node.read(0, page)));
    assert_eq!(node.read(1, 0), ["map gpu1 0 -> gpu0 rw", "wake gpu1 0"]);
    let steps = node.event(Event::Capacity { memory: MemoryId::gpu(0), pages: 1 });
    assert_eq!(leaves(&steps), ["copy 512 gpu0 host eviction"]);
}

#[test]
fn uvm_va_block_evict_chunks_copies_every_resident_page_of_the_block_and_no_other() {
    let mut node = node("on-touch", 4);
    [3, 4, 511, 1024].into_iter().for_each(|page| drop(node.read(0, page)));
    let steps = node.read(0, 1025);
    assert_eq!(leaves(&steps), ["copy 3x2 gpu0 host eviction", "copy 511 gpu0 host eviction"], "read or written");
    assert_eq!(node.manager.frames_held(MemoryId::gpu(0)), 2, "one page was needed, the whole block left");
}

#[test]
fn uvm_va_block_evict_chunks_drops_what_is_elsewhere_too() {
    let mut node = node("duplication", 1);
    node.read(1, 0);
    node.read(0, 0);
    let steps = node.read(0, 512);
    assert_eq!(steps[..2], ["invalidate gpu0 0", "release gpu0 0"]);
    assert_eq!(leaves(&steps), [""; 0]);
}

/// A manager whose plans the test acknowledges.
fn handle(manager: &mut Manager, page: u32) -> Vec<Plan> {
    let mut plans = Vec::new();
    manager.handle(Time::ZERO, Event::Faults(&[fault(0, page, Access::Read)]), &mut plans);
    manager.check().unwrap();
    plans
}

#[test]
fn pick_root_chunk_to_evict_passes_over_what_is_pinned_and_retries_if_nothing_else_is_left() {
    let mut manager = Manager::new(&config("on-touch"), &topology(3)).unwrap();
    manager.handle(Time::ZERO, Event::Allocate(PageRun { first: PageId(0), count: 2048 }.into()), &mut Vec::new());
    let settled = handle(&mut manager, 1);
    manager.complete(Time::ZERO, settled[0].id, &mut Vec::new());
    let first = handle(&mut manager, 0);
    let second = handle(&mut manager, 512);
    manager.complete(Time::ZERO, second[0].id, &mut Vec::new());
    let third = handle(&mut manager, 1024);
    let leaves: Vec<String> = third[0].steps.iter().map(show).filter(|step| step.ends_with("eviction")).collect();
    assert_eq!(leaves, ["copy 512 gpu0 host eviction"], "a page of the older block is in an unfinished plan");
    assert!(handle(&mut manager, 1536).is_empty(), "both are");
    let mut retried = Vec::new();
    manager.complete(Time::ZERO, first[0].id, &mut retried);
    let leaves: Vec<String> = retried[0].steps.iter().map(show).filter(|step| step.ends_with("eviction")).collect();
    assert_eq!(leaves, ["copy 0x2 gpu0 host eviction"]);
}
