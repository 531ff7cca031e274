//! Several memories of the host: the places of pages, and the cost of the second one, by hand.

use crate::support::*;
use octavo_node::{FurtherMemoryConfig, FurtherMemoryKind, NodeConfig};
use octavo_program::{Lowering, ProgramKind, lower};
use octavo_sim::{Job, RunOptions, RunResult, SimError, Values, simulate, simulate_jobs};
use octavo_units::{Bandwidth, Bytes, Time};

/// Of the second memory: bandwidth of 1 GB/s, 1 ns a byte, and latency.
const BYTE: u64 = 1_000;
const LATENCY: u64 = 700_000;
/// Latency of the first memory: the test node's 100 cycles.
const FIRST: u64 = 100_000;

/// Pages of 4 KiB that the first memory holds.
const FIRST_PAGES: u64 = 4;

fn two(pages: u64) -> NodeConfig {
    let mut node = node(1);
    node.host.memory.capacity = Bytes(FIRST_PAGES * 4096);
    node.host.memories.push(FurtherMemoryConfig {
        name: "expander".into(),
        kind: FurtherMemoryKind::Cxl,
        capacity: Bytes(pages * 4096),
        bandwidth: Bandwidth(1_000_000_000),
        latency: Time(LATENCY),
    });
    node
}

/// The time of a load of one line of `page`, the only access.
fn time(placement: &str, page: u64) -> u64 {
    run(&two(8), placement, &Script::sequence(8, vec![load(page, 0)])).summary.time_ps
}

fn bytes_of_link(result: &RunResult, name: &str) -> Option<u64> {
    bytes_of(result, name, &["lines", "migration", "eviction", "copies"])
}

fn bytes_of(result: &RunResult, name: &str, causes: &[&str]) -> Option<u64> {
    let table = result.tables.iter().find(|table| table.name == "links").unwrap();
    let column = |name: &str| &table.columns.iter().find(|column| column.name == name).unwrap().values;
    let Values::Text(links) = column("link") else { panic!("names") };
    let row = links.iter().position(|link| link == name)?;
    let bytes = causes.iter().map(|cause| match column(cause) {
        Values::U64(bytes) => bytes[row],
        other => panic!("{other:?}"),
    });
    Some(bytes.sum())
}

#[test]
fn a_remote_line_takes_the_second_memorys_latency_and_bandwidth() {
    let difference = time("access-counter", FIRST_PAGES) - time("access-counter", FIRST_PAGES - 1);
    assert_eq!(difference, LATENCY + 64 * BYTE - FIRST);
}

#[test]
fn a_page_that_migrates_takes_them_for_all_its_bytes() {
    let difference = time("on-touch", FIRST_PAGES) - time("on-touch", FIRST_PAGES - 1);
    assert_eq!(difference, LATENCY + 4096 * BYTE - FIRST);
}

#[test]
fn pages_fill_the_nearest_memory_first_and_victims_go_where_room_is() {
    let mut node = two(8);
    node.capacity.bytes = Bytes(3 * 4096);
    let touches = (0..8).flat_map(|page| store(page, 0)).collect();
    let result = run(&node, "on-touch", &Script::sequence(8, vec![touches]));
    // Eight pages: four in each memory. Pages 0 to 2 leave the first, which has room for the victims 0 to 2, and page 3,
    // which has room for victim 3. Then pages 4 to 7 leave the second; victim 4 and no other finds no room in the first.
    let held: Vec<_> = result.summary.host_memories.iter().map(|memory| (memory.name.as_str(), memory.bytes)).collect();
    assert_eq!(held, [("host", 4 * 4096), ("expander", 4096)]);
    let most: Vec<u64> = result.summary.host_memories.iter().map(|memory| memory.most_bytes / 4096).collect();
    assert_eq!(most, [4, 4]);
    assert_eq!(result.summary.manager.evictions_written, 5);
    assert_eq!(bytes_of_link(&result, "host1"), Some(5 * 4096), "four pages come from there and one goes there");
}

#[test]
fn copies_of_a_program_read_and_write_the_memory_in_which_the_host_has_them() {
    let touches = (0..8).flat_map(|page| [load(page, 0), store(page, 1)].concat()).collect();
    let script = Script::sequence(8, vec![touches]);
    let program = lower(&script, &Lowering { kind: ProgramKind::Explicit, ..Lowering::default() }).unwrap();
    let jobs = [Job::alone(&script, Some(&program))];
    let result = simulate_jobs(&two(8), &memory("on-touch"), &jobs, RunOptions::default()).unwrap();
    let copied = bytes_of(&result, "host1", &["copies"]);
    assert_eq!(copied, Some(2 * 4 * 4096), "four pages lie there: in before the launch, out after it");
}

#[test]
fn one_memory_without_a_limit_leaves_results_as_they_are() {
    let script = || Script::sequence(8, vec![(0..8).flat_map(|page| store(page, 0)).collect()]);
    let plain = run(&node(1), "on-touch", &script());
    let mut ended = node(1);
    ended.host.memory.capacity = Bytes(8 * 4096);
    let ended = run(&ended, "on-touch", &script());
    assert_eq!((&plain.summary, &plain.tables), (&ended.summary, &ended.tables), "there is room for all of them");
    assert!(plain.summary.host_memories.is_empty() && bytes_of_link(&plain, "host1").is_none());
}

#[test]
fn a_host_that_is_full_ends_the_run_and_names_its_memories() {
    let script = Script::sequence(8, vec![load(0, 0)]);
    let run = |node: &NodeConfig| simulate(node, &memory("on-touch"), &script, RunOptions::default());
    let error = run(&two(3)).unwrap_err();
    assert!(matches!(error, SimError::HostOutOfMemory { .. }), "{error}");
    let message = error.to_string();
    assert!(message.contains("host (16KiB), host1 `expander` (12KiB)"), "{message}");
    assert!(run(&two(4)).is_ok());
    let mut unreachable = two(4);
    unreachable.host.memory.capacity = Bytes(0);
    let message = run(&unreachable).unwrap_err().to_string();
    assert!(message.contains("host.memory.capacity") && message.contains("`expander`"), "{message}");
    let mut tiny = two(4);
    tiny.host.memories[0].capacity = Bytes(4095);
    assert!(run(&tiny).unwrap_err().to_string().contains("room for a page"), "not a single page");
}
