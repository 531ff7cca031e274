//! Every run ends: shipped nodes under every placement, every way to serve in batches, and those that once ran for ever.

use octavo_driver::config::{BatchScope, Replay};
use octavo_manager::PLACEMENTS;
use octavo_scenario::{Resolved, Source, presets, resolve};
use octavo_sim::{Job, RunOptions, RunResult, SimError, simulate_jobs};

fn resolved(workload: &str, node: &str, changes: &[&str]) -> Resolved {
    let text = format!("workload = {workload}\nnode.preset = '{node}'\n");
    let changes: Vec<String> = changes.iter().map(|change| (*change).to_owned()).collect();
    resolve(Source { name: "test", text: &text }, &changes).unwrap_or_else(|error| panic!("{error}"))
}

fn run(resolved: &Resolved) -> Result<RunResult, SimError> {
    let scenario = &resolved.scenario;
    let parts = scenario.parts().unwrap();
    let jobs: Vec<_> = parts.iter().map(|part| Job::alone(part.workload.as_ref(), part.program.as_ref())).collect();
    simulate_jobs(&scenario.node, &scenario.memory, &jobs, RunOptions::default())
}

fn ends(workload: &str, node: &str, changes: &[&str]) {
    if let Err(error) = run(&resolved(workload, node, changes)) {
        panic!("{workload} on {node} with {changes:?}: {error}");
    }
}

#[test]
fn shipped_nodes_end_under_every_placement() {
    for node in presets::node_names() {
        for placement in PLACEMENTS.names() {
            let placement = format!("memory.placement={placement}");
            ends("{ name = 'vectoradd', scale = 0.0005 }", node, &[&placement]);
        }
    }
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
                ends("{ name = 'vectoradd', scale = 0.0005 }", "hgx-h100-8", &[&service]);
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
