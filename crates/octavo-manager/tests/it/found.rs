//! Histories that once failed, as short as they could be made.

use octavo_manager::{Advice, Kind, MemoryConfig, ProcessorId, ProcessorMask, Topology};
use octavo_units::Bytes;

use crate::common::choice;
use crate::differential::{RESIZED, SPEAKING};
use crate::harness::Harness;
use crate::harness::op::{Mix, Op, Touch, World};
use crate::reference::rules::{Guard, Links, Remote};
use crate::reference::{Eviction, Grit, Placement, Prefetch, Rules};

const HOST: u8 = u8::MAX;

fn reads(gpu: u8, pages: &[u32]) -> Op {
    Op::Touch(pages.iter().map(|&page| Touch { gpu, page, write: false }).collect())
}

fn play(harness: &mut Harness, gpus: usize, ops: &[Op]) {
    let (world, mix) = (World { gpus, pages: (40, 23) }, Mix { failing: true, ..RESIZED });
    world.allocate(harness);
    ops.iter().for_each(|op| harness.apply(op, world, mix));
    harness.settle();
}

/// A block that leaves while one of its pages goes elsewhere takes no note of that page; when the page comes back,
/// because its plan was refused, its block is the next to leave. The model forgot it.
#[test]
fn a_page_comes_back_to_a_block_that_left() {
    let rules = Rules {
        page_size: 64 << 10,
        capacity: vec![3],
        eviction: Eviction::LruBlock,
        ..Rules::unlimited(1, Placement::OnTouch)
    };
    let ops = [reads(0, &[33, 34]), Op::Settle, reads(HOST, &[33]), reads(0, &[0, 1, 2]), Op::Fail(0, 0, 0)];
    play(&mut Harness::new(&rules), 1, &ops);
}

/// A replica that stores are broadcast to was being given up, and lost its mapping, when the plan was refused. The next
/// store mapped the owner's copy, too.
#[test]
fn a_replica_that_was_to_go_is_mapped_again() {
    let config = crate::common::placement("gps", "{}");
    let mut harness = Harness::without_model(&config, &Topology::of(vec![18, 23]), false);
    let writes = |gpu, page| Op::Touch(vec![Touch { gpu, page, write: true }]);
    let ops = [reads(0, &[7]), writes(1, 7), Op::Settle, Op::KernelEnd(0), Op::Fail(0, 2, 0), writes(1, 7)];
    play(&mut harness, 2, &ops);
}

/// A plan populated untouched pages, was refused and lost them, and they were populated elsewhere at once. The test
/// took that for a move without a step.
#[test]
fn a_page_is_populated_again_elsewhere() {
    let config = MemoryConfig {
        page_size: Bytes(4 << 10),
        prefetch: choice("sequential-local", "{}"),
        allocator: choice("free-list", "{}"),
        sizing: choice("mosaic", r#"{"large_page": "32KiB", "threshold": 6, "compaction": "none"}"#),
        ..crate::common::placement("on-touch", "{}")
    };
    let mut harness = Harness::without_model(&config, &Topology::of(vec![9]), false);
    harness.second_kind = Kind::Managed;
    play(
        &mut harness,
        1,
        &[
            reads(0, &[0]),
            Op::Settle,
            Op::Sweep { gpu: 0, first: 40, pages: 9, write: false },
            reads(0, &[49]),
            Op::Fail(0, 0, 0),
        ],
    );
}

/// A fault waited until its page had come to another GPU and was mapped there, as advised; it was woken by the plan of
/// another of its batch, which took that page away to make room. The test took that for a service.
#[test]
fn a_page_mapped_elsewhere_leaves_for_others_of_its_batch() {
    let rules = Rules {
        capacity: vec![4, 1],
        prefetch: Prefetch::SequentialLocal,
        ..Rules::unlimited(1, Placement::FirstTouch)
    };
    let second = ProcessorId::gpu(1).memory();
    let mapped = Advice { accessed_by: ProcessorMask::only(ProcessorId::gpu(0)), ..Advice::default() };
    let ops = [
        reads(1, &[0]),
        Op::Advise { first: 0, pages: 1, advice: mapped },
        Op::Settle,
        reads(1, &[1]),
        Op::Settle,
        Op::Advise { first: 1, pages: 1, advice: Advice { preferred: Some(second), ..Advice::default() } },
        reads(1, &[0]),
        reads(0, &[0, 1]),
    ];
    play(&mut Harness::new(&rules), 2, &ops);
}

/// Pages of two address spaces that have shares lay in one group of 64 KiB and moved together. The first space's
/// evictor got the reports of both, so pages of the second could never be evicted.
#[test]
fn a_group_of_two_address_spaces_moves_as_two() {
    let remote = Remote { map_host: true, moves_group: true };
    let rules = Rules {
        capacity: vec![20, 20],
        quota: Some([None, None]),
        ..Rules::unlimited(1, Placement::AccessCounter(remote))
    };
    let ops = [
        reads(HOST, &[40]),
        Op::Settle,
        Op::Counter { gpu: 0, page: 40 },
        Op::Settle,
        Op::Counter { gpu: 1, page: 39 },
    ];
    play(&mut Harness::new(&rules), 2, &ops);
}

/// A group of 64 pages, some of them of another placement: when these were freed, the model split it; when it was split,
/// the model kept a part that held those alone.
#[test]
fn pages_of_another_placement_are_no_part_of_a_group() {
    let grit = Grit { threshold: 1, ..Grit::default() };
    let rules = Rules {
        page_size: 2 << 20,
        second_placement: Some(Placement::Duplication),
        ..Rules::unlimited(2, Placement::Grit(grit))
    };
    let sweep = |gpu, first, pages, write| Op::Sweep { gpu, first, pages, write };
    let ops = [
        Op::Storm { gpu: 0, around: 0, level: 1, write: true },
        sweep(0, 20, 17, true),
        sweep(0, 1, 16, true),
        Op::Settle,
        Op::Renew,
        sweep(1, 0, 6, false),
    ];
    play(&mut Harness::new(&rules), 2, &ops);
}

/// Two pages should have left ahead of need, but the address space furthest above its share could give only one. The
/// other gave up the second with the next event, a report that concerns no strategy, after which the model did nothing.
#[test]
fn whatever_happens_frames_are_freed_ahead_of_need() {
    let rules = Rules {
        capacity: vec![2, 5],
        reserve: 5,
        prefetch: Prefetch::Tree(21),
        own_plan: true,
        quota: Some([None, Some(1)]),
        system: Placement::FirstTouch,
        second_placement: Some(Placement::FirstTouch),
        second_kind: Kind::System,
        ..Rules::unlimited(2, Placement::FirstTouch)
    };
    let read = |gpu, page| Touch { gpu, page, write: false };
    let ops = [
        Op::Sweep { gpu: 1, first: 6, pages: 9, write: false },
        Op::Settle,
        Op::Touch(vec![read(0, 9), read(1, 40), read(1, 10)]),
        Op::Finish(9),
        Op::Report(Vec::new()),
    ];
    play(&mut Harness::new(&rules), 2, &ops);
}

/// Pages that the program fetches fill the host's first memory and continue into the second: two moves, between which
/// the guard's lapse grows. The model took them for one.
#[test]
fn pages_that_fill_two_memories_of_the_host_move_twice() {
    let guard = Guard {
        threshold: 1,
        pin_threshold: 1,
        lapse: 9,
        adapts: true,
        nap: 9,
        pin: 59,
        epoch: 20,
        max_resets: 1,
        links: Links::Gpus,
    };
    let rules = Rules {
        capacity: vec![22],
        hosts: vec![15, 19, 7, 1000],
        reserve: 1,
        prefetch: Prefetch::Tree(51),
        eviction: Eviction::SequentialLocal(37),
        system: Placement::FirstTouch,
        guard: Some(guard),
        ..Rules::unlimited(1, Placement::OnTouch)
    };
    let ops = [
        Op::Sweep { gpu: 0, first: 8, pages: 15, write: false },
        Op::Touch(vec![Touch { gpu: 0, page: 0, write: false }, Touch { gpu: HOST, page: 8, write: false }]),
        reads(0, &[0]),
        Op::Finish(6),
        Op::Wait(22),
        Op::Finish(83),
        Op::Sweep { gpu: 0, first: 5, pages: 4, write: false },
    ];
    let (world, mix) = (World { gpus: 1, pages: (40, 23) }, Mix { tick: 3, ..SPEAKING });
    let mut harness = Harness::new(&rules);
    world.allocate(&mut harness);
    ops.iter().for_each(|op| harness.apply(op, world, mix));
    harness.settle();
}
