//! Pages beyond the end of an allocation, and written pages that go home between launches: in time and without.

use octavo_manager::{MemoryConfig, Padding, Synchronisation};
use octavo_node::{CapacityConfig, NodeConfig};
use octavo_program::{Lowering, Op, Program, ProgramKind, Size, Workload, lower};
use octavo_registry::Choice;
use octavo_sim::{Job, RunOptions, run_jobs_at_once, simulate_jobs};
use octavo_units::{Bytes, Time};
use octavo_workload::WORKLOADS;
use serde_json::Value;

use crate::functional::options;
use crate::support::{Script, column, line, memory, node};

/// The manager's counts, in time and without.
fn counts(node: &NodeConfig, memory: &MemoryConfig, job: &Job<'_>) -> [Value; 2] {
    let in_time = simulate_jobs(node, memory, std::slice::from_ref(job), RunOptions::default()).unwrap();
    let at_once = run_jobs_at_once(node, memory, std::slice::from_ref(job), options()).unwrap();
    let value = |statistics| serde_json::to_value(statistics).unwrap();
    [value(in_time.summary.manager), value(at_once.summary.manager)]
}

fn number(counts: &Value, name: &str) -> u64 {
    counts[name].as_u64().unwrap_or(0)
}

/// A prefetcher of 64 KiB, with or without the memory beyond allocations.
fn leaves(padding: Padding) -> MemoryConfig {
    MemoryConfig { padding, prefetch: Choice::named("sequential-local"), ..memory("on-touch") }
}

#[test]
fn what_lies_beyond_an_allocation_comes_with_its_last_leaf() {
    // 20 pages and 5; of the second leaf of the first one only 4 are asked for.
    let touch = |pages: &[u64]| pages.iter().map(|&page| vec![Op::load(line(page, 0), 1), Op::WAIT]).collect();
    let script = Script::sequence(1, touch(&[3, 17, 514])).with_buffers(&[(20, 0), (5, 0)]);
    for (padding, prefetched) in [(Padding::None, 15 + 3 + 4), (Padding::Trees, 3 * 15)] {
        for counts in counts(&node(1), &leaves(padding), &Job::alone(&script, None)) {
            assert_eq!((number(&counts, "far_faults"), number(&counts, "prefetched")), (3, prefetched), "{padding:?}");
        }
    }
}

#[test]
fn padding_takes_up_room_and_leaves_with_its_leaf() {
    let touch = |page: u64| vec![Op::load(line(page, 0), 1), Op::WAIT];
    let script = Script::sequence(1, vec![touch(0), touch(512), touch(0)]).with_buffers(&[(1, 0), (1, 0)]);
    let mut node = node(1);
    node.capacity = CapacityConfig { bytes: Bytes(20 * 4096), ..node.capacity };
    let whole = [("whole".to_owned(), true.into())].into_iter().collect();
    let eviction = Choice { options: whole, ..Choice::named("sequential-local") };
    for (padding, faults, left) in [(Padding::None, 2, 0), (Padding::Trees, 3, 32)] {
        let memory = MemoryConfig { eviction: eviction.clone(), ..leaves(padding) };
        for counts in counts(&node, &memory, &Job::alone(&script, None)) {
            assert_eq!(number(&counts, "far_faults"), faults, "{padding:?}");
            assert_eq!(number(&counts, "evictions_written"), left, "{padding:?}");
            assert_eq!(number(&counts, "thrashed"), left / 2, "{padding:?}");
        }
    }
}

#[test]
fn whole_programs_pad_managed_memory_alone() {
    let touch = vec![vec![Op::load(line(17, 0), 1), Op::WAIT]];
    let script = Script::sequence(1, touch).with_buffers(&[(20, 0)]);
    let program = |kind| -> Program { lower(&script, &Lowering { kind, ..Lowering::default() }).unwrap() };
    for (kind, pads) in [(ProgramKind::Managed, true), (ProgramKind::System, false)] {
        let program = program(kind);
        let prefetched = |padding| {
            let found = counts(&node(1), &leaves(padding), &Job::alone(&script, Some(&program)));
            found.map(|counts| number(&counts, "prefetched"))
        };
        let [(in_time, padded_in_time), (at_once, padded_at_once)] =
            [0, 1].map(|run| (prefetched(Padding::None)[run], prefetched(Padding::Trees)[run]));
        assert_eq!((padded_in_time > in_time, padded_at_once > at_once), (pads, pads), "{kind:?}");
        assert_eq!((in_time, padded_in_time), (at_once, padded_at_once), "{kind:?}");
    }
}

/// Two launches, between which the host reads and writes.
fn backprop() -> Box<dyn Workload> {
    WORKLOADS.build(&Choice::named("bp"), &Size { scale: 0.01, seed: 1 }).unwrap()
}

fn home(synchronisation: Synchronisation) -> MemoryConfig {
    MemoryConfig { synchronisation, ..memory("on-touch") }
}

fn roomy() -> NodeConfig {
    let mut node = node(1);
    node.compute.vector_registers = 256;
    node.compute.scalar_registers = 3200;
    node.compute.local_data = Bytes(64 << 10);
    node
}

#[test]
fn written_pages_go_home_between_launches_in_time_and_without() {
    let workload = backprop();
    let job = Job::alone(workload.as_ref(), None);
    let [in_time, at_once] = counts(&roomy(), &home(Synchronisation::DirtyHome), &job);
    assert_eq!(number(&in_time, "synchronised"), number(&at_once, "synchronised"));
    assert!(number(&in_time, "synchronised") > 0);
    assert_eq!(number(&in_time, "far_faults"), number(&at_once, "far_faults"));
    for counts in counts(&roomy(), &home(Synchronisation::Stay), &job) {
        assert_eq!(number(&counts, "synchronised"), 0);
        assert!(number(&counts, "far_faults") <= number(&in_time, "far_faults"));
    }
}

#[test]
fn the_next_launch_waits_for_pages_that_go_home() {
    let workload = backprop();
    let gap = |synchronisation| {
        let job = Job::alone(workload.as_ref(), None);
        let result = simulate_jobs(&roomy(), &home(synchronisation), &[job], RunOptions::default()).unwrap();
        column(&result, "kernels", "began_ps")[1] - column(&result, "kernels", "ended_ps")[0]
    };
    assert_eq!(gap(Synchronisation::Stay), 0);
    assert!(Time(gap(Synchronisation::DirtyHome)) >= Time(1_000_000));
}

#[test]
fn a_whole_program_sends_written_pages_home_where_its_host_waits() {
    let workload = backprop();
    let program = lower(workload.as_ref(), &Lowering::default()).unwrap();
    let job = Job::alone(workload.as_ref(), Some(&program));
    let [in_time, at_once] = counts(&roomy(), &home(Synchronisation::DirtyHome), &job);
    assert!(number(&in_time, "synchronised") > 0);
    assert_eq!(number(&in_time, "synchronised"), number(&at_once, "synchronised"));
}
