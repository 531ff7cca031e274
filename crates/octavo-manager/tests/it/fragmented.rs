//! Memory in which foreign data lie: large frames are freed by compaction, at allocation and for faults.

use crate::common::{Node, choice};
use crate::mosaic::{GPU, begin, coalesced, end, fill, mosaic, node, run};
use octavo_manager::{Allocation, Event, Fragmentation, Kind, Manager, MemoryConfig, PageRun, Topology};
use octavo_units::Time;

fn fragmented(options: &str) -> MemoryConfig {
    let fragmentation = Fragmentation { index: 100, occupancy: 50, seed: 3 };
    MemoryConfig { fragmentation, ..mosaic("on-touch", options) }
}

#[test]
fn a_fault_waits_until_foreign_data_is_compacted_for_it() {
    let mut node = node(&fragmented(r#", "compaction": "bulk-copy""#), &[16]);
    let steps = node.write(0, 0);
    assert_eq!(
        steps,
        [
            "compact gpu0 2 BulkCopy",
            "copy 0 host gpu0 migration",
            "release host 0",
            "map gpu0 0 -> gpu0 rw",
            "wake gpu0 0"
        ]
    );
    fill(&mut node, 1..8);
    assert_eq!(coalesced(&node, 0..8), [true; 8]);
    let statistics = node.manager.statistics();
    assert_eq!((statistics.compactions, statistics.faults_on_compaction, statistics.evictions_written), (2, 2, 0));
    let used = node.manager.memory_use(GPU.memory()).unwrap();
    assert_eq!((used.base_frames, used.large_frames, used.large_frames_total), (8, 2, Some(4)));
}

#[test]
fn no_fault_waits_for_a_large_frame_beside_a_free_list() {
    let allocator = choice("free-list", "{}");
    let mut node = node(&MemoryConfig { allocator, ..fragmented("") }, &[16]);
    assert_eq!(node.write(0, 0)[0], "copy 0 host gpu0 migration");
    let statistics = node.manager.statistics();
    assert_eq!((statistics.compactions, statistics.faults_on_compaction), (0, 0));
}

#[test]
fn a_page_that_finds_room_beside_its_like_needs_no_large_frame() {
    let mut node = node(&fragmented(r#", "compaction": "bulk-copy""#), &[16]);
    node.event(Event::Free(run(0, 2048)));
    node.event(Event::Allocate(run(0, 3).into()));
    fill(&mut node, 0..3);
    assert_eq!(node.manager.statistics().compactions, 1, "for the first of them");
}

#[test]
fn a_page_that_may_take_no_free_frame_waits_for_the_compaction_under_way() {
    let mut node = node(&fragmented(r#", "compaction": "bulk-copy""#), &[16]);
    node.event(Event::Free(run(0, 2048)));
    node.event(Event::Allocate(run(0, 3).into()));
    node.event(Event::Allocate(run(8, 4).into()));
    fill(&mut node, 0..2);
    let compaction = begin(&mut node.manager, 0, 8).pop().unwrap();
    assert_eq!(crate::common::show(&compaction.steps[0]), "compact gpu0 2 BulkCopy");
    // Two pages, and two frames that foreign data is on its way to; eight frames hold such data.
    assert_eq!(node.manager.frames_held(GPU.memory()), 4);
    node.event(Event::Capacity { memory: GPU.memory(), pages: 12 });
    assert!(begin(&mut node.manager, 0, 2).is_empty());
    assert_eq!(end(&mut node.manager, &compaction).iter().filter(|step| step.starts_with("wake")).count(), 2);
}

#[test]
fn a_fault_that_waits_for_compaction_is_forgotten_with_its_page() {
    let mut manager = Manager::new(&fragmented(""), &Topology::of(vec![16])).unwrap();
    let mut plans = Vec::new();
    manager.handle(Time::ZERO, Event::Allocate(run(0, 8).into()), &mut plans);
    let faults = [0, 1, 4].map(|page| crate::common::fault(0, page, octavo_manager::Access::Write));
    manager.handle(Time::ZERO, Event::Faults(&faults), &mut plans);
    assert_eq!((plans.len(), manager.statistics().faults_on_compaction), (1, 3), "all wait for the same plan");
    manager.handle(Time::ZERO, Event::Free(run(0, 1)), &mut plans);
    manager.handle(Time::ZERO, Event::Allocate(run(0, 1).into()), &mut plans);
    let compaction = plans.remove(0);
    manager.complete(Time::ZERO, compaction.id, &mut plans);
    let woken: Vec<String> = plans.iter().flat_map(|plan| &plan.steps).map(crate::common::show).collect();
    assert!(woken.contains(&"wake gpu0 1".to_owned()) && !woken.contains(&"wake gpu0 0".to_owned()), "{woken:?}");
    manager.check().unwrap();
}

/// Allocates pages that nobody has touched, of a kind, in a memory of four large frames that foreign data half fills.
fn allocated(options: &str, run: PageRun, kind: Kind) -> (Node, Vec<String>) {
    let mut node = node(&fragmented(options), &[16]);
    node.event(Event::Free(self::run(0, 2048)));
    let compacts = kind == Kind::Device;
    let mut steps = node.event(Event::Allocate(Allocation { kind, compacts, populated: false, ..run.into() }));
    if !compacts {
        steps.extend(node.event(Event::SetAside { pages: run, to: GPU.memory() }));
    }
    (node, steps)
}

#[test]
fn memory_is_compacted_for_large_frames_when_pages_are_allocated() {
    let compact = |node: &Node| {
        let statistics = node.manager.statistics();
        let used = node.manager.memory_use(GPU.memory()).unwrap();
        (statistics.compactions, statistics.pages_compacted, statistics.large_frames_lacking, used.large_frames)
    };
    // Eight foreign pages fill two large frames; two more become free, and that is all.
    for kind in [Kind::Managed, Kind::Device] {
        for (pages, compacted) in [(4, (1, 2, 0, 1)), (8, (2, 4, 0, 2))] {
            let (mut node, steps) = allocated(r#", "compaction": "bulk-copy""#, run(0, pages), kind);
            assert_eq!(steps[..pages as usize / 4], vec!["compact gpu0 2 BulkCopy"; pages as usize / 4]);
            assert_eq!((compact(&node), node.manager.awaits_frames(run(0, pages))), (compacted, false));
            if kind == Kind::Managed {
                fill(&mut node, 0..pages);
            }
            assert_eq!(coalesced(&node, 0..pages), vec![true; pages as usize]);
            assert_eq!(node.manager.statistics().faults_on_compaction, 0, "all was done at allocation");
        }
    }
    let (node, _) = allocated("", run(0, 12), Kind::Managed);
    assert_eq!(compact(&node), (2, 4, 1, 2), "a third large frame cannot be had");
    let (node, steps) = allocated(r#", "compaction": "none""#, run(0, 8), Kind::Managed);
    assert_eq!((compact(&node), steps.len()), ((0, 0, 2, 0), 0));
}

#[test]
fn a_memory_with_free_large_frames_is_compacted_only_when_they_are_used_up() {
    let fragmentation = Fragmentation { index: 50, occupancy: 50, seed: 3 };
    let mut node = node(&MemoryConfig { fragmentation, ..mosaic("on-touch", "") }, &[16]);
    node.event(Event::Free(run(0, 2048)));
    node.event(Event::Allocate(Allocation { populated: false, ..run(0, 12).into() }));
    assert!(node.event(Event::SetAside { pages: run(0, 8), to: GPU.memory() }).is_empty(), "two are free");
    assert_eq!(node.event(Event::SetAside { pages: run(8, 4), to: GPU.memory() }), ["compact gpu0 2 WorstCase"]);
}

#[test]
fn an_incomplete_block_that_is_allocated_takes_a_large_frame_as_well() {
    let (node, steps) = allocated("", run(2, 4), Kind::Managed);
    assert_eq!((steps, node.manager.statistics().large_frames_lacking), (vec!["compact gpu0 2 WorstCase".into()], 0));
}

#[test]
fn pages_wait_while_memory_is_compacted_for_them_and_no_longer_once_they_are_freed() {
    let mut manager = Manager::new(&fragmented(""), &Topology::of(vec![16])).unwrap();
    let mut plans = Vec::new();
    manager.handle(Time::ZERO, Event::Allocate(Allocation { populated: false, ..run(0, 8).into() }), &mut plans);
    manager.handle(Time::ZERO, Event::SetAside { pages: run(0, 8), to: GPU.memory() }, &mut plans);
    assert_eq!((plans.len(), manager.awaits_frames(run(0, 8)), manager.starving()), (1, true, None));
    manager.handle(Time::ZERO, Event::Free(run(0, 8)), &mut plans);
    assert!(!manager.awaits_frames(run(0, 8)));
    let compaction = plans.remove(0);
    manager.complete(Time::ZERO, compaction.id, &mut plans);
    assert!(plans.is_empty(), "nobody wants a second large frame");
    manager.check().unwrap();
}

#[test]
fn without_compaction_pages_go_into_holes_between_foreign_data() {
    let mut node = node(&fragmented(r#", "compaction": "none""#), &[16]);
    fill(&mut node, 0..8);
    assert_eq!(coalesced(&node, 0..8), [false; 8]);
    let statistics = node.manager.statistics();
    assert_eq!(
        (
            statistics.compactions,
            statistics.named("identity_missed").unwrap(),
            statistics.named("soft_guarantee_broken").unwrap()
        ),
        (0, 8, 8)
    );
}

#[test]
fn pages_are_compacted_within_a_channel() {
    let allocator = choice("cocoa", r#"{"channels": 4}"#);
    let mut node = node(&MemoryConfig { allocator, ..fragmented("") }, &[16]);
    fill(&mut node, 0..4);
    assert_eq!((node.manager.statistics().compactions, coalesced(&node, 0..4)), (0, vec![false; 4]));
}

#[test]
fn foreign_data_takes_up_room() {
    let mut node = node(&fragmented(""), &[16]);
    fill(&mut node, 0..9);
    assert_eq!(node.manager.statistics().evictions_written, 1);
}

#[test]
fn foreign_data_needs_a_memory_with_a_limit_and_leaves_room() {
    let refused = |config: &MemoryConfig, topology| Manager::new(config, &topology).err().unwrap().key;
    assert_eq!(refused(&fragmented(""), Topology::unlimited(1)), "fragmentation.index");
    let full = Fragmentation { index: 100, occupancy: 100, seed: 0 };
    let full = MemoryConfig { fragmentation: full, ..fragmented("") };
    assert_eq!(refused(&full, Topology::of(vec![16])), "fragmentation.occupancy");
}
