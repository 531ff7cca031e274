//! How long the units of a GPU stand still when one of its pages moves away.

use crate::support::{Script, compute, events, line, load, node, run, store};
use octavo_node::DrainScope;
use octavo_program::Op;

/// The time that a unit that only computes loses, in nanoseconds, when page 0 of its GPU moves to another GPU. Unit 0
/// of GPU 0 has touched the page and ended, unit 1 computes 80 µs; GPU 1 takes the page at 16 µs.
fn lost(scope: DrainScope, touch: &[Op]) -> u64 {
    let busy: Vec<Op> = (0..20_000).map(|_| Op::compute(1)).collect();
    let time = |thief: Vec<Op>| {
        let mut node = node(2);
        node.driver.drain = scope;
        let script = Script::on_gpus(8, vec![vec![touch.to_vec(), busy.clone(), thief, vec![]]]);
        run(&node, "on-touch", &script).summary
    };
    let (alone, robbed) = (time(vec![]), time([compute(16), load(0, 0)].concat()));
    assert_eq!((alone.manager.migrations, robbed.manager.migrations), (1, 2));
    assert_eq!(alone.time_ps, 80_000_000, "20000 instructions of 4 cycles");
    (robbed.time_ps - alone.time_ps).div_ceil(1000)
}

#[test]
fn units_stop_when_the_hosts_message_arrives_and_go_on_after_the_shootdown() {
    // Nothing is in flight, so the drain is over at once; shooting down at both TLB levels and rewriting the entry
    // take 15 + 200 + 100 cycles. What the unit issued ahead of the message (at most 64 cycles and an instruction)
    // still runs.
    let (clean, dirty) = (lost(DrainScope::WholeGpu, &load(0, 0)), lost(DrainScope::WholeGpu, &store(0, 0)));
    assert!((315 - 68..=315).contains(&clean), "{clean} ns");
    // A dirty line is written to memory first.
    assert_eq!(dirty - clean, 101);
}

#[test]
fn units_without_a_translation_of_the_page_lose_nothing_under_acud() {
    assert_eq!(lost(DrainScope::TouchedUnits, &store(0, 0)), 0);
}

/// Nanoseconds from the second launch to the copy of migration `moved`, page 0's: GPU 1 takes the page while unit 1 of
/// GPU 0, whose memory takes 20 us, runs `busy`. Units of both begin with `first`.
fn copy_begins(scope: DrainScope, first: &[Vec<Op>], busy: Vec<Op>, moved: usize) -> u64 {
    let mut node = node(2);
    node.dram.latency = octavo_units::Cycles(20_000);
    node.driver.drain = scope;
    let second = vec![vec![], busy, load(0, 0), vec![]];
    let began = run(&node, "on-touch", &Script::on_gpus(8, vec![first.to_vec()])).summary.time_ps;
    let result = run(&node, "on-touch", &Script::on_gpus(8, vec![first.to_vec(), second]));
    let (copied, page) = events(&result, "migration")[moved];
    assert_eq!(page, 0);
    (copied - began) / 1000
}

#[test]
fn a_drain_waits_for_what_the_stopped_units_have_in_flight() {
    // Units 0 and 1 of GPU 0 have loaded pages 0 and 1. Then unit 1 loads a line from memory that takes 20 µs, and
    // GPU 1 takes page 0.
    let first = vec![load(0, 0), load(1, 0), vec![], vec![]];
    let copy_begins = |scope, busy| copy_begins(scope, &first, busy, 2);
    // TLBs and walk, fault message, host walk, driver, the host's message; then the shootdown and its answer.
    let (told, shootdown) = (411 + 501 + 400 + 1000 + 500, 315 + 500);
    assert_eq!(copy_begins(DrainScope::WholeGpu, vec![]), told + shootdown);
    // TLB 1, L1 20, crossbar 5, bank 1 + 10, memory 1 + 20000, crossbar 5.
    let loaded = 1 + 20 + 5 + 11 + 20_001 + 5;
    assert_eq!(copy_begins(DrainScope::WholeGpu, load(1, 9)), loaded + shootdown);
    assert_eq!(copy_begins(DrainScope::TouchedUnits, load(1, 9)), told + shootdown, "unit 1 knows nothing of page 0");
}

#[test]
fn units_that_wait_for_a_scalar_load_of_the_page_are_waited_for() {
    // Unit 1 of GPU 0 has a scalar load of page 0 on its way from memory, which takes 20 µs, when GPU 1 takes the page.
    // A launch before has brought the page to GPU 0, and its walk to an end.
    let first = vec![load(0, 0), vec![], vec![], vec![]];
    let copy_begins = |scope, busy| copy_begins(scope, &first, busy, 1);
    for scope in [DrainScope::WholeGpu, DrainScope::TouchedUnits] {
        let (idle, scalar) =
            (copy_begins(scope, vec![]), copy_begins(scope, vec![Op::scalar_load(line(0, 9), 1), Op::WAIT]));
        assert!(scalar > idle + 15_000, "{scope:?}: {idle} and {scalar} ns");
    }
}

#[test]
fn ideal_tlbs_hold_every_page_so_a_drain_stops_every_unit() {
    let mut node = node(2);
    node.ideal_tlb = true;
    let first = vec![load(0, 0), load(1, 0), vec![], vec![]];
    let second = vec![vec![], load(1, 9), load(0, 0), vec![]];
    let script = Script::on_gpus(8, vec![first, second]);
    node.dram.latency = octavo_units::Cycles(20_000);
    let times = [DrainScope::WholeGpu, DrainScope::TouchedUnits].map(|scope| {
        node.driver.drain = scope;
        events(&run(&node, "on-touch", &script), "migration")[2].0
    });
    assert_eq!(times[0], times[1]);
}
