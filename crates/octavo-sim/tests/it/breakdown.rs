//! The causes of access time when memory is full.

use crate::support::{Script, load, node, run, store};
use octavo_node::NodeConfig;
use octavo_program::Op;

fn limited(gpus: u32, percent: u32) -> NodeConfig {
    let mut node = node(gpus);
    node.capacity.footprint_percent = percent;
    node
}

fn read(pages: std::ops::Range<u64>) -> Vec<Op> {
    pages.flat_map(|page| load(page, 0)).collect()
}

#[test]
fn dropping_a_replica_for_room_is_eviction() {
    // GPU 0 is full of replicas of the pages of GPU 1 when it reads 8 more. For each it first loses a replica: a
    // message, the shootdown, an answer.
    let node = limited(2, 75);
    let script =
        Script::on_gpus(32, vec![vec![vec![], read(0..24)], vec![read(0..24), vec![]], vec![read(24..32), vec![]]]);
    let summary = run(&node, "duplication", &script).summary;
    assert_eq!((summary.manager.duplications, summary.manager.evictions_dropped), (24, 8));
    assert_eq!(summary.breakdown.eviction_ps, 8 * (500 + 315 + 500) * 1000);
}

#[test]
fn writing_a_sole_copy_back_is_eviction() {
    // A drain with nothing in flight; a shootdown and its answer; then the copy: its command, 64 lines from 16 banks,
    // 4096 bytes at 32 GB/s, the link.
    let summary = run(&limited(1, 50), "on-touch", &Script::sequence(32, vec![read(0..24)])).summary;
    assert_eq!((summary.manager.migrations, summary.manager.evictions_written), (24, 8));
    let (drain, shootdown, copy) = (500, 315 + 500, 500 + 104 + 128 + 500);
    assert_eq!(summary.breakdown.eviction_ps, 8 * (drain + shootdown + copy) * 1000);
}

#[test]
fn dirty_lines_of_a_victim_are_part_of_its_eviction() {
    // One dirty line more a page: the drain writes it to memory (1 + 100 cycles).
    let writes: Vec<Op> = (0..16).flat_map(|page| store(page, 0)).collect();
    let dirty = Script::sequence(32, vec![writes, read(16..24)]);
    let summary = run(&limited(1, 50), "on-touch", &dirty).summary;
    assert_eq!((summary.manager.evictions_written, summary.accesses.dram_writes), (8, 8));
    assert_eq!(summary.breakdown.eviction_ps, 8 * (500 + 101 + 815 + 1232) * 1000);
}

#[test]
fn nothing_is_eviction_while_there_is_room() {
    let summary = run(&limited(1, 100), "on-touch", &Script::sequence(32, vec![read(0..32)])).summary;
    assert_eq!((summary.manager.migrations, summary.breakdown.eviction_ps), (32, 0));
}
