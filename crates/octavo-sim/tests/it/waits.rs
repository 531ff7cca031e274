//! The reasons why faults wait: `fault_waits`.

use std::collections::BTreeMap;

use crate::batch::batched;
use crate::support::{Script, load, node, run, store};
use octavo_node::NodeConfig;
use octavo_sim::{RunResult, Table, Values};

const PARTS: [&str; 8] = ["walk", "message", "queue", "service", "drain", "copy", "other", "replay"];

/// By part, how many faults and their sum in picoseconds.
fn sums(result: &RunResult) -> BTreeMap<String, (u64, u64)> {
    let Some(table) = result.tables.iter().find(|table| table.name == "fault_waits") else { return BTreeMap::new() };
    let Values::Text(parts) = column(table, "part") else { panic!("names") };
    let [from, below, faults, sum] = ["from_ps", "below_ps", "faults", "sum_ps"].map(|name| numbers(table, name));
    let mut sums = BTreeMap::<String, (u64, u64)>::new();
    for (row, part) in parts.iter().enumerate() {
        assert!(from[row] * faults[row] <= sum[row] && sum[row] < below[row] * faults[row], "row {row} of {part}");
        let (count, all) = sums.entry(part.clone()).or_default();
        *count += faults[row];
        *all += sum[row];
    }
    sums
}

fn column<'a>(table: &'a Table, name: &str) -> &'a Values {
    &table.columns.iter().find(|column| column.name == name).expect("a column").values
}

fn numbers<'a>(table: &'a Table, name: &str) -> &'a [u64] {
    let Values::U64(values) = column(table, name) else { panic!("{name} is a number") };
    values
}

/// Picoseconds by part, for this many faults together; the parts sum to the whole.
fn of(result: &RunResult, faults: u64) -> BTreeMap<&'static str, u64> {
    let sums = sums(result);
    assert!(sums.values().all(|(count, _)| *count == faults), "{sums:?}");
    let found: BTreeMap<_, _> = PARTS.map(|part| (part, sums[part].1)).into();
    assert_eq!(found.values().sum::<u64>(), sums["total"].1);
    found
}

/// Every GPU loads a page of its own.
fn cold(node: &NodeConfig) -> RunResult {
    let loads = (0..u64::from(node.gpus)).map(|gpu| load(gpu, 0)).collect();
    run(node, "on-touch", &Script::on_gpus(16, vec![loads]))
}

#[test]
fn a_cold_fault_waits_for_no_queue_and_no_drain() {
    let found = of(&cold(&node(1)), 1);
    assert_eq!((found["queue"], found["service"], found["drain"]), (0, 1_000_000, 0));
    // The command, host memory, 4096 bytes at 32 GB/s, the link, 64 lines from 16 banks; then the entry.
    assert_eq!((found["copy"], found["other"]), ((500 + 100 + 128 + 500 + 104) * 1000, 100_000));
}

#[test]
fn faults_that_come_while_the_driver_serves_wait_in_its_queue() {
    let (one, four) = (of(&cold(&batched(1, 256)), 1), of(&cold(&batched(4, 256)), 4));
    assert_eq!((one["queue"], one["service"]), (0, 21_000_000));
    // The second batch begins when the first and its plans are over; each of its three faults is served with it.
    let plans = one["copy"] + one["other"];
    assert_eq!(four["queue"], 3 * (21_000_000 + plans));
    assert_eq!(four["service"], 21_000_000 + 3 * 23_000_000);
}

#[test]
fn a_page_of_another_gpu_is_drained_before_it_is_copied() {
    let script = Script::on_gpus(16, vec![vec![store(0, 0), vec![]], vec![vec![], load(0, 0)]]);
    let result = run(&node(2), "on-touch", &script);
    let found = of(&result, result.summary.accesses.faults);
    assert_eq!(result.summary.accesses.faults, 2);
    // The message to the GPU that has it, and the line that it has written.
    assert_eq!(found["drain"], (500 + 101) * 1000);
    assert_eq!(found["queue"], 0);
}

#[test]
fn runs_without_faults_have_no_waits() {
    assert_eq!(sums(&run(&node(1), "interleaved", &Script::sequence(4, vec![load(0, 0)]))), BTreeMap::new());
}
