//! The prefetchers and evictors of UVMSmart (ISCA 2019): what its code decides, and what its published logs show. Each
//! test names the option or function, or the log, whose decision it states.

use crate::common::{Node, choice, fault, placement};
use octavo_manager::{
    Access, Accessed, Event, MemoryConfig, MemoryId, PageId, PageRun, PrefetchPlan, Prefix, ProcessorId, Refusal,
    Topology, Why,
};
use octavo_units::Time;

/// Pages of 64 KiB.
const LEAF: u32 = 16;

/// Three blocks of 2 MiB, and 256 KiB.
fn node(prefetch: &str, eviction: &str, options: &str, leaves: u32) -> Node {
    let config = MemoryConfig {
        prefetch: choice(prefetch, "{}"),
        eviction: choice(eviction, options),
        ..placement("on-touch", "{}")
    };
    let topology = Topology::of(vec![leaves.saturating_mul(LEAF)]);
    let mut node = Node::with(&config, &topology);
    node.event(Event::Free(PageRun { first: PageId(1536 + 4 * LEAF), count: 512 - 4 * LEAF }));
    node
}

fn roomy(prefetch: &str) -> Node {
    node(prefetch, "lru-page", "{}", u32::MAX)
}

/// Which of the pages the GPU has.
fn here(node: &Node, pages: std::ops::Range<u32>) -> Vec<u32> {
    pages.filter(|&page| node.manager.page(PageId(page)).owner == MemoryId::gpu(0)).collect()
}

/// The first leaves, from `block` on, that the GPU has.
fn leaves(node: &Node, block: u32, count: u32) -> Vec<u32> {
    (0..count).filter(|leaf| !here(node, block + leaf * LEAF..block + (leaf + 1) * LEAF).is_empty()).collect()
}

/// Faults on these pages of a block, one after another; KiB that came with each.
fn kib(node: &mut Node, block: u32, faults: &[u32]) -> Vec<usize> {
    let mut held = here(node, block..block + 512.min(2048 - block)).len();
    let mut came = Vec::new();
    for page in faults {
        node.read(0, block + page);
        let now = here(node, block..block + 512.min(2048 - block)).len();
        came.push((now - held) * 4);
        held = now;
    }
    came
}

#[test]
fn hardware_prefetch_2_a_fault_brings_its_leaf() {
    let mut node = roomy("sequential-local");
    assert_eq!(kib(&mut node, 0, &[100, 0, 16, 32]), [64; 4]);
    assert_eq!(here(&node, 90..120), (96..112).collect::<Vec<_>>());
}

#[test]
fn hardware_prefetch_3_a_fault_brings_at_most_one_more_page_of_the_block() {
    let mut node = roomy("random-page");
    let came = kib(&mut node, 512, &(0..100).collect::<Vec<_>>());
    assert!(came.iter().all(|kib| [0, 4, 8].contains(kib)), "{came:?}");
    assert!(came.iter().filter(|&&kib| kib == 8).count() > 50, "{came:?}");
    assert!(here(&node, 0..512).is_empty() && here(&node, 1024..1600).is_empty());
}

/// `output_logs/HWPrefetchers/TBN/hotspot.log`, transfers from 0xc0800000 on: a power matrix read in order.
#[test]
fn log_of_hotspot_sequential_faults_bring_64_64_128_256_512_1024_kib() {
    let faults = [0x00, 0x10, 0x20, 0x40, 0x80, 0x100];
    for prefetch in ["tree-neighborhood", "tree"] {
        assert_eq!(kib(&mut roomy(prefetch), 512, &faults), [64, 64, 128, 256, 512, 1024], "{prefetch}");
    }
}

/// `output_logs/HWPrefetchers/TBN/bfs.log`, transfers from 0xc0280000 on, and from 0xc0240000 on: two allocations of
/// 256 KiB with the same faults. A transfer ends with the page that faulted, the next brings the rest.
#[test]
fn log_of_bfs_three_of_four_leaves_bring_the_fourth() {
    let mut node = roomy("tree-neighborhood");
    assert_eq!(kib(&mut node, 1536, &[0x00, 0x36, 0x1e]), [64, 64, 128]);
    assert_eq!(leaves(&node, 1536, 4), [0, 1, 2, 3]);
}

#[test]
fn traverse_and_fill_lp_tree_what_is_filled_counts_further_up_unlike_in_the_driver() {
    for (prefetch, all) in [("tree-neighborhood", vec![0, 1, 2, 3, 4, 5, 6, 7]), ("tree", vec![0, 1, 2, 3, 4])] {
        let mut node = roomy(prefetch);
        [0, 16, 64].into_iter().for_each(|page| drop(node.read(0, page)));
        assert_eq!(leaves(&node, 0, 32), [0, 1, 4]);
        node.read(0, 32);
        assert_eq!(leaves(&node, 0, 32), all, "{prefetch}");
    }
}

#[test]
fn cuda_malloc_managed_rounds_trees_up_to_a_power_of_two() {
    let mut node = roomy("tree-neighborhood");
    node.event(Event::Free(PageRun { first: PageId(0), count: 512 }));
    node.event(Event::Allocate(PageRun { first: PageId(0), count: 5 * LEAF }.into()));
    assert_eq!(kib(&mut node, 0, &[0, 16, 32]), [64, 64, 128], "of eight leaves half are there, though of five most");
    assert_eq!(kib(&mut node, 0, &[64]), [64]);
}

/// Fills the first block from its first leaf to its last, then faults elsewhere; KiB that leave for each of these.
fn left(eviction: &str, options: &str, faults: &[u32]) -> Vec<usize> {
    let mut node = node("sequential-local", eviction, options, 32);
    (0..32).for_each(|leaf| drop(node.read(0, leaf * LEAF)));
    let mut held = 512;
    let leave = |&page: &u32| {
        node.read(0, 512 + page);
        let now = here(&node, 0..512).len();
        std::mem::replace(&mut held, now).saturating_sub(now) * 4
    };
    faults.iter().map(leave).collect()
}

#[test]
fn eviction_policy_2_64_kib_leave_for_64_kib() {
    assert_eq!(left("sequential-local", "{}", &[0, 16, 32]), [64; 3]);
}

/// The mirror image of the prefetcher: with no more than half of a node left, all of it goes.
#[test]
fn eviction_policy_1_a_full_block_leaves_by_64_64_128_256_512_1024_kib() {
    let faults: Vec<u32> = (0..32).map(|leaf| leaf * LEAF).collect();
    let left = left("tree-neighborhood", "{}", &faults);
    assert_eq!(left.into_iter().filter(|&kib| kib > 0).collect::<Vec<_>>(), [64, 64, 128, 256, 512, 1024]);
}

#[test]
fn eviction_policy_3_and_5_single_pages_leave() {
    for eviction in ["random-page", "lru-page"] {
        let mut node = node("none", eviction, "{}", 2);
        (0..32).for_each(|page| drop(node.read(0, page)));
        (512..522).for_each(|page| drop(node.read(0, page)));
        let left: Vec<u32> = (0..32).filter(|page| !here(&node, 0..32).contains(page)).collect();
        assert_eq!(here(&node, 0..2048).len(), 32, "{eviction}");
        assert_eq!(left == (0..10).collect::<Vec<_>>(), eviction == "lru-page", "{eviction}: {left:?}");
    }
}

#[test]
fn eviction_policy_3_the_seed_decides_who_leaves() {
    let stay = |seed: u32| {
        let mut node = node("none", "random-page", &format!(r#"{{"seed": {seed}}}"#), 2);
        (0..42).for_each(|page| drop(node.read(0, page)));
        here(&node, 0..42)
    };
    assert_eq!(stay(1), stay(1));
    assert_ne!(stay(1), stay(2));
}

#[test]
fn sort_valid_pages_the_block_whose_newest_use_is_oldest_gives_up_its_oldest_leaf() {
    let mut node = node("sequential-local", "sequential-local", "{}", 4);
    // The oldest leaf of all is in the block used last.
    [512, 16, 0, 512 + 16].into_iter().for_each(|page| drop(node.read(0, page)));
    node.read(0, 1024);
    assert_eq!((leaves(&node, 0, 32), leaves(&node, 512, 32)), (vec![0], vec![0, 1]));
    node.read(0, 1024 + 16);
    node.read(0, 1024 + 32);
    assert_eq!((leaves(&node, 0, 32), leaves(&node, 512, 32)), (vec![], vec![1]));
}

#[test]
fn reserve_accessed_page_percent_the_first_of_the_list_stay() {
    for (percent, stay) in [(0, 0), (10, 3), (20, 6)] {
        let options = format!(r#"{{"reserved_percent": {percent}}}"#);
        let mut node = node("sequential-local", "sequential-local", &options, 32);
        (0..32).for_each(|leaf| drop(node.read(0, leaf * LEAF)));
        node.read(0, 512);
        let gone: Vec<u32> = (0..32).filter(|leaf| !leaves(&node, 0, 32).contains(leaf)).collect();
        assert_eq!(gone, [stay], "{percent} per cent of 32 leaves");
    }
}

#[test]
fn what_is_reserved_leaves_when_nothing_else_can() {
    let mut node = node("none", "sequential-local", r#"{"reserved_percent": 99}"#, 2);
    [0, 16].into_iter().for_each(|page| drop(node.read(0, page)));
    let processor = ProcessorId::gpu(0);
    node.event(Event::Capacity { memory: processor.memory(), pages: 1 });
    assert_eq!(leaves(&node, 0, 32), [0], "the last of two");
    node.event(Event::Capacity { memory: processor.memory(), pages: 0 });
    assert_eq!(node.manager.frames_held(processor.memory()), 0);
}

/// Pages that the GPU maps are accessed, so often each.
fn access(node: &mut Node, pages: &[(u32, u32)]) {
    let accessed =
        |&(page, times)| Accessed { processor: ProcessorId::gpu(0), page: PageId(page), times, stores: false };
    node.manager.note_accesses(&pages.iter().map(accessed).collect::<Vec<_>>());
}

#[test]
fn refresh_valid_pages_an_access_keeps_what_was_served_first() {
    for (eviction, prefetch, step) in [
        ("lru-page", "none", 1),
        ("lru-block", "none", 512),
        ("sequential-local", "sequential-local", 512),
        ("tree-neighborhood", "sequential-local", 512),
    ] {
        for (recency, leaves) in [("service", 0), ("access", 1)] {
            let capacity = if prefetch == "none" { 2 } else { 2 * LEAF };
            let config = MemoryConfig {
                prefetch: choice(prefetch, "{}"),
                eviction: choice(eviction, &format!(r#"{{"recency": "{recency}"}}"#)),
                ..placement("on-touch", "{}")
            };
            let mut node = Node::with(&config, &Topology::of(vec![capacity]));
            assert_eq!(node.manager.wants_accesses(), recency == "access");
            (0..2).for_each(|unit| drop(node.read(0, unit * step)));
            access(&mut node, &[(0, 1)]);
            node.read(0, 2 * step);
            let gone: Vec<u32> = (0..2).filter(|unit| here(&node, unit * step..unit * step + 1).is_empty()).collect();
            assert_eq!(gone, [leaves], "{eviction}, {recency}");
        }
    }
}

#[test]
fn eviction_policy_4_the_block_accessed_least_often_leaves_and_begins_anew() {
    let config = MemoryConfig { eviction: choice("lfu-block", "{}"), ..placement("on-touch", "{}") };
    let mut node = Node::with(&config, &Topology::of(vec![2]));
    [0, 512].into_iter().for_each(|page| drop(node.read(0, page)));
    access(&mut node, &[(0, 3), (512, 1)]);
    node.read(0, 1024);
    assert_eq!((here(&node, 0..1).len(), here(&node, 512..513).len()), (1, 0), "the second was accessed least often");
    node.read(0, 512);
    assert_eq!((here(&node, 0..1).len(), here(&node, 1024..1025).len()), (1, 0), "the third was accessed once");
    access(&mut node, &[(512, 1)]);
    node.read(0, 1024);
    assert_eq!((here(&node, 0..1).len(), here(&node, 512..513).len()), (1, 0), "what had left began anew");
}

/// Both blocks are about to leave by a plan that fails: the first of them is the next victim again, however many of its
/// pages are resident.
#[test]
fn blocks_that_are_back_leave_first_and_in_their_order() {
    let config = MemoryConfig { eviction: choice("lfu-block", "{}"), ..placement("on-touch", "{}") };
    let mut node = Node::with(&config, &Topology::of(vec![3]));
    [0, 1, 512].into_iter().for_each(|page| drop(node.read(0, page)));
    access(&mut node, &[(0, 1), (512, 5)]);
    let mut plans = Vec::new();
    let pages = PageRun { first: PageId(1024), count: 3 };
    let prefetch = Event::Prefetch { pages, to: MemoryId::gpu(0) };
    node.manager.handle(Time::ZERO, prefetch, &mut plans);
    let refusal = Refusal { done: Prefix::NONE, why: Why::Again };
    node.manager.fail(Time::ZERO, &plans[0], refusal, &mut Vec::new());
    assert_eq!((here(&node, 0..513).len(), here(&node, 1024..1536).len()), (3, 0), "all are back");
    node.read(0, 1024);
    assert_eq!((here(&node, 0..2).len(), here(&node, 512..513).len()), (0, 1));
    node.event(Event::Prefetch { pages: PageRun { first: PageId(1025), count: 2 }, to: MemoryId::gpu(0) });
    assert_eq!((here(&node, 512..513).len(), here(&node, 1024..1536).len()), (0, 3));
}

/// All of a block went elsewhere: it is found to be gone when its turn comes, and has no past when it returns.
#[test]
fn blocks_that_are_gone_are_forgotten() {
    let config = MemoryConfig { eviction: choice("lfu-block", "{}"), ..placement("on-touch", "{}") };
    let mut node = Node::with(&config, &Topology::of(vec![3, 3]));
    [0, 512, 1024].into_iter().for_each(|page| drop(node.read(0, page)));
    access(&mut node, &[(0, 50), (512, 100), (1024, 60)]);
    node.write(1, 0);
    node.read(0, 1536);
    access(&mut node, &[(1536, 70)]);
    node.read(0, 513); // The turn of the first block, which the other GPU has, and of the third.
    node.read(0, 1024);
    access(&mut node, &[(1024, 20)]);
    node.write(1, 513);
    node.read(0, 0);
    node.read(0, 1536);
    assert_eq!((here(&node, 0..1).len(), here(&node, 1024..1025).len()), (0, 1), "it had 50 accesses once");
}

#[test]
fn is_block_evictable_what_is_not_whole_stays() {
    for eviction in ["sequential-local", "tree-neighborhood"] {
        let options = r#"{"whole": true}"#;
        let mut node = node("none", eviction, options, 2);
        node.read(0, 0);
        (16..32).for_each(|page| drop(node.read(0, page)));
        (512..527).for_each(|page| drop(node.read(0, page)));
        assert_eq!(here(&node, 0..32).len(), 17, "{eviction}");
        node.read(0, 527);
        assert_eq!(
            (here(&node, 0..16).len(), here(&node, 16..32).len()),
            (1, 0),
            "{eviction}: the second leaf alone is whole"
        );
    }
    let config = MemoryConfig { eviction: choice("lru-block", r#"{"whole": true}"#), ..placement("on-touch", "{}") };
    let mut node = Node::with(&config, &Topology::of(vec![514]));
    node.read(0, 512);
    (0..512).for_each(|page| drop(node.read(0, page)));
    node.read(0, 513);
    node.read(0, 514);
    assert_eq!((here(&node, 0..512).len(), here(&node, 512..1024).len()), (0, 3));
}

#[test]
fn is_block_evictable_pages_that_are_not_allocated_are_not_missed() {
    for eviction in ["lru-block", "sequential-local", "tree-neighborhood"] {
        let eviction = choice(eviction, r#"{"whole": true}"#);
        let mut node = Node::with(&MemoryConfig { eviction, ..placement("on-touch", "{}") }, &Topology::of(vec![6]));
        node.event(Event::Free(PageRun { first: PageId(4), count: 508 }));
        (0..4).chain(512..515).for_each(|page| drop(node.read(0, page)));
        assert_eq!((here(&node, 0..4), here(&node, 512..1024)), (vec![], vec![512, 513, 514]));
    }
}

#[test]
fn hwprefetch_oversub_the_other_prefetcher_begins_after_the_fault_that_did_not_fit() {
    let config = MemoryConfig {
        prefetch: choice("when-full", r#"{"before": "sequential-local", "after": "none"}"#),
        ..placement("on-touch", "{}")
    };
    let mut node = Node::with(&config, &Topology::of(vec![3 * LEAF - 1]));
    [0, 16, 512].into_iter().for_each(|page| drop(node.read(0, page)));
    assert_eq!((here(&node, 0..512).len(), here(&node, 512..544).len()), (2 * LEAF as usize - 1, LEAF as usize));
    node.read(0, 544);
    assert_eq!(here(&node, 544..560), [544]);
    let unknown = MemoryConfig { prefetch: choice("when-full", r#"{"after": "tree-neighbourhood"}"#), ..config };
    let error = unknown.resolve().unwrap_err();
    assert!(error.key == "prefetch.after" && error.message.contains("`tree-neighborhood`"), "{error}");
}

/// The third leaf of four brings the fourth, though room for both takes the first two.
#[test]
fn do_hardware_prefetch_what_comes_is_decided_before_anything_leaves() {
    for (prefetch_plan, stay) in [(PrefetchPlan::Shared, vec![1, 2]), (PrefetchPlan::AtOnce, vec![2, 3])] {
        let config = MemoryConfig {
            prefetch_plan,
            prefetch: choice("tree-neighborhood", "{}"),
            eviction: choice("sequential-local", "{}"),
            ..placement("on-touch", "{}")
        };
        let mut node = Node::with(&config, &Topology::of(vec![2 * LEAF]));
        [0, 16, 32].into_iter().for_each(|page| drop(node.read(0, page)));
        assert_eq!(leaves(&node, 0, 32), stay, "{prefetch_plan:?}");
    }
}

/// Whole leaves come with touched pages, and room is made for all of them at once.
fn at_once(name: &str) -> MemoryConfig {
    let prefetch = choice("sequential-local", "{}");
    MemoryConfig { prefetch_plan: PrefetchPlan::AtOnce, prefetch, ..placement(name, "{}") }
}

#[test]
fn what_leaves_for_a_fault_and_what_comes_with_it_leaves_together() {
    let mut node = Node::with(&at_once("on-touch"), &Topology::of(vec![LEAF]));
    node.read(0, 512);
    let steps = node.read(0, 528);
    let left: Vec<&String> = steps.iter().filter(|step| step.ends_with("eviction")).collect();
    assert_eq!(left, ["copy 512x16 gpu0 host eviction"]);
}

#[test]
fn a_fault_that_only_maps_its_page_brings_nothing() {
    let mut node = Node::with(&at_once("first-touch"), &Topology::unlimited(2));
    node.event(Event::Prefetch { pages: PageRun::one(PageId(528)), to: MemoryId::gpu(0) });
    node.event(Event::Faults(&[512, 528].map(|page| fault(1, page, Access::Read))));
    let there = (512..1024).filter(|&page| node.manager.page(PageId(page)).owner == MemoryId::gpu(1));
    assert_eq!(there.collect::<Vec<_>>(), (512..528).collect::<Vec<_>>());
}

#[test]
fn what_is_to_be_done_about_a_page_on_its_way_is_decided_when_it_has_come() {
    let mut node = Node::with(&at_once("on-touch"), &Topology::unlimited(2));
    let counts = |node: &Node| {
        let counts = node.manager.statistics();
        (counts.far_faults, counts.faults_on_busy_pages, counts.stale_faults)
    };
    let mut plans = Vec::new();
    node.manager.handle(Time::ZERO, Event::Faults(&[fault(0, 512, Access::Read)]), &mut plans);
    node.manager.handle(Time::ZERO, Event::Faults(&[fault(1, 516, Access::Read)]), &mut plans);
    assert_eq!((plans.len(), counts(&node)), (1, (1, 1, 0)));
    while !plans.is_empty() {
        let plan = plans.remove(0);
        node.manager.complete(Time::ZERO, plan.id, &mut plans);
    }
    assert_eq!((node.manager.page(PageId(516)).owner, counts(&node)), (MemoryId::gpu(1), (2, 1, 0)));
    node.read(1, 516);
    assert_eq!(counts(&node), (2, 1, 1), "it is mapped");
}

/// What does not fit as a whole comes as far as there is room.
#[test]
fn what_is_more_than_the_memory_comes_run_by_run() {
    let config = at_once("on-touch");
    let mut node = Node::with(&config, &Topology::of(vec![5]));
    node.read(0, 3);
    assert_eq!(here(&node, 0..16), [0, 1, 2, 3]);
    let mut node = Node::with(&config, &Topology::of(vec![LEAF]));
    node.read(0, 3);
    assert_eq!(here(&node, 0..16), (0..16).collect::<Vec<_>>());
}
