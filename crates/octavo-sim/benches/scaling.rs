//! How speed and memory follow the size of a run: `cargo bench -p octavo-sim --bench scaling -- [OPTIONS]`.
//!
//! A stream: the `fir` kernel with one tap, which loads each line of its input about once and stores each line of its
//! output once, so that line accesses and footprint grow together. Options: `--megabytes 10,100,1000` (footprints),
//! `--node r9nano`, `--placement interleaved`, `--set key=value` (repeatable).

use std::time::Instant;

use mimalloc::MiMalloc;
use octavo_scenario::{Source, resolve};
use octavo_sim::{RunOptions, simulate};

/// As in the Python package.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Footprint of `fir` at scale 1.
const MEGABYTES_AT_SCALE_1: f64 = 155.0;

fn main() {
    let mut sizes: Vec<f64> = vec![10.0, 100.0, 1000.0];
    let mut overrides: Vec<String> = ["workload.name=fir", "workload.taps=1"].map(str::to_owned).into();
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = words.next() {
        let value = words.next().unwrap_or_else(|| panic!("{word} needs a value"));
        match word.as_str() {
            "--megabytes" => sizes = value.split(',').map(|size| size.parse().expect("megabytes")).collect(),
            "--placement" => overrides.push(format!("memory.placement={value}")),
            "--node" => overrides.push(format!("node.preset={value}")),
            "--set" => overrides.push(value),
            other => panic!("unknown option {other}"),
        }
    }
    println!("{}", overrides.join(", "));
    println!(
        "{:>11} {:>12} {:>8} {:>9} {:>10} {:>9} {:>12} {:>13}",
        "footprint/MB", "lines", "wall s", "M lines/s", "faults", "peak MiB", "B/4KiB page", "simulated ms"
    );
    for megabytes in sizes {
        measure(megabytes, &overrides);
    }
}

fn measure(megabytes: f64, overrides: &[String]) {
    let mut overrides = overrides.to_vec();
    overrides.push(format!("workload.scale={}", megabytes / MEGABYTES_AT_SCALE_1));
    let scenario = resolve(Source { name: "bench", text: "" }, &overrides).unwrap_or_else(|error| panic!("{error}"));
    let scenario = scenario.scenario;
    let workload = scenario.workloads().expect("resolved").remove(0).1;
    forget_peak();
    let began = Instant::now();
    let result = simulate(&scenario.node, &scenario.memory, &*workload, RunOptions::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let wall = began.elapsed().as_secs_f64();
    let (summary, accesses) = (&result.summary, &result.summary.accesses);
    let lines = (accesses.load_lines + accesses.store_lines) as f64;
    let peak = peak_bytes();
    println!(
        "{:>11.1} {lines:>12} {wall:>8.3} {:>9.2} {:>10} {:>9.1} {:>12.1} {:>13.3}",
        summary.footprint_bytes as f64 / 1e6,
        lines / wall / 1e6,
        accesses.faults,
        peak / (1024.0 * 1024.0),
        peak / (summary.footprint_bytes as f64 / 4096.0),
        summary.time_ps as f64 * 1e-9,
    );
}

/// The largest resident memory since [`forget_peak`], where the system reports it (Linux), else 0.
fn peak_bytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    kibibytes.unwrap_or(0.0) * 1024.0
}

fn forget_peak() {
    // Where the system cannot, peaks are those of the largest run so far; sizes ascend.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}
