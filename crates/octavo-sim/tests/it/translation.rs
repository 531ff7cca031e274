//! Translation beyond one page size and fixed walks: ports, page tables in memory, the ideal TLB.

use crate::support::*;
use octavo_node::{LargeTlbConfig, MissPolicy, NodeConfig};
use octavo_program::Op;
use octavo_sim::RunResult;
use octavo_units::{Bytes, Cycles};

/// A node whose pages are mapped from the start (`interleaved`), so that only translation and memory take time.
fn quiet() -> NodeConfig {
    let mut node = node(1);
    node.walker.cache_entries = 0;
    node
}

fn in_memory() -> NodeConfig {
    let mut node = quiet();
    node.walker.in_memory = true;
    node
}

fn run_placed(node: &NodeConfig, ops: Vec<Op>) -> RunResult {
    run(node, "interleaved", &Script::sequence(1024, vec![ops]))
}

/// Nanoseconds of one load after another; a cycle is one.
fn time(node: &NodeConfig, ops: Vec<Op>) -> u64 {
    run_placed(node, ops).summary.time_ps / 1000
}

#[test]
fn a_walk_through_memory_reads_four_lines_one_after_another() {
    // A read that misses the second-level cache: crossbar 5, a cycle of the bank's input, 10, memory 101, crossbar 5.
    let (miss, hit) = (5 + 1 + 10 + 101 + 5, 5 + 1 + 10 + 5);
    let translation = 1 + 10;
    let data = 20 + miss;
    assert_eq!(time(&quiet(), load(0, 0)), translation + 4 * 100 + data);
    assert_eq!(time(&in_memory(), load(0, 0)), translation + 4 * miss + data, "a table nobody has read yet");
    // Page 1's entries are in the same lines; page 8's last entry is in the next one.
    let second = time(&in_memory(), [load(0, 0), load(1, 0)].concat()) - time(&in_memory(), load(0, 0));
    assert_eq!(second, translation + 4 * hit + data);
    let eighth = time(&in_memory(), [load(0, 0), load(8, 0)].concat()) - time(&in_memory(), load(0, 0));
    assert_eq!(eighth, translation + 3 * hit + miss + data);
}

#[test]
fn walks_through_memory_are_counted_where_they_read() {
    let fixed = run_placed(&quiet(), load(0, 0)).summary.accesses;
    let read = run_placed(&in_memory(), load(0, 0)).summary.accesses;
    assert_eq!((fixed.walk_levels, read.walk_levels), (4, 4));
    assert_eq!(read.dram_reads - fixed.dram_reads, 4);
}

#[test]
fn as_many_walks_as_walkers_run_at_once() {
    let mut node = in_memory();
    node.walker.walkers = 1;
    node.compute.memory_issue = Cycles(0);
    // Two pages of different tables: their walks follow one another on one walker, and overlap on two.
    let ops = vec![Op::load(line(0, 0), 1), Op::load(line(512, 0), 1), Op::WAIT];
    let one = time(&node, ops.clone());
    node.walker.walkers = 2;
    let two = time(&node, ops);
    assert!(one > two + 100, "{one} and {two}");
}

#[test]
fn the_ideal_tlb_leaves_only_the_first_levels_cycle() {
    let mut node = in_memory();
    node.ideal_tlb = true;
    let result = run_placed(&node, [load(0, 0), load(600, 0)].concat());
    assert_eq!(result.summary.time_ps / 1000, 2 * (1 + 20 + 122));
    let accesses = result.summary.accesses;
    assert_eq!((accesses.walks, accesses.l1_tlb_hits, accesses.translations), (0, 2, 2));
    let scalar = run_placed(&node, vec![Op::scalar_load(line(0, 0), 1), Op::WAIT]);
    assert_eq!((scalar.summary.accesses.walks, scalar.summary.accesses.l1_tlb_hits), (0, 1), "scalar loads, too");
}

#[test]
fn faults_remain_with_the_ideal_tlb() {
    let mut node = node(1);
    let with_tlb = run(&node, "on-touch", &Script::sequence(4, vec![[load(0, 0), store(1, 0)].concat()]));
    node.ideal_tlb = true;
    let ideal = run(&node, "on-touch", &Script::sequence(4, vec![[load(0, 0), store(1, 0)].concat()]));
    assert_eq!((ideal.summary.accesses.faults, with_tlb.summary.accesses.faults), (2, 2));
    assert!(ideal.summary.time_ps < with_tlb.summary.time_ps);
}

#[test]
fn ports_limit_the_lookups_of_a_cycle() {
    // Two units ask for 64 pages each, one a cycle: 128 lookups of the second level in 64 cycles, walked at once.
    let gather = |unit: u64| (0..64).map(|page| Op::load(line(unit * 64 + page, page), 1)).chain([Op::WAIT]).collect();
    let both = || Script::new(1024, vec![vec![vec![gather(0)], vec![gather(1)]]]);
    let mut node = quiet();
    (node.walker.walkers, node.l2_tlb.miss_registers) = (256, 256);
    let mut time = |first, second| {
        (node.l1_tlb.ports, node.l2_tlb.ports) = (first, second);
        run(&node, "interleaved", &both()).summary.time_ps / 1000
    };
    let free = time(0, 0);
    let late = time(0, 1) - free;
    assert!((62..=64).contains(&late), "a lookup a cycle, {late} later");
    assert_eq!(time(0, 2), free, "two a cycle are enough");
    assert_eq!(time(1, 0), free, "lines come one a cycle to a first level that takes one a cycle");
}

#[test]
fn a_miss_holds_up_what_the_policy_says() {
    // Once page 0 is known, one wavefront misses two pages, and after it another one hits page 0 and computes for long.
    let misses = [load(0, 0), vec![Op::load(line(512, 0), 1)], load(1024, 1)].concat();
    let hit = [load(0, 0), load(0, 5), vec![Op::compute(2000), Op::WAIT]].concat();
    let script = Script::new(2048, vec![vec![vec![misses, hit]]]);
    let time = |on_miss, miss_registers| {
        let mut node = quiet();
        (node.l1_tlb.on_miss, node.l1_tlb.miss_registers) = (on_miss, miss_registers);
        run(&node, "interleaved", &script).summary.time_ps / 1000
    };
    // Second level 10, four levels of 100; the first level's cycle of the hit comes after it.
    let (walk, free) = (10 + 400, time(MissPolicy::NonBlocking, 64));
    assert_eq!(time(MissPolicy::NonBlocking, 1), free, "the second miss waits alone");
    assert_eq!(time(MissPolicy::HitsUnderMisses, 2), free, "neither miss waits for a register");
    let late = |policy| time(policy, 1) - free;
    assert!(late(MissPolicy::HitsUnderMisses).abs_diff(walk) <= 2, "{}", late(MissPolicy::HitsUnderMisses));
    assert!(late(MissPolicy::Blocking).abs_diff(2 * walk) <= 3, "{}", late(MissPolicy::Blocking));
    assert_eq!(time(MissPolicy::Blocking, 64), free + late(MissPolicy::Blocking), "one miss at a time");
}

#[test]
fn large_pages_have_entries_of_their_own() {
    // One entry for small pages at both levels, two for large ones. Two large pages in turn stay; two small ones do not.
    let mut node = quiet();
    for tlb in [&mut node.l1_tlb, &mut node.l2_tlb] {
        (tlb.entries, tlb.ways) = (1, 1);
        tlb.large = Some(LargeTlbConfig { entries: 2, ways: 2 });
    }
    let in_turn = (0..6).flat_map(|turn| load(turn % 2 * 512, turn)).collect::<Vec<_>>();
    let walks = |page_size: u64| {
        let memory = octavo_manager::MemoryConfig { page_size: Bytes(page_size), ..memory("interleaved") };
        run_with(&node, &memory, &Script::sequence(1024, vec![in_turn.clone()])).summary.accesses.walks
    };
    assert_eq!((walks(4096), walks(2 << 20)), (6, 2));
}

#[test]
fn levels_shared_with_the_rest_are_of_no_use_to_another_space() {
    let script = Script::sequence(8, vec![load(0, 0)]);
    let reads = |programs: usize| {
        let options = octavo_sim::RunOptions::default();
        let jobs: Vec<_> = (0..programs).map(|number| octavo_sim::Job::named(&number.to_string(), &script)).collect();
        let result = octavo_sim::simulate_jobs(&in_memory(), &memory("interleaved"), &jobs, options).unwrap();
        result.summary.accesses.dram_reads
    };
    assert_eq!((reads(1), reads(2)), (4 + 1, 2 * (4 + 1)));
}

/// Lines of tables in the last page would be taken for its own when it moves.
#[test]
fn page_tables_begin_behind_the_last_page_where_memory_ends_within_it() {
    let config = octavo_manager::MemoryConfig { page_size: octavo_units::Bytes(64 << 10), ..memory("on-touch") };
    let script = Script::on_gpus(1, vec![vec![load(0, 0)], vec![Vec::new(), load(0, 0)]]);
    let mut node = in_memory();
    node.gpus = 2;
    assert_eq!(crate::support::run_with(&node, &config, &script).summary.accesses.faults, 2);
}

#[test]
fn in_order_of_time_a_miss_register_is_free_until_a_later_request_begins() {
    // Once page 0 is known, loads of two further pages are translated for long, and need both registers after that.
    let far = [load(0, 0), vec![Op::load(line(512, 0), 1), Op::load(line(1024, 0), 1), Op::WAIT]].concat();
    let near = |index| [load(0, 0), load(0, index), vec![Op::compute(2000), Op::WAIT]].concat();
    let script = Script::new(2048, vec![vec![vec![near(5), far, near(6)]]]);
    let time = |in_time_order, registers| {
        let mut node = quiet();
        node.registers_in_time_order = in_time_order;
        (node.l1.miss_registers, node.l2.miss_registers) = (registers, registers);
        run(&node, "interleaved", &script).summary.time_ps
    };
    assert_eq!([2, 64].map(|registers| time(true, registers)), [time(false, 64); 2]);
    assert!(time(false, 2) > time(false, 64), "in the order of requests it is taken before");
}
