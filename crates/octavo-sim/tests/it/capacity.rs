//! Memory that becomes less or more while a program runs, held to counts by hand.

use octavo_node::{CapacityChange, CapacityError, CapacityScope, NodeConfig};
use octavo_program::Op;
use octavo_sim::{RunOptions, RunResult, SimError, Values, simulate};
use octavo_units::{Bytes, Time};

use crate::support::*;

const PAGE: u64 = 4096;

fn touch(pages: std::ops::Range<u64>) -> Vec<Op> {
    pages.flat_map(|page| load(page, 0)).collect()
}

fn change(microseconds: u64, pages: u64) -> CapacityChange {
    let bytes = Some(Bytes(pages * PAGE));
    CapacityChange { at: Time(microseconds * 1_000_000), gpus: vec![0], footprint_percent: None, bytes }
}

fn with(changes: Vec<CapacityChange>) -> NodeConfig {
    let mut node = node(1);
    node.capacity.bytes = Bytes(8 * PAGE);
    node.capacity.change = changes;
    node
}

fn run_on(node: &NodeConfig, script: &Script) -> RunResult {
    let options = RunOptions { interval: Time(1_000_000), ..RunOptions::default() };
    simulate(node, &memory("on-touch"), script, options).unwrap()
}

fn column(result: &RunResult, table: &str, column: &str) -> Vec<u64> {
    let table = result.tables.iter().find(|found| found.name == table).unwrap();
    match &table.columns.iter().find(|found| found.name == column).unwrap().values {
        Values::U64(values) => values.clone(),
        other => panic!("{other:?}"),
    }
}

/// Touches eight pages within 400 us, and some of them again later.
fn twice(again: std::ops::Range<u64>) -> Script {
    Script::sequence(8, vec![[touch(0..8), compute(600)].concat(), touch(again)])
}

#[test]
fn pages_beyond_a_smaller_memory_leave_and_cost_what_evictions_cost() {
    let plain = run_on(&with(Vec::new()), &twice(4..8));
    let (faults, time) = (plain.summary.accesses.faults, plain.summary.time_ps);
    assert_eq!((faults, plain.summary.manager.evictions_written), (8, 0));
    assert!(time > 600_000_000, "all pages are there before: {time}");

    let smaller = run_on(&with(vec![change(500, 4)]), &twice(4..8));
    assert_eq!(
        (smaller.summary.accesses.faults, smaller.summary.manager.evictions_written),
        (8, 4),
        "the oldest four leave"
    );
    assert_eq!(smaller.summary.time_ps, time, "nobody waits for them: they leave while it computes");
    assert_eq!(column(&smaller, "links", "eviction")[0], 4 * PAGE, "their bytes go to the host");
    assert_eq!(column(&plain, "links", "eviction")[0], 0);

    let missed = run_on(&with(vec![change(500, 4)]), &twice(0..4));
    assert_eq!((missed.summary.accesses.faults, missed.summary.manager.evictions_written), (8 + 4, 4 + 4));
    assert!(missed.summary.time_ps > time);
}

#[test]
fn memory_that_is_given_back_holds_pages_again() {
    let back = run_on(&with(vec![change(500, 4), change(550, 8)]), &twice(0..4));
    assert_eq!(
        (back.summary.accesses.faults, back.summary.manager.evictions_written),
        (8 + 4, 4),
        "there is room for four"
    );
    assert_eq!(column(&back, "capacity", "time_ps"), [0, 500_000_000, 550_000_000]);
    assert_eq!(column(&back, "capacity", "bytes"), [8 * PAGE, 4 * PAGE, 8 * PAGE]);
}

#[test]
fn shrinking_waits_for_pages_that_plans_hold() {
    // The memory shrinks at every microsecond of the time in which pages come, so that some plan holds a page then.
    let held = |at: u64| {
        let result = run_on(&with(vec![change(at, 3)]), &twice(0..1));
        let gpu: Vec<u64> = {
            let table = result.tables.iter().find(|table| table.name == "memory_intervals").unwrap();
            let Values::Rounds { round, rounds } =
                &table.columns.iter().find(|found| found.name == "processor").unwrap().values
            else {
                panic!("processors have names")
            };
            let bytes = column(&result, "memory_intervals", "bytes");
            let names = std::iter::repeat_n(round, *rounds).flatten();
            names.zip(bytes).filter(|(name, _)| *name == "gpu0").map(|(_, bytes)| bytes).collect()
        };
        *gpu.last().unwrap()
    };
    for at in 1..120 {
        assert!(held(at) <= 3 * PAGE, "{at} us: {}", held(at));
    }
}

#[test]
fn capacities_that_cannot_be_are_refused() {
    let refused =
        |node: &NodeConfig| simulate(node, &memory("on-touch"), &twice(0..1), RunOptions::default()).unwrap_err();
    let key = "node.capacity.change[0]".to_owned();
    let few = CapacityError::TooFew { key: key.clone(), pages: 2, page_bytes: PAGE };
    assert_eq!(refused(&with(vec![change(5, 2)])), SimError::Capacity(few));
    let percent = |percent| CapacityChange { bytes: None, footprint_percent: Some(percent), ..change(5, 0) };
    let mut half = with(vec![percent(200)]);
    half.capacity.scope = CapacityScope::PerGpu;
    let much = CapacityError::TooMuch { key, found: 16 * PAGE, most: 8 * PAGE };
    assert_eq!(refused(&half), SimError::Capacity(much));
    for (changes, expected) in [
        (vec![change(0, 4)], "node: `capacity.change[0].at`: expected a time after 0"),
        (
            vec![change(5, 9)],
            "node: `capacity.change[0].bytes`: expected at most 32KiB (`node.capacity.bytes`), found 36KiB",
        ),
        (
            vec![CapacityChange { gpus: vec![1], ..change(5, 4) }],
            "node: `capacity.change[0].gpus`: expected 0 to 0, the 1 GPUs",
        ),
        (
            vec![change(5, 4), change(5, 5)],
            "node: `capacity.change[1].at`: expected another time than that of change[0]",
        ),
        (
            vec![CapacityChange { bytes: None, ..change(5, 4) }],
            "node: `capacity.change[0].bytes`: missing; expected either",
        ),
        (
            vec![CapacityChange { footprint_percent: Some(5), ..change(5, 4) }],
            "node: `capacity.change[0].bytes`: expected either",
        ),
    ] {
        let found = refused(&with(changes)).to_string();
        assert!(found.starts_with(expected), "{found}\nnot\n{expected}");
    }
}

/// GPU 0 writes eight pages of one block and one of the next, then reads the eight again; after that, GPU 1 touches
/// eight pages of its own.
fn overflows_then_grows() -> Script {
    let write = |pages: std::ops::Range<u64>| pages.flat_map(|page| store(page, 0)).collect::<Vec<_>>();
    let first = [write(0..8), compute(300), write(512..513), compute(300), touch(0..8), compute(300)].concat();
    Script::on_gpus(2048, vec![vec![first, compute(1)], vec![compute(1), touch(1024..1032)]])
}

#[test]
fn an_idle_gpu_keeps_what_leaves_another_until_it_needs_the_room() {
    let mut node = node(2);
    node.capacity.bytes = Bytes(8 * PAGE);
    let mut config = memory("first-touch");
    config.eviction.name = "lru-block".to_owned();
    let to_host = run_with(&node, &config, &overflows_then_grows());
    config.demotion.name = "spare-memory".to_owned();
    config.demotion.options.insert("reserve".to_owned(), "0B".into());
    let result = run_with(&node, &config, &overflows_then_grows());
    let counts = &result.summary.manager;
    assert_eq!((counts.evictions_to_spare, counts.evictions_written, counts.written_back), (9, 0, 9));
    assert_eq!((counts.fetched_from_spare, counts.yielded, counts.remote_maps), (8, 1, 0));
    // A copy that the host gets is called what its events are called.
    let carried = |cause| link_bytes(&result, "gpu1->host", cause);
    assert_eq!((carried("duplication"), carried("eviction")), (9 * PAGE, 0));
    assert_eq!(column(&result, "allocations", "duplication").iter().sum::<u64>(), 9);
    let faults = result.summary.accesses.faults;
    assert_eq!((faults, to_host.summary.accesses.faults, to_host.summary.manager.evictions_written), (25, 25, 9));
}
