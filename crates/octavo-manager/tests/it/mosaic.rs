//! Large pages in memories of a few frames, step by step: large frames of four base pages.

use crate::common::{Node, choice, fault, placement};
use octavo_manager::{
    Access, Allocation, Event, Fragmentation, Manager, MemoryConfig, PageId, PageRun, Plan, Prefix, ProcessorId,
    Refusal, SpaceId, Topology, Why,
};
use octavo_units::{Bytes, Time};

pub const GPU: ProcessorId = ProcessorId(1);

pub fn mosaic(placed: &str, options: &str) -> MemoryConfig {
    let options = format!(r#"{{"large_page": "16KiB", "threshold": 2{options}}}"#);
    MemoryConfig {
        allocator: choice("cocoa", r#"{"channels": 1}"#),
        sizing: choice("mosaic", &options),
        ..placement(placed, "{}")
    }
}

pub fn node(config: &MemoryConfig, capacity: &[u32]) -> Node {
    Node::with(config, &Topology::of(capacity.to_vec()))
}

pub fn run(first: u32, count: u32) -> PageRun {
    PageRun { first: PageId(first), count }
}

pub fn frames(node: &Node, pages: std::ops::Range<u32>) -> Vec<Option<u32>> {
    pages.map(|page| node.manager.frame(GPU.memory(), PageId(page))).collect()
}

pub fn coalesced(node: &Node, pages: std::ops::Range<u32>) -> Vec<bool> {
    pages.map(|page| node.manager.coalesced(GPU, PageId(page))).collect()
}

pub fn fill(node: &mut Node, pages: std::ops::Range<u32>) {
    pages.for_each(|page| drop(node.write(0, page)));
}

#[test]
fn the_fault_that_brings_the_last_page_makes_a_large_page_without_moving_any() {
    let mut node = node(&mosaic("on-touch", ""), &[64]);
    for page in [6, 4, 7] {
        node.read(0, page);
    }
    let before = frames(&node, 4..8);
    let steps = node.read(0, 5);
    assert_eq!(
        steps,
        ["copy 5 host gpu0 migration", "release host 5", "map gpu0 5 -> gpu0 rw", "coalesce gpu0 4x4", "wake gpu0 5"]
    );
    assert_eq!(coalesced(&node, 3..9), [false, true, true, true, true, false]);
    assert_eq!(frames(&node, 4..8), [0, 1, 2, 3].map(Some));
    assert_eq!(before, [Some(0), None, Some(2), Some(3)]);
}

#[test]
fn a_page_that_leaves_splinters_its_large_page_first() {
    let mut node = node(&mosaic("on-touch", ""), &[64, 64]);
    fill(&mut node, 4..8);
    let steps = node.write(1, 6);
    assert_eq!(steps[0], "splinter gpu0 4x4");
    assert_eq!(steps[1..3], ["drain gpu0 6", "invalidate gpu0 6"]);
    assert_eq!(coalesced(&node, 4..8), [false; 4]);
    assert_eq!(node.write(0, 6).last().unwrap(), "wake gpu0 6");
    assert_eq!(coalesced(&node, 4..8), [true; 4], "once it is back, in its own place");
    let statistics = node.manager.statistics();
    assert_eq!((statistics.coalesced, statistics.splintered), (2, 1));
}

/// A GPU writes a page; the plans, which are not carried out yet.
pub fn begin(manager: &mut Manager, gpu: usize, page: u32) -> Vec<Plan> {
    let mut plans = Vec::new();
    let write = crate::common::fault(gpu, page, octavo_manager::Access::Write);
    manager.handle(Time::ZERO, Event::Faults(&[write]), &mut plans);
    plans
}

/// A plan is carried out; the steps of those that it makes possible.
pub fn end(manager: &mut Manager, plan: &Plan) -> Vec<String> {
    let mut plans = Vec::new();
    manager.complete(Time::ZERO, plan.id, &mut plans);
    plans.iter().flat_map(|plan| &plan.steps).map(crate::common::show).collect()
}

#[test]
fn a_block_becomes_a_large_page_when_all_of_its_pages_have_come() {
    let mut manager = node(&mosaic("on-touch", ""), &[64]).manager;
    let plans: Vec<Plan> = (4..8).flat_map(|page| begin(&mut manager, 0, page)).collect();
    let steps: Vec<String> = plans.iter().flat_map(|plan| &plan.steps).map(crate::common::show).collect();
    assert!(plans.len() == 4 && !steps.contains(&"coalesce gpu0 4x4".to_owned()), "{steps:?}");
    let ends = plans.iter().map(|plan| end(&mut manager, plan)).collect::<Vec<_>>();
    assert_eq!(ends, [vec![], vec![], vec![], vec!["coalesce gpu0 4x4".to_owned()]]);
}

#[test]
fn a_page_waits_until_its_block_has_become_a_large_page() {
    let mut node = node(&mosaic("on-touch", ""), &[64, 64]);
    fill(&mut node, 4..7);
    let last = begin(&mut node.manager, 0, 7).pop().unwrap();
    assert_eq!(crate::common::show(&last.steps[3]), "coalesce gpu0 4x4");
    assert!(begin(&mut node.manager, 1, 4).is_empty());
    assert_eq!(end(&mut node.manager, &last)[..2], ["splinter gpu0 4x4", "drain gpu0 4"]);
}

#[test]
fn a_store_to_a_page_of_a_read_only_large_page_splinters_it() {
    let mut node = node(&mosaic("duplication", ""), &[64, 4]);
    fill(&mut node, 4..8);
    // The other GPU reads the block too, and loses its replicas to other pages.
    (4..8).chain(100..104).for_each(|page| drop(node.read(1, page)));
    assert_eq!(coalesced(&node, 4..8), [true; 4]);
    assert_eq!(node.write(0, 5)[..2], ["splinter gpu0 4x4", "map gpu0 5 -> gpu0 rw"]);
    assert_eq!(coalesced(&node, 4..8), [false; 4]);
}

#[test]
fn a_page_that_is_to_be_everywhere_leaves_its_large_page() {
    let mut node = node(&mosaic("ideal", ""), &[64, 64]);
    node.event(Event::Prefetch { pages: run(4, 4), to: GPU.memory() });
    assert_eq!(coalesced(&node, 4..8), [true; 4]);
    assert_eq!(node.write(1, 5)[0], "splinter gpu0 4x4");
    assert_eq!((coalesced(&node, 4..8), frames(&node, 5..6)), (vec![false; 4], vec![None]));
}

#[test]
fn a_host_with_a_limit_has_no_numbered_frames() {
    let mut topology = Topology::of(vec![8]);
    topology.memories[0].capacity_pages = 3000;
    let mut node = Node::with(&mosaic("on-touch", ""), &topology);
    fill(&mut node, 0..9);
    let held = [octavo_manager::HOST_MEMORY, GPU.memory()].map(|memory| node.manager.frames_held(memory));
    assert_eq!(held, [2048 - 8, 8]);
}

#[test]
fn a_memory_that_has_shrunk_takes_no_more_frames_though_it_has_some() {
    let mut node = node(&mosaic("on-touch", ""), &[8]);
    node.event(Event::Capacity { memory: GPU.memory(), pages: 6 });
    fill(&mut node, 0..6);
    assert_eq!(node.write(0, 8)[1], "drain gpu0 0");
    assert_eq!(frames(&node, 8..9), [Some(0)], "its victim's, and not one of the last two");
}

#[test]
fn a_plan_takes_free_frames_beside_those_that_its_victims_leave() {
    let config =
        MemoryConfig { eviction: choice("lru-block", "{}"), prefetch: choice("tree", "{}"), ..mosaic("on-touch", "") };
    let mut node = node(&config, &[18]);
    node.write(0, 0);
    assert_eq!(node.manager.frames_held(GPU.memory()), 16);
    // The page has room, and one of the fifteen that come along. For the others, all sixteen of the first block leave.
    let plans = begin(&mut node.manager, 0, 512);
    assert_eq!((plans.len(), node.manager.frames_held(GPU.memory())), (1, 18));
    end(&mut node.manager, &plans[0]);
    assert_eq!(node.manager.frames_held(GPU.memory()), 16);
}

/// Nobody knows yet whether the first splinter is done before the second plan.
#[test]
fn a_plan_beside_an_unfinished_splinter_splinters_as_well() {
    let mut node = node(&mosaic("on-touch", ""), &[64, 64]);
    fill(&mut node, 4..8);
    let mut plans = Vec::new();
    let mut first_step = |page| {
        let fault = crate::common::fault(1, page, octavo_manager::Access::Write);
        node.manager.handle(Time::ZERO, Event::Faults(&[fault]), &mut plans);
        crate::common::show(&plans.last().unwrap().steps[0])
    };
    assert_eq!([6, 5].map(&mut first_step), ["splinter gpu0 4x4"; 2]);
    plans.drain(..).for_each(|plan| node.manager.complete(Time::ZERO, plan.id, &mut Vec::new()));
    assert_eq!((node.write(1, 4)[0].as_str(), node.manager.statistics().splintered), ("drain gpu0 4", 1));
}

#[test]
fn each_large_page_is_one_entry() {
    let mut node = node(&mosaic("on-touch", ""), &[64]);
    node.event(Event::Free(run(0, 2048)));
    node.event(Event::Allocate(Allocation { populated: false, ..run(0, 16).into() }));
    fill(&mut node, 8..12);
    assert_eq!(node.manager.entries(run(0, 16)), 1, "one large page, not the first of its 2 MiB");
    fill(&mut node, 0..8);
    fill(&mut node, 12..14);
    assert_eq!(node.manager.entries(run(0, 16)), 3 + 2);
    assert_eq!(node.manager.entries(run(6, 5)), 2, "a part of a large page takes its entry");
}

#[test]
fn eviction_splinters_what_it_takes_from() {
    let mut node = node(&mosaic("on-touch", ""), &[8]);
    fill(&mut node, 0..8);
    let steps = node.write(0, 8);
    assert_eq!(steps[..2], ["splinter gpu0 0x4", "drain gpu0 0"]);
    assert_eq!(coalesced(&node, 0..8), [false, false, false, false, true, true, true, true]);
}

#[test]
fn pages_with_different_rights_are_no_large_page() {
    let mut node = node(&mosaic("duplication", ""), &[64, 64]);
    fill(&mut node, 4..8);
    assert_eq!(coalesced(&node, 4..8), [true; 4]);
    let steps = node.read(1, 5);
    assert_eq!(steps[..2], ["splinter gpu0 4x4", "protect gpu0 5"]);
    assert_eq!(coalesced(&node, 4..8), [false; 4]);
    for page in [4, 6, 7] {
        node.read(1, page);
    }
    assert_eq!(coalesced(&node, 4..8), [true; 4], "all read-only: alike again");
    assert!(node.manager.coalesced(ProcessorId(2), PageId(4)), "and so are the replicas");
}

#[test]
fn a_block_that_is_only_partly_allocated_comes_from_the_base_list() {
    let mut node = node(&mosaic("on-touch", ""), &[64]);
    node.event(Event::Free(run(0, 2048)));
    node.event(Event::Allocate(run(2, 7).into()));
    fill(&mut node, 2..9);
    assert_eq!(coalesced(&node, 2..9), [false, false, true, true, true, true, false]);
    assert_eq!(frames(&node, 2..9), [0, 1, 4, 5, 6, 7, 2].map(Some));
    assert_eq!(node.manager.memory_use(GPU.memory()).unwrap().large_frames, 2);
}

#[test]
fn spaces_do_not_share_large_frames_unless_nothing_else_is_left() {
    let mut node = node(&mosaic("on-touch", ""), &[8]);
    node.event(Event::Free(run(0, 2048)));
    node.event(Event::Allocate(run(0, 3).into()));
    node.event(Event::Allocate(Allocation { space: SpaceId(1), ..run(100, 3).into() }));
    [0, 100, 1, 101].into_iter().for_each(|page| drop(node.write(0, page)));
    assert_eq!(frames(&node, 0..2), [0, 1].map(Some));
    assert_eq!(frames(&node, 100..102), [4, 5].map(Some));
    node.event(Event::Allocate(Allocation { space: SpaceId(2), ..run(200, 1).into() }));
    node.write(0, 200);
    assert_eq!(node.manager.statistics().named("soft_guarantee_broken").unwrap(), 1);
}

#[test]
fn a_free_list_mixes_spaces() {
    let config = MemoryConfig { allocator: choice("free-list", "{}"), ..mosaic("on-touch", "") };
    let mut node = node(&config, &[8]);
    node.event(Event::Allocate(Allocation { space: SpaceId(1), ..run(4000, 4).into() }));
    [0, 4000, 1, 4001].into_iter().for_each(|page| drop(node.write(0, page)));
    assert_eq!((frames(&node, 0..2), frames(&node, 4000..4002)), (vec![Some(0), Some(2)], vec![Some(1), Some(3)]));
    assert_eq!(node.manager.statistics().named("soft_guarantee_broken").unwrap(), 0, "none was given");
}

#[test]
fn a_freed_large_page_is_splintered() {
    for options in ["", r#", "compaction": "none""#] {
        let mut node = node(&mosaic("on-touch", options), &[64]);
        fill(&mut node, 0..8);
        assert_eq!(node.event(Event::Free(run(4, 4))), ["splinter gpu0 4x4"]);
        assert_eq!(node.manager.memory_use(GPU.memory()).unwrap().large_frames, 1);
        assert_eq!(node.manager.statistics().splintered, 1);
    }
}

#[test]
fn a_block_becomes_a_large_page_when_the_last_plan_for_its_pages_is_done() {
    let mut node = node(&mosaic("on-touch", ""), &[64]);
    let faults = [4, 5, 6, 7].map(|page| fault(0, page, Access::Write));
    let steps = node.event(Event::Faults(&faults));
    assert_eq!(steps.last().unwrap(), "coalesce gpu0 4x4");
    assert_eq!(steps.iter().filter(|step| step.starts_with("wake")).count(), 4);
}

#[test]
fn a_block_that_loses_no_page_after_all_is_a_large_page_again() {
    let mut node = node(&mosaic("on-touch", ""), &[64, 64]);
    fill(&mut node, 4..8);
    let mut plans = Vec::new();
    node.manager.handle(Time::ZERO, Event::Faults(&[fault(1, 6, Access::Write)]), &mut plans);
    assert_eq!(coalesced(&node, 4..8), [false; 4]);
    let (plan, refusal) = (plans.remove(0), Refusal { done: Prefix::NONE, why: Why::Again });
    node.manager.fail(Time::ZERO, &plan, refusal, &mut plans);
    while !plans.is_empty() {
        let plan = plans.remove(0);
        node.manager.complete(Time::ZERO, plan.id, &mut plans);
    }
    assert_eq!(coalesced(&node, 4..8), [true; 4]);
}

#[test]
fn a_large_page_keeps_its_holes_until_too_few_pages_are_left() {
    let mut node = node(&mosaic("on-touch", ""), &[64]);
    node.event(Event::Free(run(0, 2048)));
    node.event(Event::Allocate(run(0, 6).into()));
    fill(&mut node, 0..6);
    assert_eq!(coalesced(&node, 0..4), [true; 4]);
    assert!(node.event(Event::Free(run(0, 2))).is_empty());
    assert_eq!(coalesced(&node, 0..4), [false, false, true, true]);
    let steps = node.event(Event::Free(run(2, 1)));
    assert_eq!(steps, ["splinter gpu0 0x4", "invalidate gpu0 3", "compact gpu0 1 WorstCase", "map gpu0 3 -> gpu0 rw"]);
    assert_eq!(frames(&node, 3..6), [6, 4, 5].map(Some));
    let statistics = node.manager.statistics();
    assert_eq!((statistics.pages_compacted, statistics.frames_freed_by_compaction), (1, 1));
}

#[test]
fn pages_are_compacted_beside_a_free_list_as_well() {
    let config = MemoryConfig { allocator: choice("free-list", "{}"), ..mosaic("on-touch", "") };
    let mut node = node(&config, &[64]);
    node.event(Event::Free(run(6, 2042)));
    fill(&mut node, 0..6);
    let steps = node.event(Event::Free(run(0, 3)));
    assert_eq!(steps, ["splinter gpu0 0x4", "invalidate gpu0 3", "compact gpu0 1 WorstCase", "map gpu0 3 -> gpu0 rw"]);
    assert_eq!(frames(&node, 3..6), [6, 4, 5].map(Some));
}

#[test]
fn a_page_that_is_moved_within_its_memory_is_mapped_again_by_everyone() {
    let mut node = node(&mosaic("first-touch", ""), &[64, 64]);
    node.event(Event::Free(run(0, 2048)));
    node.event(Event::Allocate(run(0, 6).into()));
    fill(&mut node, 0..6);
    assert_eq!(node.write(1, 3), ["map gpu1 3 -> gpu0 rw", "wake gpu1 3"]);
    let steps = node.event(Event::Free(run(0, 3)));
    let moved = ["invalidate gpu0+gpu1 3", "compact gpu0 1 WorstCase", "map gpu0+gpu1 3 -> gpu0 rw"];
    assert_eq!(steps[1..], moved);
}

#[test]
fn what_is_left_of_a_block_has_no_claim_to_its_large_frame() {
    let mut node = node(&mosaic("on-touch", ""), &[64]);
    node.event(Event::Free(run(7, 2041)));
    fill(&mut node, 0..3);
    node.event(Event::Free(run(3, 1)));
    node.write(0, 4);
    assert_eq!(frames(&node, 0..5), [Some(0), Some(1), Some(2), None, Some(3)]);
}

#[test]
fn pages_allocated_into_the_hole_of_a_large_page_splinter_it() {
    let mut node = node(&mosaic("on-touch", ""), &[64]);
    fill(&mut node, 0..4);
    node.event(Event::Free(run(0, 1)));
    assert_eq!(coalesced(&node, 0..4), [false, true, true, true]);
    assert_eq!(node.event(Event::Allocate(run(0, 1).into())), ["splinter gpu0 0x4"]);
    assert_eq!(node.write(0, 0)[3], "coalesce gpu0 0x4");
    // Until it is split, the new page waits.
    node.event(Event::Free(run(0, 1)));
    let mut plans = Vec::new();
    node.manager.handle(Time::ZERO, Event::Allocate(run(0, 1).into()), &mut plans);
    assert!(node.manager.page(PageId(0)).busy);
    node.manager.complete(Time::ZERO, plans[0].id, &mut Vec::new());
    assert!(!node.manager.page(PageId(0)).busy);
}

#[test]
fn emergency_frames_are_used_when_no_other_is_left() {
    let mut node = node(&mosaic("on-touch", r#", "compaction": "none""#), &[8]);
    fill(&mut node, 0..8);
    node.event(Event::Free(run(0, 1)));
    let steps = node.write(0, 12);
    assert_eq!(steps[0], "splinter gpu0 0x4");
    assert_eq!(frames(&node, 12..13), [Some(0)]);
    let statistics = node.manager.statistics();
    assert_eq!((statistics.emergency_splinters, statistics.named("identity_missed").unwrap()), (1, 1));
    assert_eq!((statistics.evictions_written, statistics.named("soft_guarantee_broken").unwrap()), (0, 0));
}

#[test]
fn places_kept_for_a_block_are_used_before_the_large_page_of_another_space() {
    let mut node = node(&mosaic("on-touch", r#", "compaction": "none""#), &[8]);
    node.event(Event::Allocate(Allocation { space: SpaceId(1), ..run(4000, 8).into() }));
    fill(&mut node, 0..4);
    node.event(Event::Free(run(0, 1)));
    node.write(0, 4000);
    assert_eq!(node.write(0, 4004)[0], "copy 4004 host gpu0 migration");
    assert_eq!(frames(&node, 4004..4005), [Some(5)]);
    assert_eq!(coalesced(&node, 1..4), [true; 3]);
    assert_eq!(node.manager.statistics().named("soft_guarantee_broken").unwrap(), 0);
}

#[test]
fn a_full_memory_that_evicts_nothing_is_out_of_memory() {
    let config = MemoryConfig { eviction: choice("none", "{}"), ..placement("on-touch", "{}") };
    let mut node = node(&config, &[2]);
    node.event(Event::Allocate(Allocation { space: SpaceId(7), ..run(3000, 4).into() }));
    fill(&mut node, 3000..3002);
    assert_eq!(node.manager.out_of_memory(), None);
    assert!(node.write(0, 3002).is_empty());
    let found = node.manager.out_of_memory().unwrap();
    assert_eq!((found.memory, found.page, found.space), (GPU.memory(), PageId(3002), SpaceId(7)));
}

#[test]
fn a_full_memory_that_evicts_is_not_out_of_memory_while_its_page_is_busy() {
    let mut manager = Manager::new(&placement("on-touch", "{}"), &Topology::of(vec![1])).unwrap();
    let mut plans = Vec::new();
    manager.handle(Time::ZERO, Event::Allocate(run(0, 2).into()), &mut plans);
    let write = |page| crate::common::fault(0, page, octavo_manager::Access::Write);
    manager.handle(Time::ZERO, Event::Faults(&[write(0)]), &mut plans);
    manager.handle(Time::ZERO, Event::Faults(&[write(1)]), &mut plans);
    assert_eq!((plans.len(), manager.out_of_memory()), (1, None), "page 1 waits until page 0 has come");
}

#[test]
fn a_memory_that_is_about_to_be_emptied_is_not_out_of_memory() {
    let config = MemoryConfig { eviction: choice("none", "{}"), ..placement("on-touch", "{}") };
    let mut manager = Manager::new(&config, &Topology::of(vec![1, 1])).unwrap();
    let mut plans = Vec::new();
    manager.handle(Time::ZERO, Event::Allocate(run(0, 3).into()), &mut plans);
    let write = |gpu, page| crate::common::fault(gpu, page, octavo_manager::Access::Write);
    manager.handle(Time::ZERO, Event::Faults(&[write(0, 0)]), &mut plans);
    let first = plans.pop().unwrap();
    manager.complete(Time::ZERO, first.id, &mut plans);
    manager.handle(Time::ZERO, Event::Faults(&[write(1, 0), write(0, 1)]), &mut plans);
    assert_eq!((plans.len(), manager.out_of_memory()), (1, None), "page 0 is on its way to the other GPU");
    let second = plans.pop().unwrap();
    manager.complete(Time::ZERO, second.id, &mut plans);
    assert_eq!((plans.len(), manager.out_of_memory()), (1, None));
}

#[test]
fn mosaic_under_grit_on_four_gpus_makes_and_splinters_large_pages() {
    let mut node = node(&mosaic("grit", ""), &[64; 4]);
    (0..8).for_each(|page| drop(node.read(0, page)));
    (8..32u32).for_each(|page| drop(node.write(page as usize / 8, page)));
    let large = |node: &Node, page: u32| (0..4).any(|gpu| node.manager.coalesced(ProcessorId::gpu(gpu), PageId(page)));
    assert!((0..32).all(|page| large(&node, page)), "each GPU has two blocks of its own");
    for round in 1..9 {
        (0..4).for_each(|page| drop(node.read(round % 4, page)));
    }
    let statistics = node.manager.statistics();
    assert!(statistics.splintered > 0 && statistics.duplications > 0, "{statistics:?}");
    assert!(large(&node, 0) && large(&node, 31), "replicas that all are read-only are large pages too");
}

#[test]
fn what_cannot_be_is_refused_with_its_key() {
    let refused = |config: MemoryConfig| config.resolve().unwrap_err().key;
    let sizing = |options: &str| MemoryConfig { sizing: choice("mosaic", options), ..MemoryConfig::default() };
    assert_eq!(refused(sizing(r#"{"threshold": 0}"#)), "sizing.threshold");
    assert_eq!(refused(sizing(r#"{"threshold": 513}"#)), "sizing.threshold");
    assert_eq!(refused(sizing(r#"{"large_page": "12KiB"}"#)), "sizing.large_page");
    assert_eq!(refused(sizing(r#"{"compaction": "never"}"#)), "sizing.compaction");
    let huge = MemoryConfig { page_size: Bytes(2 << 20), ..sizing("{}") };
    assert_eq!(refused(huge), "sizing.large_page");
    let large = MemoryConfig { sizing: choice("large", r#"{"large_page": "4KiB"}"#), ..MemoryConfig::default() };
    assert_eq!(refused(large), "sizing.large_page");
    let cocoa = MemoryConfig { allocator: choice("cocoa", r#"{"channels": 0}"#), ..MemoryConfig::default() };
    assert_eq!(refused(cocoa), "allocator.channels");
    let fragmentation = Fragmentation { index: 101, ..Fragmentation::default() };
    assert_eq!(refused(MemoryConfig { fragmentation, ..MemoryConfig::default() }), "fragmentation.index");
}

#[test]
fn large_pages_are_what_everything_is_decided_on() {
    let config = MemoryConfig { sizing: choice("large", "{}"), ..placement("on-touch", "{}") };
    assert_eq!(config.decision_size().unwrap(), Bytes(2 << 20));
    assert_eq!(node(&config, &[4]).manager.geometry().page_size, Bytes(2 << 20));
}
