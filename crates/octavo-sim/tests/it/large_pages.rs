//! Several page sizes at once on the node: what coalescing, splintering and compaction cost and change.

use crate::support::*;
use octavo_manager::{Fragmentation, MemoryConfig};
use octavo_node::{LargeTlbConfig, NodeConfig};
use octavo_program::{Data, Existence, Frames, Op};
use octavo_registry::Choice;
use octavo_sim::{Job, RunOptions, SimError, simulate, simulate_jobs};
use octavo_units::Bytes;

fn with_large_entries(gpus: u32) -> NodeConfig {
    let mut node = node(gpus);
    for tlb in [&mut node.l1_tlb, &mut node.l2_tlb] {
        tlb.large = Some(LargeTlbConfig { entries: 4, ways: 4 });
    }
    node.walker.in_memory = true;
    node
}

/// Mosaic with pages of 4 KiB and so large ones.
fn mosaic(placement: &str, large_pages: u64) -> MemoryConfig {
    let mut sizing = Choice::named("mosaic");
    sizing.options.insert("large_page".to_owned(), format!("{}KiB", large_pages * 4).into());
    sizing.options.insert("threshold".to_owned(), (large_pages / 2).into());
    MemoryConfig { sizing, allocator: Choice::named("cocoa"), ..memory(placement) }
}

fn touch(pages: std::ops::Range<u64>) -> Vec<Op> {
    pages.flat_map(|page| load(page, page % 64)).collect()
}

#[test]
fn a_block_whose_pages_are_all_there_is_translated_by_one_entry() {
    // Eight pages in blocks of eight; first-level TLBs of one small entry miss from page to page.
    let mut node = with_large_entries(1);
    (node.l1_tlb.entries, node.l1_tlb.ways) = (1, 1);
    (node.l2_tlb.entries, node.l2_tlb.ways) = (1, 1);
    let script = |rounds: usize| Script::sequence(8, vec![touch(0..8).repeat(rounds)]);
    let walks = |memory: &MemoryConfig, rounds| run_with(&node, memory, &script(rounds)).summary.accesses.walks;
    let (base, large) = (memory("on-touch"), mosaic("on-touch", 8));
    // Each first touch walks twice: to the fault, and when it is replayed. The last replay finds the large page.
    assert_eq!((walks(&base, 1), walks(&large, 1)), (16, 16));
    assert_eq!((walks(&base, 3) - walks(&base, 1), walks(&large, 3) - walks(&large, 1)), (16, 0));
    let accesses = run_with(&node, &large, &script(3)).summary.accesses;
    assert_eq!((accesses.l1_tlb_hits, accesses.l1_tlb_large_hits), (16, 16));
    assert_eq!(run_with(&node, &large, &script(3)).summary.manager.coalesced, 1);
}

#[test]
fn walks_for_whole_blocks_alone_end_above_the_last_level() {
    let memory_of = |sizing, allocator| MemoryConfig {
        sizing: Choice::named(sizing),
        allocator: Choice::named(allocator),
        ..memory("on-touch")
    };
    for in_memory in [false, true] {
        let mut node = with_large_entries(1);
        (node.walker.in_memory, node.walker.cache_entries) = (in_memory, 0);
        // The last replay finds the large page.
        let saved = |memory: &MemoryConfig, pages: u64| {
            let script = Script::sequence(pages, vec![touch(0..pages)]);
            let summary = run_with(&node, memory, &script).summary;
            assert_eq!(summary.manager.coalesced, 1);
            4 * summary.accesses.walks - summary.accesses.walk_levels
        };
        assert_eq!((saved(&mosaic("on-touch", 8), 8), saved(&mosaic("on-touch", 512), 512)), (0, 0));
        assert_eq!(saved(&memory_of("whole-blocks", "chunks"), 512), 1);
    }
}

#[test]
fn the_second_level_keeps_large_translations_for_other_units() {
    let node = with_large_entries(1);
    // Unit 0 brings the block; unit 1 comes when it is whole, and finds it in the second level.
    let late = [compute(200), load(3, 60)].concat();
    let script = Script::new(8, vec![vec![vec![touch(0..8)], vec![late]]]);
    let accesses = run_with(&node, &mosaic("on-touch", 8), &script).summary.accesses;
    assert_eq!(accesses.l2_tlb_large_hits, 1);
}

#[test]
fn what_takes_a_page_away_splinters_its_block() {
    let node = with_large_entries(2);
    // GPU 0 has the whole block; GPU 1 takes one page; GPU 0 reads the rest again through base entries.
    let takes = [compute(100), store(2, 0)].concat();
    let script =
        Script::one_group_per_gpu(8, vec![[touch(0..8), compute(150), touch(0..2), touch(3..8)].concat(), takes]);
    let result = run_with(&node, &mosaic("on-touch", 8), &script);
    let manager = &result.summary.manager;
    assert_eq!((manager.coalesced, manager.splintered), (1, 1));
}

#[test]
fn every_placement_runs_with_large_pages_on_four_gpus() {
    // The script's stores and loads of shared pages make every scheme act; agreement of page tables and manager is
    // checked at the end of each run in builds with assertions.
    let node = with_large_entries(4);
    let program = |gpu: u64| {
        let own = touch(gpu * 16..gpu * 16 + 16);
        let shared = (0..8).flat_map(|page| if page % 4 == gpu { store(64 + page, gpu) } else { load(64 + page, gpu) });
        [own.clone(), shared.clone().collect(), own, shared.collect(), touch(64..72)].concat()
    };
    let mut full = node.clone();
    full.capacity.footprint_percent = 60;
    for memory in combinations() {
        let MemoryConfig { prefetch, eviction, .. } = memory.clone();
        let memory = MemoryConfig { prefetch, eviction, ..mosaic(&memory.placement.name, 8) };
        let script = Script::one_group_per_gpu(72, (0..4).map(program).collect());
        run_with(&full, &memory, &script);
        let manager = run_with(&node, &memory, &script).summary.manager;
        if memory.placement.name == "grit" {
            assert!(manager.coalesced >= 4, "each GPU's own pages at least: {manager:?}");
        }
    }
}

#[test]
fn compaction_stops_the_gpu_as_its_model_says() {
    // A memory of four frames of eight pages; all hold foreign data in half of their places, so that a frame is free
    // only after four pages have moved.
    let time = |model: &str| {
        let (node, memory) = fragmented(4, model);
        let result = run_with(&node, &memory, &Script::sequence(8, vec![touch(0..8)]));
        (result.summary.time_ps / 1000, result.summary.manager.pages_compacted, result.summary.manager.coalesced)
    };
    let (ideal, moved, coalesced) = time("ideal");
    assert_eq!((moved, coalesced), (4, 1), "one frame emptied into the holes of another");
    let (bulk, worst) = (time("bulk-copy").0, time("worst-case").0);
    // 80 ns a page; or 100 cycles twice and 64 lines on one bank twice.
    assert_eq!((bulk - ideal, worst - ideal), (4 * 80, 4 * 2 * (100 + 64)));
    assert_eq!(time("none").2, 0, "pages lie in the holes between foreign ones");
}

#[test]
fn memory_use_is_that_of_the_fullest_end_of_a_program() {
    // The short program touches six of eight pages and restarts again and again, so that it holds anything between one
    // and six of them when the long one ends.
    let node = with_large_entries(1);
    let short = Script::sequence(8, vec![touch(0..6)]);
    let long = Script::sequence(8, vec![[touch(0..8), compute(1000)].concat()]);
    let jobs = [Job::named("short", &short), Job::named("long", &long)];
    let result = simulate_jobs(&node, &mosaic("on-touch", 8), &jobs, RunOptions::default()).unwrap();
    let [used] = result.summary.memory_use[..] else { panic!("{:?}", result.summary.memory_use) };
    assert_eq!((used.base_frames, used.large_frames, used.foreign_frames), (14, 2, 0));
    assert!((used.bloat - 2.0 / 14.0).abs() < 1e-12, "{used:?}");
}

/// A script whose pages exist from allocation, as a job.
fn existing<'a>(script: &'a Script, name: &str, data: Data) -> Job<'a> {
    Job { existence: Existence { frames: Frames::Allocation, data }, ..Job::named(name, script) }
}

#[test]
fn blocks_are_whole_from_allocation_on_where_their_data_are_there_or_come_at_launch() {
    let node = with_large_entries(1);
    let script = Script::sequence(8, vec![touch(0..6)]);
    for copies in [1, 2] {
        let run = |data| {
            let jobs: Vec<_> = (0..copies).map(|copy| existing(&script, &format!("copy{copy}"), data)).collect();
            simulate_jobs(&node, &mosaic("first-touch", 8), &jobs, RunOptions::default()).unwrap().summary
        };
        let [there, launch, fault] = [Data::Allocation, Data::Launch, Data::Fault].map(run);
        for (found, coalesced, faults) in [(&there, true, false), (&launch, true, false), (&fault, false, true)] {
            assert_eq!((found.manager.coalesced > 0, found.accesses.faults > 0), (coalesced, faults));
            assert_eq!(found.accesses.l1_tlb_large_hits > 0, coalesced);
            let [used] = found.memory_use[..] else { panic!("{:?}", found.memory_use) };
            let pages = (used.base_frames, used.large_frames, used.coalesced_frames);
            assert_eq!(pages, (8 * copies, copies, if coalesced { 8 * copies } else { 0 }), "also what nobody touches");
            assert_eq!(used.bloat.to_bits(), 0.0f64.to_bits());
        }
        assert!(there.time_ps < launch.time_ps && launch.time_ps < fault.time_ps);
        let bus = u64::from(copies) * 8 * 4096 * 1_000_000_000_000 / node.host_link.bandwidth.0;
        assert!(launch.time_ps > bus, "all eight pages come over the bus");
    }
}

/// Mosaic in a memory of so many large frames of eight pages, all of which foreign data half fills.
fn fragmented(large_frames: u64, model: &str) -> (NodeConfig, MemoryConfig) {
    let mut node = with_large_entries(1);
    node.capacity.bytes = Bytes(large_frames * 8 * 4096);
    let mut memory = mosaic("first-touch", 8);
    memory.sizing.options.insert("compaction".to_owned(), model.into());
    memory.allocator.options.insert("channels".to_owned(), 1.into());
    memory.fragmentation = Fragmentation { index: 100, occupancy: 50, ..Fragmentation::default() };
    (node, memory)
}

#[test]
fn memory_is_compacted_at_allocation_whenever_data_arrive() {
    let script = Script::sequence(16, vec![touch(0..16)]);
    for data in [Data::Fault, Data::Launch, Data::Allocation] {
        let run = |model| {
            let (node, memory) = fragmented(6, model);
            let job = [existing(&script, "script", data)];
            simulate_jobs(&node, &memory, &job, RunOptions::default()).unwrap().summary
        };
        let [worst, ideal, none] = ["worst-case", "ideal", "none"].map(run);
        for (found, expected) in [(&worst, (2, 8, 2, 0)), (&ideal, (2, 8, 2, 0)), (&none, (0, 0, 0, 2))] {
            let manager = &found.manager;
            let counted =
                (manager.compactions, manager.pages_compacted, manager.coalesced, manager.large_frames_lacking);
            assert_eq!((counted, manager.faults_on_compaction), (expected, 0), "{data:?}");
        }
        // Eight pages one after another, 100 cycles twice and 64 lines on one bank twice each, and part of that beside
        // the beginning of the launch.
        let stopped = 8 * 2 * (100 + 64) * 1000;
        assert!(worst.time_ps > ideal.time_ps + stopped / 2, "{data:?}: {} {}", worst.time_ps, ideal.time_ps);
    }
}

#[test]
fn frames_that_are_set_aside_leave_a_full_memory_usable() {
    let mut node = with_large_entries(1);
    node.capacity.bytes = Bytes(3 * 8 * 4096);
    let (half, other) = (Script::sequence(20, vec![touch(0..4)]), Script::sequence(20, vec![touch(0..12)]));
    let jobs = [existing(&half, "half", Data::Fault), existing(&other, "other", Data::Fault)];
    let result = simulate_jobs(&node, &mosaic("first-touch", 8), &jobs, RunOptions::default()).unwrap();
    assert!(result.summary.accesses.faults >= 16, "{:?}", result.summary.accesses);
}

#[test]
fn foreign_data_is_not_the_programs_bloat() {
    let (node, memory) = fragmented(4, "none");
    let result = run_with(&node, &memory, &Script::sequence(8, vec![touch(0..8)]));
    let [used] = result.summary.memory_use[..] else { panic!("{:?}", result.summary.memory_use) };
    assert_eq!((used.base_frames, used.large_frames, used.foreign_frames), (8, 2, 8), "all holes of two frames");
    assert_eq!(used.bloat.to_bits(), 0.0f64.to_bits());
}

#[test]
fn exhausted_memory_names_the_application() {
    let mut node = with_large_entries(1);
    node.capacity.bytes = Bytes(6 * 4096);
    let memory = MemoryConfig { eviction: Choice::named("none"), ..memory("on-touch") };
    let script = Script::sequence(8, vec![touch(0..4)]);
    let jobs = ["script.1", "script.2"].map(|name| Job::named(name, &script));
    let error = simulate_jobs(&node, &memory, &jobs, RunOptions::default()).unwrap_err();
    assert!(matches!(error, SimError::OutOfMemory { .. }), "{error}");
    assert!(error.to_string().contains("out of memory: `script"), "{error}");
}

#[test]
fn large_pages_need_entries() {
    let error =
        simulate(&node(1), &mosaic("on-touch", 8), &Script::sequence(8, vec![touch(0..1)]), RunOptions::default());
    assert_eq!(error.unwrap_err(), SimError::NoLargeEntries { key: "l1_tlb" });
}
