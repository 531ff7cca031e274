//! Instructions of all classes, instruction fetch, scalar loads, waits for some, and limits of occupancy: times that
//! can be added up by hand.

use crate::support::{Script, line, load, node, run};
use octavo_node::{LaunchDiscards, NodeConfig};
use octavo_program::{InstructionMix, Op, Resources};
use octavo_units::{Bytes, Cycles};

fn time(node: &NodeConfig, launches: Vec<Vec<Op>>) -> u64 {
    run(node, "on-touch", &Script::sequence(8, launches)).summary.time_ps
}

/// The time that `last` adds after `before`, all on one wavefront.
fn added(node: &NodeConfig, before: &[Op], last: &[Op]) -> u64 {
    time(node, vec![[before, last].concat()]) - time(node, vec![before.to_vec()])
}

fn mix(vector: u32, scalar: u32, local_data: u32, branch: u32) -> Op {
    Op::mixed(InstructionMix { vector, scalar, local_data, branch })
}

/// Two wavefronts of one unit, in one work-group.
fn together(ops: &[Op]) -> Script {
    Script::new(8, vec![vec![vec![ops.to_vec(), ops.to_vec()]]])
}

#[test]
fn a_wavefront_alone_pays_the_latency_of_each_class() {
    let mut node = node(1);
    node.compute.vector_alu.latency = Cycles(5);
    assert_eq!(added(&node, &[], &[mix(10, 0, 0, 0)]), 10 * 5_000);
    assert_eq!(added(&node, &[], &[mix(0, 10, 0, 0)]), 10 * 4_000);
    assert_eq!(added(&node, &[], &[mix(0, 0, 10, 0)]), 10 * 18_000);
    // A branch takes 3 cycles and then fetches anew, 30.
    assert_eq!(added(&node, &[], &[mix(0, 0, 0, 10)]), 10 * 33_000);
    assert_eq!(added(&node, &[], &[mix(1, 2, 3, 4)]), 5_000 + 2 * 4_000 + 3 * 18_000 + 4 * 33_000);
}

#[test]
fn wavefronts_share_the_local_data_share_of_their_unit_but_not_simds() {
    let run = |op: Op| run(&node(1), "on-touch", &together(&[op])).summary.time_ps;
    assert_eq!(run(mix(100, 0, 0, 0)), 100 * 4_000, "each on a SIMD of its own");
    assert_eq!(run(mix(0, 0, 100, 0)), 100 * 15_000 + 100 * 18_000, "the second begins when the first has issued all");
}

#[test]
fn instructions_are_counted_by_class() {
    let accesses = run(&node(1), "on-touch", &together(&[mix(1, 2, 3, 4), Op::fetch(0, 2)])).summary.accesses;
    assert_eq!((accesses.compute_instructions, accesses.scalar_instructions), (2, 4));
    assert_eq!((accesses.local_data_instructions, accesses.branches, accesses.code_lines), (6, 8, 4));
}

#[test]
fn the_first_pass_through_code_fetches_it_and_later_ones_hit() {
    let node = node(1);
    // Translation: a walk of four levels. Each line: TLB 1, crossbar 2 × 5 and bank 10 there and back, memory 101, and
    // the cache's own 30. Lines are asked for one after another.
    let miss = (1 + 10 + 10 + 101 + 30) * 1_000;
    assert_eq!(time(&node, vec![vec![Op::fetch(0, 1)]]), 400_000 + miss);
    assert_eq!(time(&node, vec![vec![Op::fetch(0, 3)]]), 400_000 + 3 * miss);
    // The same kernel again finds its code in the instruction cache.
    assert_eq!(time(&node, vec![vec![Op::fetch(0, 1)], vec![Op::fetch(0, 1)]]), 400_000 + miss + 30_000);
}

#[test]
fn a_buffer_fills_ahead_of_a_branch_up_to_the_end_of_the_code() {
    let found = |buffer_lines, code_lines: u64, ops: &[Op]| {
        let mut node = node(1);
        node.fetch.buffer_lines = buffer_lines;
        let mut script = Script::sequence(8, vec![ops.to_vec()]);
        script.code_bytes = 64 * code_lines - 60;
        let summary = run(&node, "interleaved", &script).summary;
        (summary.accesses.dram_reads, summary.accesses.code_lines, summary.time_ps)
    };
    let one = [Op::fetch(0, 1)];
    let miss = (1 + 10 + 10 + 101 + 30) * 1_000;
    let long = [Op::fetch(0, 1), Op::compute(250)];
    let time = 400_000 + miss + 1_000_000;
    assert_eq!(found(1, 10, &long), (1, 1, time));
    assert_eq!(found(4, 10, &long), (4, 1, time), "nobody waits for what is not executed");
    assert_eq!(found(4, 3, &long), (3, 1, time), "the code ends");
    assert_eq!(found(4, 10, &one), (1, 1, 400_000 + miss), "there is no time");
    assert_eq!(found(4, 10, &[Op::fetch(0, 1), Op::compute(50)]), (3, 1, 400_000 + miss + 200_000), "for two of three");
    assert_eq!(found(4, 10, &[Op::fetch(0, 2)]), (2, 2, 400_000 + 2 * miss), "what is executed comes no sooner");
    // After a branch over line 1, line 2 is there: it was asked for third. Lines 3 to 5 are asked for, too.
    let over = [&long[..], &[mix(0, 0, 0, 1), Op::fetch(2, 1), Op::compute(250)]].concat();
    assert_eq!(found(4, 10, &over), (6, 2, time + 3_000 + 30_000 + 1_000_000));
}

#[test]
fn a_branch_waits_for_what_is_on_its_way_and_a_buffer_asks_when_it_has_room() {
    let mut node = node(1);
    node.fetch.buffer_lines = 2;
    let miss = (1 + 10 + 10 + 101 + 30) * 1_000;
    let found = |ops: &[Op]| {
        let mut script = Script::sequence(8, vec![ops.to_vec()]);
        script.code_bytes = 64 * 10;
        run(&node, "interleaved", &script).summary.time_ps - 400_000 - miss
    };
    // Line 1 was asked for when line 0 had come. The branch is over 3 cycles after 10 instructions, before line 1 comes;
    // line 0 is fetched again then.
    assert_eq!(found(&[Op::fetch(0, 1), Op::compute(10), mix(0, 0, 0, 1)]), miss + 30_000);
    // Later the branch waits for line 0 alone.
    assert_eq!(found(&[Op::fetch(0, 1), Op::compute(50), mix(0, 0, 0, 1)]), 200_000 + 3_000 + 30_000);
    // The buffer holds two lines: line 2 is asked for when the wavefront reaches line 1, after 250 instructions.
    let run_on = [Op::fetch(0, 1), Op::compute(250), Op::fetch(1, 1), Op::fetch(2, 1)];
    assert_eq!(found(&run_on), 1_000_000 + miss);
}

#[test]
fn code_of_unknown_length_is_fetched_after_a_branch_too() {
    let miss = (1 + 10 + 10 + 101 + 30) * 1_000;
    let ops = vec![Op::fetch(0, 1), Op::compute(250), mix(0, 0, 0, 1), Op::fetch(2, 1)];
    assert_eq!(time(&node(1), vec![ops]), 400_000 + miss + 1_000_000 + 33_000 + miss);
}

#[test]
fn code_that_is_written_anew_is_cold_at_every_launch_and_flushed_code_but_for_its_translation() {
    let launches = || vec![vec![Op::fetch(0, 1)], vec![Op::fetch(0, 1)]];
    let miss = (1 + 10 + 10 + 101 + 30) * 1_000;
    let mut cold = node(1);
    cold.fetch.cold = true;
    assert_eq!(time(&cold, launches()), 2 * (400_000 + miss));
    let mut script = Script::sequence(8, launches());
    script.flushed = vec![1];
    assert_eq!(run(&node(1), "on-touch", &script).summary.time_ps, 400_000 + 2 * miss);
}

#[test]
fn fetches_run_ahead_of_execution() {
    let node = node(1);
    let miss = (1 + 10 + 10 + 101 + 30) * 1_000;
    // The second line comes while 100 instructions of the first execute.
    let ops = vec![Op::fetch(0, 1), Op::compute(100), Op::fetch(1, 1), Op::compute(1)];
    assert_eq!(time(&node, vec![ops]), 400_000 + miss + 101 * 4_000);
}

#[test]
fn a_scalar_load_goes_through_its_own_tlb_and_cache() {
    let node = node(1);
    // Warm: issue 3 and pipeline 3 cycles, TLB 1, cache 20.
    let scalar = [Op::scalar_load(line(0, 0), 1), Op::WAIT];
    let vector = load(0, 0);
    let warm = [&vector[..], &scalar].concat();
    assert_eq!(added(&node, &warm, &scalar), (3 + 3 + 1 + 20) * 1_000);
    // A vector load has brought the line to the second level: the scalar unit's own TLB misses (10), its cache too.
    assert_eq!(added(&node, &vector, &scalar), (3 + 3 + 1 + 10 + 20 + 5 + 1 + 10 + 5) * 1_000);
}

#[test]
fn a_scalar_load_that_waited_for_its_page_goes_through_the_scalar_cache() {
    let ops = vec![Op::scalar_load(line(0, 0), 1), Op::WAIT, Op::scalar_load(line(0, 0), 1), Op::WAIT];
    let found = run(&node(1), "on-touch", &Script::sequence(4, vec![ops])).summary.accesses;
    assert_eq!((found.faults, found.l1_hits, found.l1_tlb_hits), (1, 0, 1), "the second load finds the TLB's entry");
}

#[test]
fn a_scalar_cache_has_so_many_requests_in_flight() {
    let loads = |count: u64| (0..count).map(|index| Op::scalar_load(line(0, index), 1)).chain([Op::WAIT]).collect();
    let took = |in_flight: u32, way_back: u64| {
        let mut node = node(1);
        (node.scalar.in_flight, node.scalar.way_back) = (in_flight, Cycles(way_back));
        let warm: Vec<Op> = loads(4);
        added(&node, &warm, &warm)
    };
    // Hits come 20 cycles after the TLB; one is issued each cycle.
    let apart = |took: u64, before: u64| (took - before) / 1_000;
    let free = took(0, 0);
    assert_eq!(apart(took(1, 0), free), 3 * (20 - 3), "one after another, each issued 3 cycles after the one before");
    assert_eq!(apart(took(1, 15), free), 3 * (5 - 3), "the way back is not part of it");
    assert_eq!(apart(took(4, 0), free), 0);
}

#[test]
fn a_unit_takes_the_answers_of_the_scalar_cache_one_after_another() {
    let mut node = node(1);
    node.registers_in_time_order = true;
    let warm = [Op::scalar_load(line(0, 0), 1), Op::WAIT, Op::BARRIER];
    // Eight wavefronts of a work-group read the same line at the same time, then execute a little.
    let ops = [&warm[..], &[Op::scalar_load(line(0, 0), 1), Op::WAIT]].concat();
    let mut took = |cycles: u64| {
        node.scalar.answer = Cycles(cycles);
        run(&node, "interleaved", &Script::new(8, vec![vec![vec![ops.clone(); 8]]])).summary.time_ps
    };
    assert_eq!(took(10) - took(0), 2 * 70_000 - 7_000, "the last of eight, twice; they are issued a cycle apart");
}

#[test]
fn a_wavefront_goes_on_when_the_queue_has_taken_up_its_lines() {
    // The page is there. The lines of a load enter the memory pipeline one a cycle; meanwhile the wavefront computes.
    let took = |loads: usize, places: u32| {
        let mut node = node(1);
        (node.compute.issues_in_time_order, node.compute.answers_in_order) = (true, true);
        (node.compute.memory_issue, node.compute.lines_in_flight) = (Cycles(8), places);
        // Sixty lines of one instruction, half of them apart from the others.
        let one = [Op::load(line(0, 0), 30).continued(), Op::load(line(0, 31), 30)];
        time(&node, vec![[&load(0, 0)[..], &one.repeat(loads), &[Op::compute(1_000)]].concat()])
    };
    assert_eq!(took(1, 0) - took(1, 60), (60 - 8) * 1_000);
    assert_eq!(took(2, 120) - took(1, 120), 8_000, "both loads are taken up at once");
    assert!(took(2, 119) - took(1, 119) > 100_000, "the second waits for the first one's lines, some from memory");
}

#[test]
fn answers_in_order_come_so_many_a_cycle() {
    let mut node = node(1);
    (node.compute.answers_in_order, node.remote.lines_in_flight) = (true, 0);
    // A miss holds up the hit behind it; both are answered together, or one after the other.
    let warm = [load(0, 0), load(1, 0)].concat();
    let held = [Op::load(line(1, 5), 1), Op::load(line(0, 0), 1), Op::WAIT];
    let mut took = |answers: u32| {
        node.compute.answers_per_cycle = answers;
        added(&node, &warm, &held)
    };
    let free = took(0);
    assert_eq!([took(1), took(2), took(4)].map(|time| time - free), [1_000, 500, 250]);
}

#[test]
fn a_wait_takes_its_own_time() {
    let mut node = node(1);
    node.compute.issues_in_time_order = true;
    let ops = vec![Op::WAIT, Op::load(line(0, 0), 1), Op::WAIT, Op::WAIT, Op::compute(1)];
    let mut took = |cycles: u64| {
        node.compute.wait = Cycles(cycles);
        run(&node, "interleaved", &Script::new(8, vec![vec![vec![ops.clone()]]])).summary.time_ps
    };
    assert_eq!(took(7) - took(0), 3 * 7_000, "whether there is anything to wait for or not");
}

#[test]
fn a_wait_for_some_leaves_the_youngest_outstanding() {
    let node = node(1);
    let warm = [load(0, 0), load(1, 0)].concat();
    let two = [Op::load(line(0, 0), 1), Op::load(line(1, 5), 1)];
    // The first is a hit, the second goes to memory; then some instructions, and a wait for the rest.
    let hit = (1 + 20) * 1_000;
    let with = |wait: Op| added(&node, &warm, &[&two[..], &[wait, Op::compute(20), Op::WAIT]].concat());
    let miss = (1 + 1 + 20 + 5 + 1 + 10 + 101 + 5) * 1_000;
    assert_eq!(with(Op::wait_until(1)), miss.max(hit + 80_000), "instructions overlap the miss");
    assert_eq!(with(Op::WAIT), miss + 80_000);
}

#[test]
fn answers_in_order_make_a_hit_wait_for_the_miss_before_it() {
    let warm = [load(0, 0), load(1, 0)].concat();
    let miss_then_hit = [Op::load(line(1, 5), 1), Op::load(line(0, 0), 1), Op::wait_until(0)];
    let some = [Op::load(line(0, 0), 1), Op::WAIT];
    let miss = (1 + 20 + 5 + 1 + 10 + 101 + 5) * 1_000;
    let mut ordered = node(1);
    ordered.compute.answers_in_order = true;
    for node in [node(1), ordered.clone()] {
        assert_eq!(added(&node, &warm, &miss_then_hit), miss);
    }
    // Another wavefront of the unit asks for the hit.
    let second = |node: &NodeConfig| {
        let first = [&warm[..], &[Op::BARRIER, Op::load(line(1, 5), 1), Op::WAIT]].concat();
        let other = [&[Op::BARRIER][..], &some, &[Op::compute(1_000)]].concat();
        run(node, "on-touch", &Script::new(8, vec![vec![vec![first, other]]])).summary.time_ps
    };
    assert_eq!(second(&ordered) - second(&node(1)), miss - (1 + 1 + 20) * 1_000);
}

/// Four work-groups of one wavefront that executes 1000 scalar instructions: work-groups that run together share the
/// scalar unit one after another, 4 µs each.
fn microseconds(resources: Resources) -> u64 {
    let mut node = node(1);
    node.compute.units = 1;
    node.compute.simds_per_unit = 1;
    node.compute.vector_registers = 256;
    node.compute.scalar_registers = 3200;
    node.compute.local_data = Bytes(64 << 10);
    let mut script = Script::new(8, vec![vec![vec![vec![mix(0, 1_000, 0, 0)]]; 4]]);
    script.resources = resources;
    run(&node, "on-touch", &script).summary.time_ps / 1_000_000
}

#[test]
fn registers_and_local_data_limit_the_groups_of_a_unit() {
    let none = Resources::default();
    assert_eq!(microseconds(none), 3 + 4);
    assert_eq!(microseconds(Resources { vector_registers: 62, ..none }), 3 + 4, "four times 64 fit");
    assert_eq!(microseconds(Resources { vector_registers: 125, ..none }), 9, "two at once");
    assert_eq!(microseconds(Resources { vector_registers: 129, ..none }), 16, "one at once");
    assert_eq!(microseconds(Resources { scalar_registers: 1_590, ..none }), 9);
    assert_eq!(microseconds(Resources { local_data_bytes: 32 << 10, ..none }), 9);
    assert_eq!(microseconds(Resources { local_data_bytes: (32 << 10) + 1, ..none }), 16);
}

#[test]
fn work_groups_are_dispatched_a_few_a_cycle() {
    let mut node = node(1);
    node.compute.units = 16;
    let script = Script::new(8, vec![vec![vec![vec![Op::compute(1)]]; 16]]);
    assert_eq!(run(&node, "on-touch", &script).summary.time_ps, 4_000);
    node.compute.groups_per_cycle = 4;
    assert_eq!(run(&node, "on-touch", &script).summary.time_ps, 3_000 + 4_000);
    // A unit is free again after 4 cycles, so that 16 of them never limit.
    node.compute.groups_per_cycle = 1;
    let long = Script::new(8, vec![vec![vec![vec![Op::compute(1)]]; 100]]);
    assert_eq!(run(&node, "on-touch", &long).summary.time_ps, 99_000 + 4_000);
}

#[test]
fn dispatch_begins_at_the_first_unit_or_goes_on_after_the_last() {
    let launches = [3, 1, 1].map(|groups| vec![vec![load(0, 0)]; groups]);
    let found = |goes_on: bool| {
        let mut node = node(1);
        node.launch_discards = LaunchDiscards::None;
        (node.compute.units, node.compute.dispatch_goes_on) = (4, goes_on);
        let summary = run(&node, "interleaved", &Script::new(8, launches.to_vec())).summary;
        (summary.time_ps, summary.accesses.l1_tlb_hits, summary.accesses.l1_hits)
    };
    // The first launch is on units 0 to 2. Begun anew, the others find their page and line at unit 0. Going on, the
    // second is on unit 3: 10 cycles for the second-level TLB, and 20 + 5 + 1 + 10 + 5 instead of 20 for the line.
    // The third is on unit 0 again.
    let anew = found(false);
    assert_eq!((anew.1, anew.2), (2, 2));
    assert_eq!(found(true), (anew.0 + (10 + 21) * 1_000, 1, 1));
}

#[test]
fn a_launch_that_needs_more_than_a_unit_has_is_refused() {
    let mut node = node(1);
    node.compute.local_data = Bytes(64 << 10);
    let mut script = Script::new(8, vec![vec![vec![vec![Op::compute(1)]]]]);
    script.resources = Resources { local_data_bytes: 65 << 10, ..Resources::default() };
    let refused =
        octavo_sim::simulate(&node, &crate::support::memory("on-touch"), &script, octavo_sim::RunOptions::default());
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("script") && error.contains("node.compute.local_data"), "{error}");
}

#[test]
fn a_launch_that_needs_more_than_a_unit_has_in_whole_blocks_is_refused() {
    let mut node = node(1);
    node.compute.local_data = Bytes(1000);
    let mut script = Script::new(8, vec![vec![vec![vec![Op::compute(1)]]]]);
    script.resources = Resources { local_data_bytes: 900, ..Resources::default() };
    let memory = crate::support::memory("on-touch");
    let refused = octavo_sim::simulate(&node, &memory, &script, octavo_sim::RunOptions::default());
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("node.compute.local_data") && error.contains("1024"), "{error}");
}

#[test]
fn accesses_in_order_of_time_do_not_wait_for_later_ones() {
    let found = |in_order: bool| {
        let mut node = node(1);
        node.compute.issues_in_time_order = in_order;
        // Both wavefronts find their pages' translation and code there. The first one computes for 40 ns and then loads
        // 60 lines; the second one loads a line after 10 ns.
        let before = [load(0, 0), vec![Op::BARRIER]].concat();
        let late = [&before[..], &[Op::compute(10), Op::load(line(1, 0), 60), Op::WAIT]].concat();
        let soon = [&before[..], &[Op::compute(2), Op::load(line(0, 0), 1), Op::WAIT, mix(0, 0, 400, 0)]].concat();
        run(&node, "interleaved", &Script::new(8, vec![vec![vec![late, soon]]])).summary.time_ps
    };
    let (ahead, in_order) = (found(false), found(true));
    // Booked ahead, the line comes behind the sixty: after 40 + 60 ns rather than after 8.
    assert_eq!(ahead - in_order, 40_000 + 60_000 - 8_000);
}

#[test]
fn what_is_computed_between_accesses_leaves_room_for_others() {
    let mut node = node(1);
    node.compute.issues_in_time_order = true;
    // One after another on the shared pipeline: 100 times 15, and the last one's latency.
    let both = run(&node, "interleaved", &together(&[mix(0, 0, 50, 0)])).summary.time_ps;
    assert_eq!(both, 100 * 15_000 + 3_000);
    // The scalar instruction of one comes while the other still computes on its SIMD.
    let apart = |first: Vec<Op>, second: Vec<Op>| {
        run(&node, "interleaved", &Script::new(8, vec![vec![vec![first, second]]])).summary.time_ps
    };
    assert_eq!(apart(vec![mix(100, 1, 0, 0)], vec![mix(0, 100, 0, 0)]), 100 * 4_000 + 4_000);
}

#[test]
fn vector_instructions_go_through_the_decoder_that_simds_share() {
    let mut node = node(1);
    node.compute.issues_in_time_order = true;
    node.compute.vector_decoder = 4;
    let time =
        |wavefronts: Vec<Vec<Op>>| run(&node, "interleaved", &Script::new(8, vec![vec![wavefronts]])).summary.time_ps;
    assert_eq!(time(vec![vec![mix(10, 3, 0, 0)]]), 10 * 5_000 + 3 * 4_000, "decoded in one cycle, executed in four");
    assert_eq!(time(vec![vec![mix(10, 0, 0, 0)]; 4]), 10 * 5_000, "each on a SIMD of its own");
    assert_eq!(time(vec![vec![mix(10, 0, 0, 0)]; 8]), 1_000 + 20 * 4_000, "two on each SIMD");
    // One place: the wavefront that waits for the first SIMD keeps the second one idle.
    node.compute.vector_decoder = 1;
    let one = run(&node, "interleaved", &Script::new(8, vec![vec![vec![vec![mix(10, 0, 0, 0)]; 8]]])).summary;
    assert!(one.time_ps > 1_000 + 20 * 4_000, "{}", one.time_ps);
    assert_eq!(one.accesses.compute_instructions, 80);
}
