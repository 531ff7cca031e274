//! Memory that has its place from the start (`interleaved`), walkers that GPUs share, switches between them.

use crate::support::{Script, Value, line, load, memory_with, node, run, run_with};
use octavo_node::{NodeConfig, SwitchConfig, WalkerScope};
use octavo_program::Op;
use octavo_units::Cycles;

/// GPU 0's time for one line of page `page`, the first of all.
fn first_line(node: &NodeConfig, page: u64) -> u64 {
    let script = Script::one_group_per_gpu(8, vec![load(page, 0)]);
    run(node, "interleaved", &script).summary.time_ps
}

/// TLBs and a walk of four levels.
const TRANSLATION: u64 = (1 + 10 + 400) * 1_000;
/// First level, crossbar, bank and memory.
const LOCAL: u64 = (20 + 5 + 1 + 10 + 101 + 5) * 1_000;

#[test]
fn pages_go_round_and_nobody_faults() {
    let groups = (0..4).map(|_| (0..8).flat_map(|page| load(page, page)).collect()).collect();
    let result = run(&node(4), "interleaved", &Script::one_group_per_gpu(8, groups));
    assert_eq!(result.summary.accesses.faults, 0);
    assert_eq!(result.summary.accesses.remote_gpu_lines, 4 * 6, "each GPU has two of eight pages");
    assert_eq!(result.summary.manager.migrations, 8, "each page was placed once");
}

#[test]
fn the_first_page_is_on_the_last_gpu_or_where_it_is_said() {
    let node = node(2);
    assert_eq!(first_line(&node, 1), TRANSLATION + LOCAL);
    assert!(first_line(&node, 0) > TRANSLATION + LOCAL + 2 * 200_000, "page 0 is on GPU 1");
    let memory = memory_with("interleaved", &[("first_gpu", Value::from(1))]);
    let script = Script::one_group_per_gpu(8, vec![load(0, 0)]);
    assert_eq!(run_with(&node, &memory, &script).summary.time_ps, TRANSLATION + LOCAL);
}

#[test]
fn allocations_are_dealt_out_in_one_round_but_for_those_that_asked_for_a_gpu() {
    // Whether GPU 0 finds the first page of the last buffer in its own memory. Pages go to GPUs 3, 0, 1, 2 in turn.
    let is_local = |buffers: &[(u64, u8)]| {
        let page = 512 * (buffers.len() as u64 - 1);
        let script = Script::one_group_per_gpu(8, vec![load(page, 0)]).with_buffers(buffers);
        run(&node(4), "interleaved", &script).summary.accesses.remote_gpu_lines == 0
    };
    assert!(!is_local(&[(1, 0)]) && is_local(&[(1, 0), (3, 0)]) && !is_local(&[(2, 0), (1, 0)]));
    assert!(is_local(&[(5, 0), (1, 0)]), "the turn after five pages");
    assert!(is_local(&[(1, 1)]) && !is_local(&[(1, 0), (1, 3)]), "asked for");
    assert!(is_local(&[(1, 0), (7, 3), (1, 0)]), "they do not take a turn");
    assert!(is_local(&[(1, 0), (1, 9)]), "there is no GPU 9");
}

#[test]
fn far_walkers_cost_the_way_there_and_back() {
    let mut node = node(1);
    node.walker.distance = Cycles(294);
    assert_eq!(first_line(&node, 0), TRANSLATION + 2 * 294_000 + LOCAL);
}

#[test]
fn gpus_that_share_one_walker_walk_one_after_another() {
    let time = |scope| {
        let mut node = node(2);
        (node.walker.walkers, node.walker.scope, node.walker.cache_entries) = (1, scope, 0);
        let script = Script::one_group_per_gpu(8, vec![load(1, 0), load(0, 0)]);
        run(&node, "interleaved", &script).summary.time_ps
    };
    assert_eq!(time(WalkerScope::PerGpu), TRANSLATION + LOCAL);
    assert_eq!(time(WalkerScope::Node), TRANSLATION + 400_000 + LOCAL);
}

#[test]
fn gpus_that_share_walkers_have_miss_registers_of_their_own() {
    let mut node = node(2);
    (node.walker.scope, node.l2_tlb.miss_registers) = (WalkerScope::Node, 1);
    let script = Script::one_group_per_gpu(8, vec![load(1, 0), load(0, 0)]);
    assert_eq!(run(&node, "interleaved", &script).summary.time_ps, TRANSLATION + LOCAL);
}

#[test]
fn paths_across_the_root_take_longer_and_share_the_trunk() {
    for in_order in [false, true] {
        let mut node = node(4);
        node.switches = Some(SwitchConfig { gpus: 2, across: Cycles(300), in_order });
        // Pages 0 to 3 are on GPUs 3, 0, 1, 2: GPU 0 reads from its neighbour and from across.
        let (near, far) = (first_line(&node, 2), first_line(&node, 3));
        assert_eq!(far - near, 2 * 300_000);
        node.switches = None;
        assert_eq!(first_line(&node, 3), near, "without switches all are near");
    }
}

#[test]
fn two_senders_below_one_switch_share_its_trunk() {
    // GPUs 2 and 3 each send many lines across the root, to GPUs 0 and 1.
    let pages = |first: u64| (0..16).map(move |index| Op::load(line(first + 4 * index, 0), 64));
    let many = |first: u64| pages(first).chain([Op::WAIT]).collect::<Vec<_>>();
    let time = |across: bool, in_order: bool| {
        let mut node = node(4);
        (node.remote.lines_in_flight, node.l1.miss_registers) = (0, 1 << 14);
        node.switches = across.then_some(SwitchConfig { gpus: 2, across: Cycles(0), in_order });
        let script = Script::one_group_per_gpu(64, vec![many(3), many(0), vec![], vec![]]);
        run(&node, "interleaved", &script).summary.time_ps
    };
    let answers = 16 * 64 * (64 + 16) * 1_000 / 64;
    for in_order in [false, true] {
        let difference = time(true, in_order) - time(false, false);
        assert!(
            difference.abs_diff(answers) < answers / 4,
            "{difference} ps more, the second answer alone takes {answers}"
        );
    }
}
