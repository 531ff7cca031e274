//! Pages that stay while accesses to them are under way (UVMSmart, `gmmu_t::is_block_evictable`): on the simulated
//! node, and without time, where no access is under way.

use octavo_manager::{MemoryConfig, OutstandingAccesses};
use octavo_node::{CapacityConfig, NodeConfig};
use octavo_program::Op;
use octavo_registry::Choice;
use octavo_sim::{Job, run_at_once};
use octavo_units::Bytes;

use crate::functional::options;
use crate::support::{Script, compute, line, load, memory, node, run_with};

fn keeping(outstanding: OutstandingAccesses, eviction: &str) -> MemoryConfig {
    MemoryConfig { outstanding, eviction: Choice::named(eviction), ..memory("on-touch") }
}

fn pages(count: u64) -> NodeConfig {
    let mut node = node(1);
    node.capacity = CapacityConfig { bytes: Bytes(count * 4096), ..node.capacity };
    node
}

/// Wavefronts that load these pages again and again, and one that loads others meanwhile.
fn hammer(pages: &[u64], others: &[u64]) -> Script {
    let again = |number: usize| -> Vec<Op> {
        let page = pages[number % pages.len()];
        (0..4000).flat_map(|turn| load(page, (number as u64 * 5 + turn) % 64)).collect()
    };
    let mut groups: Vec<Vec<Vec<Op>>> = (0..6).map(|group| vec![again(2 * group), again(2 * group + 1)]).collect();
    let later = others.iter().flat_map(|&page| load(page, 0));
    groups.push(vec![compute(2).into_iter().chain(later).collect(), again(0)]);
    Script::new(8, vec![groups])
}

#[test]
fn a_page_in_use_is_no_victim() {
    let faults = |outstanding| {
        let script = hammer(&[0], &[1, 2, 3, 4]);
        run_with(&pages(4), &keeping(outstanding, "lru-page"), &script).summary.manager.far_faults
    };
    assert_eq!(faults(OutstandingAccesses::Stay), 5, "page 1 leaves");
    assert!(faults(OutstandingAccesses::Leave) > 5, "page 0 was serviced longest ago, leaves, and comes again");
}

#[test]
fn a_fault_that_finds_only_pages_in_use_waits_and_is_served() {
    let script = hammer(&[0, 1, 2, 3], &[4, 5, 6]);
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
