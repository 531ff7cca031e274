//! Replays a trace on a node and prints the result, one JSON object on a line: `cargo run --release -p octavo-sim
//! --example replay -- TRACE [KEY=VALUE]...`.
//!
//! The node is `r9nano` with pages interleaved over its GPUs, and instructions are in their recorded order, unless keys
//! say otherwise. Times are seconds of wall clock: `open_s` until the scenario is resolved and the trace is open,
//! `simulate_s` for the rest, decoding included.

use std::time::Instant;

use octavo_scenario::{Source, resolve};
use octavo_sim::{RunOptions, simulate};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let trace = words.next().ok_or("expected the folder of a trace")?;
    let began = Instant::now();
    let mut overrides = vec!["node.preset=r9nano".to_owned(), "memory.placement=interleaved".to_owned()];
    overrides.extend(["workload.name=trace".to_owned(), format!("workload.path={trace}")]);
    overrides.push("workload.instructions=recorded".to_owned());
    overrides.extend(words);
    let scenario = resolve(Source { name: "replay", text: "" }, &overrides)?.scenario;
    let workload = scenario.workloads()?.remove(0).1;
    let opened = began.elapsed().as_secs_f64();
    let result = simulate(&scenario.node, &scenario.memory, &*workload, RunOptions::default())?;
    let simulated = began.elapsed().as_secs_f64() - opened;
    let (summary, accesses) = (&result.summary, &result.summary.accesses);
    println!(
        "{{\"time_ps\": {}, \"lines\": {}, \"events\": {}, \"open_s\": {opened:.6}, \"simulate_s\": {simulated:.6}}}",
        summary.time_ps,
        accesses.load_lines + accesses.store_lines,
        summary.simulated_events,
    );
    Ok(())
}
