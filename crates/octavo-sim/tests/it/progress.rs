//! Every run ends: shipped nodes under every placement, every way to serve in batches, and those that once ran for ever.

use std::ops::ControlFlow;

use octavo_driver::config::{BatchScope, Replay};
use octavo_manager::PLACEMENTS;
use octavo_scenario::{Resolved, Source, presets, resolve};
use octavo_sim::{Job, RunOptions, RunResult, SimError, simulate_jobs};

const TINY: &str = "{ name = 'vectoradd', scale = 0.0005 }";

fn resolved(workload: &str, node: &str, changes: &[&str]) -> Result<Resolved, String> {
    let text = format!("workload = {workload}\nnode.preset = '{node}'\n");
    let changes: Vec<String> = changes.iter().map(|change| (*change).to_owned()).collect();
    resolve(Source { name: "test", text: &text }, &changes).map_err(|error| error.to_string())
}

fn run(resolved: &Resolved) -> Result<RunResult, SimError> {
    let scenario = &resolved.scenario;
    let built = scenario.built_while(&mut || ControlFlow::Continue(())).unwrap();
    let jobs: Vec<_> =
        built.parts.iter().map(|part| Job::alone(part.workload.as_ref(), part.program.as_ref())).collect();
    simulate_jobs(&built.node, &built.memory, &jobs, RunOptions::default())
}

fn ends(workload: &str, node: &str, changes: &[&str]) {
    let resolved = resolved(workload, node, changes).unwrap();
    if let Err(error) = run(&resolved) {
        panic!("{workload} on {node} with {changes:?}: {error}");
    }
}

#[test]
fn shipped_nodes_end_under_every_placement() {
    let mut refused = Vec::new();
    for node in presets::node_names() {
        for placement in PLACEMENTS.names() {
            let change = format!("memory.placement={placement}");
            match resolved(TINY, node, &[&change]) {
                Ok(resolved) => drop(run(&resolved).unwrap_or_else(|error| panic!("{placement} on {node}: {error}"))),
                Err(why) => refused.push((node, placement, why)),
            }
        }
    }
    // Counters of two thresholds, and what needs a node without coherence.
    let (all, few) = (presets::node_names().count() * PLACEMENTS.names().count(), refused.len());
    assert!(few * 10 < all, "{few} of {all} are refused: {refused:?}");
}

/// Eight GPUs store to the same pages; each wake has to wait for units that stand still.
#[test]
fn gpus_that_fight_end_with_every_way_to_serve_in_batches() {
    for replay in [Replay::Block, Replay::Batch, Replay::BatchFlush, Replay::Once] {
        for scope in [BatchScope::Node, BatchScope::PerGpu] {
            for interrupt in ["0ns", "10us"] {
                let (replay, scope) = (serde_json::to_value(replay).unwrap(), serde_json::to_value(scope).unwrap());
                let service = format!(
                    "node.driver.service={{model='batch', size=256, batch='30us', request='1us', replay={replay}, scope={scope}, interrupt='{interrupt}'}}"
                );
                ends(TINY, "hgx-h100-8", &[&service]);
            }
        }
    }
}

#[test]
fn what_ran_for_ever_ends() {
    ends("{ name = 'gemm', scale = 0.01 }", "hgx-h100-8", &[]);
    let large = ["memory.sizing.name=large", "node.driver.preset=stock-driver"];
    ends("{ name = 'simpleconvolution', scale = 0.012 }", "grit-4gpu", &large);
    let reserve = [
        "memory.demotion={name='reserve', free='64KiB'}",
        "memory.eviction=lru-block",
        "node.capacity={bytes='0B', footprint_percent=100}",
    ];
    ends("{ name = 'red', scale = 0.002 }", "cuda-sm90", &reserve);
}
