//! What first-level caches still know about a page that left and came back, and caches that serve in order.

use crate::support::{Script, compute, line, load, memory_with, node, run, run_with, store};
use octavo_node::{DrainScope, NodeConfig};
use octavo_program::Op;
use octavo_units::Cycles;

fn drained(scope: DrainScope) -> NodeConfig {
    let mut node = node(2);
    node.driver.drain = scope;
    node
}

/// Hits of a GPU that loads a line, and again after the other GPU did something with its page.
fn hits(node: &NodeConfig, placement: &str, reader: Vec<Vec<Op>>, other: Vec<Op>) -> u64 {
    run(node, placement, &Script::on_gpus(8, vec![vec![other, reader.concat()]])).summary.accesses.l1_hits
}

#[test]
fn lines_of_a_replica_that_a_write_removed_do_not_hit_in_the_next_replica() {
    for scope in [DrainScope::WholeGpu, DrainScope::TouchedUnits] {
        // GPU 1 has a replica at 10 µs, GPU 0 writes at 20 µs, GPU 1 reads again at 40 µs.
        let node = drained(scope);
        let reader = vec![compute(10), load(0, 0), compute(30), load(0, 0)];
        let owner = |later: Vec<Op>| [load(0, 0), compute(20), later].concat();
        assert_eq!(hits(&node, "duplication", reader.clone(), owner(vec![])), 1, "{scope:?}: the replica stays");
        assert_eq!(hits(&node, "duplication", reader, owner(store(0, 0))), 0, "{scope:?}");
    }
}

#[test]
fn lines_of_a_page_that_moved_away_do_not_hit_when_it_comes_back() {
    for scope in [DrainScope::WholeGpu, DrainScope::TouchedUnits] {
        let node = drained(scope);
        let reader = vec![load(0, 0), compute(40), load(0, 0)];
        assert_eq!(hits(&node, "on-touch", reader.clone(), vec![]), 1, "{scope:?}: the page stays");
        assert_eq!(hits(&node, "on-touch", reader, [compute(16), store(0, 0)].concat()), 0, "{scope:?}");
    }
}

#[test]
fn nor_do_they_if_the_unit_had_forgotten_the_translation() {
    // With one first-level entry, page 1 displaces the translation of page 0, but not its line: a drain of the units
    // that hold a translation passes this unit by.
    for scope in [DrainScope::WholeGpu, DrainScope::TouchedUnits] {
        let mut node = drained(scope);
        (node.l1_tlb.entries, node.l1_tlb.ways) = (1, 1);
        let reader = vec![load(0, 0), load(1, 1), compute(40), load(0, 0)];
        assert_eq!(hits(&node, "on-touch", reader.clone(), vec![]), 1, "{scope:?}: the page stays");
        assert_eq!(hits(&node, "on-touch", reader, [compute(16), store(0, 0)].concat()), 0, "{scope:?}");
    }
}

#[test]
fn remote_lines_do_not_hit_once_their_page_has_moved() {
    // GPU 1 reads page 0 in GPU 0's memory until its counter moves the page to it: line 0 is fetched anew.
    let memory = memory_with("access-counter", &[("threshold", 8.into()), ("host_pages", "migrate".into())]);
    let hits = |lines: u64| {
        let reads: Vec<Op> = (0..lines).flat_map(|index| load(0, index)).collect();
        let reader = [compute(16), reads, compute(40), load(0, 0)].concat();
        let script = Script::on_gpus(8, vec![vec![load(0, 0), reader]]);
        let summary = run_with(&node(2), &memory, &script).summary;
        (summary.manager.counter_migrations, summary.accesses.l1_hits)
    };
    assert_eq!((hits(7), hits(8)), ((0, 1), (1, 0)));
}

/// Loads line 0 of five pages, all in one set of four ways, once their translations are present; nanoseconds.
fn five_in_one_set(in_order: bool) -> u64 {
    let mut node = node(1);
    node.l1.in_order = in_order;
    node.l1.fill_write = Cycles(22);
    let warm: Vec<Op> = (0..5).flat_map(|page| load(page, 1 + page)).collect();
    let same_set = (0..5).map(|page| Op::load(line(page, 0), 1));
    let both = warm.iter().copied().chain(same_set).chain([Op::WAIT]).collect();
    let time = |ops| run(&node, "interleaved", &Script::sequence(8, vec![ops])).summary.time_ps / 1_000;
    time(both) - time(warm)
}

#[test]
fn a_cache_that_serves_in_order_has_a_miss_wait_for_a_way_of_its_set() {
    // TLB 1, first level 20, crossbar 5, bank 11, memory 101, crossbar 5; one line a cycle.
    let miss = 1 + 20 + 5 + 11 + 101 + 5;
    assert_eq!(five_in_one_set(false), 4 + miss);
    // The fifth is sent when the first line is written, 22 cycles after it came.
    assert_eq!(five_in_one_set(true), miss + 22 + (miss - 1 - 20));
}

#[test]
fn a_store_uses_its_line_where_a_cache_serves_in_order() {
    let hits = |in_order: bool, used: Vec<Op>| {
        let mut node = node(1);
        node.l1.in_order = in_order;
        // Four lines in one set; the oldest is used. Then a fifth takes the place of the oldest, and all are read again.
        let four = (0..4).flat_map(|page| load(page, 0));
        let again = (0..4).flat_map(|page| load(page, 0));
        let ops = four.chain(used).chain(load(4, 0)).chain(again).collect();
        run(&node, "interleaved", &Script::sequence(8, vec![ops])).summary.accesses.l1_hits
    };
    let store = || vec![Op::store(line(0, 0), 1), Op::WAIT];
    // Line 0 stays, line 1 goes; reading line 1 again takes the place of line 2, and so on.
    assert_eq!((hits(true, vec![]), hits(true, store())), (0, 1));
    assert_eq!(hits(false, store()), 0, "elsewhere stores pass the cache by");
}
