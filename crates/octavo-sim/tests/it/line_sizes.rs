//! Caches with lines of 128 bytes next to those with lines of 64.

use crate::support::{Script, load, node, run};
use octavo_node::{LineSize, NodeConfig};

/// Lines of 64 bytes that the first-level cache holds.
const HELD: u64 = 256;

fn with_lines(line: LineSize) -> NodeConfig {
    let mut node = node(1);
    (node.l1.line, node.l2.line) = (line, line);
    node
}

/// First-level hits and reads of memory when lines are loaded in turn, twice.
fn twice(line: LineSize, lines: impl Iterator<Item = u64> + Clone) -> (u64, u64) {
    let loads = lines.clone().chain(lines).flat_map(|line| load(0, line)).collect();
    let accesses = run(&with_lines(line), "on-touch", &Script::sequence(8, vec![loads])).summary.accesses;
    (accesses.l1_hits, accesses.dram_reads)
}

#[test]
fn halves_that_nobody_asks_for_take_room_and_are_not_fetched() {
    // One half of every line of 128 bytes, such that all sets of smaller lines get as many.
    let scattered = (0..HELD).map(|pair| 2 * pair + (pair >> 5) % 2);
    assert_eq!(twice(LineSize::Bytes64, scattered.clone()), (HELD, HELD));
    assert_eq!(twice(LineSize::Bytes128, scattered), (0, HELD), "tags for half of them; the second level has all");
}

#[test]
fn lines_that_are_used_whole_are_the_same_in_either() {
    assert_eq!(twice(LineSize::Bytes64, 0..HELD), (HELD, HELD));
    assert_eq!(twice(LineSize::Bytes128, 0..HELD), (HELD, HELD));
}

#[test]
fn larger_lines_are_refused_where_they_are_not_served() {
    let refused = |change: fn(&mut NodeConfig)| {
        let mut node = with_lines(LineSize::Bytes128);
        change(&mut node);
        node.validate().unwrap_err()
    };
    assert_eq!(refused(|node| node.l1.in_order = true).key, "l1.line");
    let interleaved = refused(|node| node.dram.interleave.0 = 64);
    assert_eq!(interleaved.to_string(), "`dram.interleave`: expected a line (128B) to 1GiB, found 64B");
}
