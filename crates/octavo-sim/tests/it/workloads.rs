//! Every registered workload runs on a node to its end and does there what its streams say. New ones join by being
//! registered.

use crate::support::{memory, node};
use octavo_program::{Setting, Size, Workload, characterise};
use octavo_registry::Choice;
use octavo_sim::{RunOptions, simulate};
use octavo_workload::WORKLOADS;

/// Small enough to run all, large enough for several work-groups of each.
const SCALE: f64 = 0.003;
/// Bytes of the largest: published footprints differ by a thousand.
const MOST_BYTES: f64 = 5e5;
/// Networks have no smaller scale; programs that serve requests have a larger one, and are built at twice as much until
/// they can be.
const LEAST_SCALE: f64 = 1e-4;

fn small(name: &str) -> Box<dyn Workload> {
    let build = |scale| WORKLOADS.build(&Choice::named(name), &Size { scale, seed: 7 });
    let workload = build(SCALE).unwrap();
    let part = MOST_BYTES / workload.footprint() as f64;
    if part >= 1.0 {
        return workload;
    }
    let scales = std::iter::successors(Some((SCALE * part).max(LEAST_SCALE)), |scale| Some(scale * 2.0));
    scales.take_while(|&scale| scale < SCALE).find_map(|scale| build(scale).ok()).unwrap_or(workload)
}

#[test]
fn every_workload_runs_to_its_end() {
    for name in WORKLOADS.names() {
        let workload = small(name);
        let expected = characterise(&*workload, &Setting { gpus: 2, ..Setting::default() }).unwrap();
        let mut node = node(2);
        node.compute.units = 8;
        let result = simulate(&node, &memory("on-touch"), &*workload, RunOptions::default());
        let summary = result.unwrap_or_else(|error| panic!("{name}: {error}")).summary;
        let done = &summary.accesses;
        // Scalar loads of these workloads are of one line each.
        let found = [done.load_lines + done.scalar_loads, done.store_lines, done.compute_instructions];
        let expected = [expected.total.loads, expected.total.stores, expected.instructions.compute];
        assert_eq!(found, expected, "{name}: lines loaded, lines stored, vector instructions");
        assert_eq!(summary.launches, workload.launches(), "{name}");
    }
}
