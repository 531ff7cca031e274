//! Simulated 64-byte line accesses a second on one core: `cargo bench -p octavo-sim --bench rate -- [OPTIONS]`.
//!
//! Prints a row a kernel and the geometric mean. Options: `--scale 0.0625,1`, `--kernels bfs-shoc,stencil2d`,
//! `--placement grit`, `--node grit-4gpu`, `--executor instant`, `--set key=value` (repeatable), `--repeat N` (the fastest run counts).

use std::time::Instant;

use mimalloc::MiMalloc;
use octavo_program::Workload;
use octavo_scenario::{ExecutorChoice, Scenario, Source, WORKLOADS, resolve};
use octavo_sim::{InstantOptions, RunOptions, run_at_once, simulate};

/// As in the Python package.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

struct Arguments {
    scales: Vec<String>,
    kernels: Vec<String>,
    overrides: Vec<String>,
    repeat: u32,
}

fn arguments() -> Arguments {
    let mut parsed = Arguments {
        scales: vec!["0.0625".into()],
        // A trace has no size of its own to be measured at.
        kernels: WORKLOADS.names().filter(|name| *name != "trace").map(str::to_owned).collect(),
        overrides: vec!["memory.placement.name=grit".into(), "node.preset=grit-4gpu".into()],
        repeat: 1,
    };
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = words.next() {
        let value = words.next().unwrap_or_else(|| panic!("{word} needs a value"));
        let list = || value.split(',').map(str::to_owned).collect();
        match word.as_str() {
            "--scale" => parsed.scales = list(),
            "--kernels" => parsed.kernels = list(),
            "--placement" => parsed.overrides.push(format!("memory.placement.name={value}")),
            "--executor" => parsed.overrides.push(format!("executor.kind={value}")),
            "--node" => parsed.overrides.push(format!("node.preset={value}")),
            "--set" => parsed.overrides.push(value),
            "--repeat" => parsed.repeat = value.parse().expect("a number of runs"),
            other => panic!("unknown option {other}"),
        }
    }
    parsed
}

fn main() {
    let arguments = arguments();
    for scale in &arguments.scales {
        println!("scale {scale}, {}", arguments.overrides.join(", "));
        println!(
            "{:>8} {:>12} {:>8} {:>9} {:>9} {:>8} {:>8} {:>8} {:>9} {:>12} {:>11}",
            "kernel",
            "lines",
            "wall s",
            "M lines/s",
            "ns a line",
            "events/l",
            "TLB m/l",
            "walks/l",
            "faults",
            "simulated ms",
            "B/4KiB page"
        );
        let rates: Vec<f64> = arguments.kernels.iter().map(|kernel| measure(kernel, scale, &arguments)).collect();
        let mean = (rates.iter().map(|rate| rate.ln()).sum::<f64>() / rates.len() as f64).exp();
        println!("geometric mean: {:.2} M lines/s\n", mean / 1e6);
    }
}

/// Runs one kernel, prints its row and returns lines a second of the fastest run.
fn measure(kernel: &str, scale: &str, arguments: &Arguments) -> f64 {
    let mut overrides = arguments.overrides.clone();
    overrides.push(format!("workload.name={kernel}"));
    overrides.push(format!("workload.scale={scale}"));
    let scenario = resolve(Source { name: "bench", text: "" }, &overrides).unwrap_or_else(|error| panic!("{error}"));
    let scenario = scenario.scenario;
    let workload = scenario.workloads().expect("resolved").remove(0).1;
    let mut best: Option<(f64, Ran)> = None;
    for _ in 0..arguments.repeat {
        let began = Instant::now();
        let ran = run(&scenario, &*workload);
        let wall = began.elapsed().as_secs_f64();
        if best.as_ref().is_none_or(|(fastest, _)| wall < *fastest) {
            best = Some((wall, ran));
        }
    }
    let (wall, ran) = best.expect("at least one run");
    report(kernel, wall, &ran)
}

/// The printed facts of a run; without time, there are no events, translations and walks.
struct Ran {
    lines: u64,
    events: u64,
    misses: u64,
    walks: u64,
    faults: u64,
    time_ps: u64,
    manager_bytes: u64,
    footprint_bytes: u64,
}

fn run(scenario: &Scenario, workload: &dyn Workload) -> Ran {
    let ExecutorChoice::Instant(choice) = &scenario.executor else {
        let run = simulate(&scenario.node, &scenario.memory, workload, RunOptions::default());
        let summary = run.unwrap_or_else(|error| panic!("{error}")).summary;
        let accesses = &summary.accesses;
        return Ran {
            lines: accesses.load_lines + accesses.store_lines,
            events: summary.simulated_events,
            misses: accesses.translations - accesses.l1_tlb_hits,
            walks: accesses.walks,
            faults: accesses.faults,
            time_ps: summary.time_ps,
            manager_bytes: summary.manager_state_bytes,
            footprint_bytes: summary.footprint_bytes,
        };
    };
    let options = InstantOptions {
        turn: choice.turn,
        report_lines: choice.report_lines,
        record_events: false,
        memory: None,
        progress: None,
    };
    let run = run_at_once(&scenario.node, &scenario.memory, workload, options);
    let summary = run.unwrap_or_else(|error| panic!("{error}")).summary;
    Ran {
        lines: summary.accesses.load_lines + summary.accesses.store_lines,
        events: 0,
        misses: 0,
        walks: 0,
        faults: summary.accesses.faults,
        time_ps: 0,
        manager_bytes: summary.manager_state_bytes,
        footprint_bytes: summary.footprint_bytes,
    }
}

fn report(kernel: &str, wall: f64, ran: &Ran) -> f64 {
    let (lines, pages) = (ran.lines as f64, ran.footprint_bytes as f64 / 4096.0);
    println!(
        "{kernel:>8} {lines:>12} {wall:>8.3} {:>9.2} {:>9.1} {:>8.2} {:>8.2} {:>8.3} {:>9} {:>12.3} {:>11.1}",
        lines / wall / 1e6,
        wall / lines * 1e9,
        ran.events as f64 / lines,
        ran.misses as f64 / lines,
        ran.walks as f64 / lines,
        ran.faults,
        ran.time_ps as f64 * 1e-9,
        ran.manager_bytes as f64 / pages,
    );
    lines / wall
}
