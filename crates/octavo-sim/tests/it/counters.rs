//! Access counters: when they notify the driver, and the result.

use crate::support::{Script, compute, events, line, load, memory_with, node, run_with};
use octavo_program::Op;
use octavo_sim::RunResult;

const THRESHOLD: u64 = 8;

/// Runs each GPU's accesses to pages that stay on the host, mapped, until a counter reaches the threshold.
fn counted(gpus: Vec<Vec<Op>>) -> RunResult {
    let memory = memory_with("access-counter", &[("threshold", THRESHOLD.into()), ("host_pages", "map".into())]);
    run_with(&node(gpus.len() as u32), &memory, &Script::on_gpus(64, vec![gpus]))
}

/// Loads lines of a page one after the other.
fn read(page: u64, lines: std::ops::Range<u64>) -> Vec<Op> {
    lines.flat_map(|index| load(page, index)).collect()
}

fn notifications(result: &RunResult) -> usize {
    events(result, "counter").len()
}

#[test]
fn a_notification_arrives_exactly_at_the_threshold() {
    let below = counted(vec![[read(0, 0..THRESHOLD - 1), compute(16)].concat()]);
    assert_eq!((notifications(&below), below.summary.manager.counter_migrations), (0, 0));
    let at = counted(vec![[read(0, 0..THRESHOLD), compute(16)].concat()]);
    assert_eq!((notifications(&at), at.summary.manager.counter_migrations), (1, 1));
    assert_eq!(at.summary.accesses.remote_host_lines, THRESHOLD);
}

#[test]
fn lines_that_hit_the_first_level_are_not_counted() {
    let again = counted(vec![[read(0, 0..4), read(0, 0..4), read(0, 0..4), compute(16)].concat()]);
    assert_eq!((notifications(&again), again.summary.accesses.l1_hits), (0, 8));
}

#[test]
fn the_page_moves_and_is_local_from_then_on() {
    let result = counted(vec![[read(0, 0..THRESHOLD), compute(16), read(0, 16..32)].concat()]);
    assert_eq!((notifications(&result), result.summary.accesses.remote_host_lines), (1, THRESHOLD));
    assert_eq!(events(&result, "migration").iter().map(|event| event.1).collect::<Vec<_>>(), [0]);
    assert_eq!(result.summary.accesses.dram_reads, 16);
}

#[test]
fn a_group_notifies_once_until_it_is_cleared() {
    // Pages 0 and 1 share a counter. Mapped with a line each, they are read far beyond the threshold at once, before
    // the driver can answer; only the touched page moves.
    let burst = [Op::load(line(1, 1), 6), Op::load(line(0, 1), 40), Op::load(line(1, 10), 40), Op::WAIT];
    let result = counted(vec![[read(0, 0..1), read(1, 0..1), burst.to_vec(), compute(16)].concat()]);
    assert_eq!((notifications(&result), result.summary.manager.counter_migrations), (1, 1));
    assert_eq!(events(&result, "migration").iter().map(|event| event.1).collect::<Vec<_>>(), [1]);
}

#[test]
fn a_cleared_group_counts_from_zero() {
    // Page 0 moved; page 1 of the same group needs the whole threshold again.
    let next = |lines| {
        let ops = [read(0, 0..THRESHOLD), compute(16), read(1, 0..lines), compute(16)].concat();
        let result = counted(vec![ops]);
        (notifications(&result), result.summary.manager.counter_migrations)
    };
    assert_eq!((next(THRESHOLD - 1), next(THRESHOLD)), ((1, 1), (2, 2)));
}

#[test]
fn groups_and_gpus_count_apart() {
    // Seven lines of each of two groups, by each of two GPUs.
    let seven = [read(0, 0..7), read(16, 0..7), compute(16)].concat();
    assert_eq!(notifications(&counted(vec![seven.clone(), seven.clone()])), 0);
    let eighth = [seven.clone(), read(16, 7..8), compute(16)].concat();
    let result = counted(vec![seven, eighth]);
    assert_eq!(events(&result, "migration").iter().map(|event| event.1).collect::<Vec<_>>(), [16]);
}
