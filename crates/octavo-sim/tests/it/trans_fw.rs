//! The gain and the cost of a forwarded walk.

use crate::support::{Script, load, node, run};
use octavo_node::{NodeConfig, TransFwConfig};
use octavo_program::Op;
use octavo_sim::Summary;
use octavo_units::Cycles;

/// Nanoseconds of the host's walk: four levels.
const HOST_WALK: u64 = 4 * 250;
/// To the other GPU and back: 16 bytes at 64 GB/s and 200 cycles each; there a walk whose upper levels are cached.
const FORWARDED: u64 = 2 * 250 + (200 + 100 + 200) * 1000;

fn node_with(filter: bool, limited: bool) -> NodeConfig {
    let mut node = node(2);
    node.host.level = Cycles(HOST_WALK / 4);
    node.driver.trans_fw = filter.then_some(TransFwConfig { filter_entries: 4096, fingerprint_bits: 16 });
    if limited {
        node.capacity.footprint_percent = 50;
    }
    node
}

/// GPU 0 loads pages, then GPU 1 loads page 0; without and with forwarding.
fn both(pages: u64, limited: bool) -> [Summary; 2] {
    let own: Vec<Op> = (0..pages).flat_map(|page| load(page, 0)).collect();
    let script = Script::on_gpus(32, vec![vec![own, vec![]], vec![vec![], load(0, 1)]]);
    [false, true].map(|filter| run(&node_with(filter, limited), "first-touch", &script).summary)
}

#[test]
fn a_right_guess_spares_the_hosts_walk() {
    let [without, with] = both(1, false);
    assert_eq!((without.accesses.forwarded_walks, without.accesses.forwarded_wrong), (0, 0));
    assert_eq!((with.accesses.forwarded_walks, with.accesses.forwarded_wrong), (1, 0));
    assert_eq!(without.time_ps - with.time_ps, HOST_WALK * 1000 - FORWARDED);
}

#[test]
fn a_wrong_guess_pays_both_walks() {
    // Page 0 made room for another on GPU 0, so that it is on the host again.
    let [without, with] = both(17, true);
    assert_eq!(with.manager.evictions_written, 1);
    assert_eq!((with.accesses.forwarded_walks, with.accesses.forwarded_wrong), (1, 1));
    assert_eq!(with.time_ps - without.time_ps, FORWARDED);
}

#[test]
fn pages_that_no_gpu_has_are_not_forwarded() {
    let cold = vec![vec![load(0, 0), load(8, 0)]];
    let [without, with] =
        [false, true].map(|filter| run(&node_with(filter, false), "first-touch", &Script::on_gpus(32, cold.clone())));
    assert_eq!(with.summary.accesses.forwarded_walks, 0);
    assert_eq!(with.summary.time_ps, without.summary.time_ps);
}

#[test]
fn a_forwarded_walk_reads_page_tables_where_they_lie() {
    let time = |level| {
        let mut node = node_with(true, false);
        (node.walker.in_memory, node.walker.level) = (true, Cycles(level));
        let script = Script::on_gpus(32, vec![vec![load(0, 0), vec![]], vec![vec![], load(0, 1)]]);
        let summary = run(&node, "first-touch", &script).summary;
        assert_eq!(summary.accesses.forwarded_walks, 1);
        summary.time_ps
    };
    assert_eq!(time(100), time(10_000), "no level takes a fixed time");
}
