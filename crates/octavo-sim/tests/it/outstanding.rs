//! Pages that accesses are under way to stay (UVMSmart, `gmmu_t::is_block_evictable`): on the simulated node, and without
//! time, where no access is under way.

use octavo_manager::{MemoryConfig, OutstandingAccesses};
use octavo_node::{CapacityConfig, NodeConfig};
use octavo_program::Op;
use octavo_registry::Choice;
use octavo_sim::{Job, run_at_once};
use octavo_units::Bytes;

use crate::functional::options;
use crate::support::{Script, line, load, memory, node, run_with};

fn keeping(outstanding: OutstandingAccesses, eviction: &str) -> MemoryConfig {
    MemoryConfig { outstanding, eviction: Choice::named(eviction), ..memory("on-touch") }
}

fn pages(count: u64) -> NodeConfig {
    let mut node = node(1);
    node.capacity = CapacityConfig { bytes: Bytes(count * 4096), ..node.capacity };
    node
}

/// Fifteen wavefronts load page 0 again and again, and one loads pages 1 and 2: there is room for two pages.
fn hammer() -> Script {
    let again = |number: u64| (0..400).flat_map(|turn| load(0, (number * 4 + turn) % 64)).collect::<Vec<Op>>();
    let others = [load(1, 0), load(2, 0)].concat();
    Script::new(3, vec![vec![(0..15).map(again).chain([others]).collect()]])
}

#[test]
fn a_page_in_use_is_no_victim() {
    let faults =
        |outstanding| run_with(&pages(2), &keeping(outstanding, "lru-page"), &hammer()).summary.manager.far_faults;
    assert_eq!(faults(OutstandingAccesses::Stay), 3, "page 1 leaves");
    assert!(faults(OutstandingAccesses::Leave) > 3, "page 0 was serviced longest ago, leaves, and comes again");
}

/// Every page is in use nearly all the time.
#[test]
fn faults_that_find_only_pages_in_use_wait_and_are_served() {
    let wavefront = |number: u64| (0..60).flat_map(|turn| load((number + turn / 4) % 6, turn)).collect::<Vec<Op>>();
    let script = Script::new(6, vec![vec![(0..12).map(wavefront).collect()]]);
    for eviction in ["lru-page", "random-page", "sequential-local"] {
        let result = run_with(&pages(4), &keeping(OutstandingAccesses::Stay, eviction), &script);
        assert_eq!((result.summary.accesses.load_lines, 0), script.lines(), "{eviction}");
        assert!(result.summary.manager.faults_without_room > 0, "{eviction}: some wait");
    }
}

#[test]
fn without_time_nothing_is_under_way() {
    let wavefront = |number: u64| (0..60).map(|turn| Op::load(line((number * 7 + turn) % 9, turn), 1)).collect();
    let script = Script::new(9, vec![vec![(0..3).map(wavefront).collect()]]);
    let counts = [OutstandingAccesses::Leave, OutstandingAccesses::Stay].map(|outstanding| {
        let result =
            run_at_once(&pages(4), &keeping(outstanding, "lru-page"), Job::alone(&script, None).workload, options());
        serde_json::to_value(result.unwrap().summary.manager).unwrap()
    });
    assert_eq!(counts[0], counts[1]);
}
