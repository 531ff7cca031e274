//! Runs that may take only so much memory: those that meet the limit end, and say how far they were.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use octavo_manager::MemoryConfig;
use octavo_sim::{InstantOptions, MemoryBound, RunOptions, RunResult, SimError, run_at_once, simulate};
use octavo_units::Time;

use crate::conformance::kernel;
use crate::support::{memory, node};

const MIB: u64 = 1 << 20;
const AROUND: u64 = 3 * MIB;
/// More than the records of these runs.
const RECORDED: u64 = 32 * MIB;

/// A run that asks how much it has in use; its events and intervals are recorded.
fn simulated(limit: u64, in_use: &(dyn Fn() -> u64 + Sync)) -> Result<RunResult, SimError> {
    let memory = Some(MemoryBound { limit, around: AROUND, in_use });
    let options = RunOptions { record_events: true, interval: Time(1_000_000), memory, ..RunOptions::default() };
    simulate(&node(4), &MemoryConfig::default(), &*kernel("bfs-shoc", 0.05), options)
}

/// The progress of a run that reached its limit: launches done of all.
fn launches(error: &SimError) -> (u32, u32) {
    let SimError::MemoryMet(_) = error else { panic!("it met its limit: {error}") };
    let said = error.to_string();
    let words: Vec<&str> = said.split(' ').collect();
    let at = words.windows(2).position(|pair| pair == ["launches", "done,"]).expect("it says how far it was");
    (words[at - 3].parse().unwrap(), words[at - 1].parse().unwrap())
}

#[test]
fn a_run_ends_when_it_has_more_than_it_may_and_not_before() {
    let calls = AtomicU64::new(0);
    let grows = || calls.fetch_add(1, Relaxed) * MIB;
    let whole = simulated(u64::MAX, &grows).expect("nothing limits it");
    let asked = calls.swap(0, Relaxed);
    assert!(asked > 5, "{asked}");
    // Asked once before anything is built; what is recorded takes less than the room left.
    let bounded = simulated(1 << 40, &grows).expect("it has less");
    assert_eq!(whole, bounded);
    assert_eq!(calls.swap(0, Relaxed), asked);
    // A machine whose memory grows by a MiB between looks, and half a GiB in the middle of the run.
    let jumps = || if calls.fetch_add(1, Relaxed) < asked / 2 { MIB } else { 512 * MIB };
    let met = simulated(AROUND + 512 * MIB - 1, &jumps).unwrap_err();
    let (done, all) = launches(&met);
    assert!(0 < done && done < all, "{done} of {all}");
    assert_eq!(calls.swap(0, Relaxed), asked / 2 + 1);
    simulated(AROUND + 512 * MIB + RECORDED, &jumps).expect("it has no more");
}

#[test]
fn what_is_recorded_counts_before_it_is_written() {
    let nothing = || 0;
    let rows = |result: &RunResult| {
        let events = result.tables.iter().find(|table| table.name == "events").expect("recorded");
        let octavo_sim::Values::U64(times) = &events.columns[0].values else { panic!("times are numbers") };
        times.len() as u64
    };
    let result = simulated(u64::MAX, &nothing).unwrap();
    // Five numbers and a kind.
    let columns = rows(&result) * 41;
    let met = simulated(AROUND + columns, &nothing).unwrap_err();
    assert!(met.to_string().contains("for what is recorded"), "{met}");
    // Without events there is less to write.
    let memory = Some(MemoryBound { limit: AROUND + columns, around: AROUND, in_use: &nothing });
    let options = RunOptions { memory, ..RunOptions::default() };
    simulate(&node(4), &MemoryConfig::default(), &*kernel("bfs-shoc", 0.05), options).expect("it fits");
}

#[test]
fn a_run_without_time_ends_likewise() {
    let calls = AtomicU64::new(0);
    let run = |limit: u64, in_use: &(dyn Fn() -> u64 + Sync)| {
        let memory_bound = Some(MemoryBound { limit, around: AROUND, in_use });
        let options =
            InstantOptions { turn: 1, report_lines: None, record_events: true, memory: memory_bound, progress: None };
        run_at_once(&node(4), &memory("on-touch"), &*kernel("bfs-shoc", 0.05), options)
    };
    let counts = || {
        calls.fetch_add(1, Relaxed);
        0
    };
    run(1 << 40, &counts).expect("it has less");
    let asked = calls.swap(0, Relaxed);
    assert!(asked > 2, "{asked}");
    let jumps = || if calls.fetch_add(1, Relaxed) < asked - 1 { MIB } else { 512 * MIB };
    launches(&run(AROUND + 512 * MIB - 1, &jumps).unwrap_err());
    calls.store(0, Relaxed);
    run(AROUND + 512 * MIB + RECORDED, &jumps).expect("it has no more");
    let met = run(AROUND + 1024, &|| 0).unwrap_err();
    assert!(met.to_string().contains("line accesses"), "{met}");
}
