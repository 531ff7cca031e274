//! What holds for every combination of strategies on a node, whatever it decides. New strategies join by being
//! registered. In the dev profile each run also ends with a check of every page-table entry against the manager.

use crate::support::{Script, combinations, node};
use octavo_driver::config::{BatchConfig, BatchScope, Replay, ServiceModel};
use octavo_manager::{MemoryConfig, PLACEMENTS};
use octavo_node::*;
use octavo_program::{Dispatch, Op, Size, Workload};
use octavo_sim::{Accesses, Progress, RunOptions, RunResult, SimError, simulate};
use octavo_units::{Bytes, Time};
use octavo_workload::WORKLOADS;

pub fn kernel(name: &str, scale: f64) -> Box<dyn Workload> {
    let entry = WORKLOADS.find(name).expect("registered");
    (entry.build)(&Default::default(), &Size { scale, seed: 7 }).expect("default options are valid")
}

fn run(node: &NodeConfig, memory: &MemoryConfig, workload: &dyn Workload) -> RunResult {
    let options = RunOptions { record_events: true, interval: Time(10_000_000), ..RunOptions::default() };
    println!("{} GPUs, {:?}, {memory:?}", node.gpus, node.capacity); // shown when the run fails
    simulate(node, memory, workload, options).unwrap_or_else(|error| panic!("{memory:?}: {error}"))
}

fn batched(mut node: NodeConfig) -> NodeConfig {
    let (batch, request) = (Time(20_000_000), Time(1_000_000));
    node.driver.service = ServiceModel::Batch(BatchConfig {
        size: 256,
        batch,
        request,
        block: Time::ZERO,
        interrupt: Time::ZERO,
        look: Time::ZERO,
        scope: BatchScope::Node,
        replay: Replay::Batch,
    });
    node
}

fn half_the_memory(mut node: NodeConfig) -> NodeConfig {
    node.capacity = CapacityConfig { footprint_percent: 50, scope: CapacityScope::Total, ..node.capacity };
    node
}

/// Stores and loads of all GPUs that fight over a few pages, with barriers and several launches.
fn fight(gpus: usize) -> Script {
    let wavefront = |gpu: usize, number: usize| {
        let mut ops = Vec::new();
        for step in 0..40usize {
            let page = ((step * 17 + gpu * 3 + number) % 96) as u64;
            let line = page * 64 + (step as u64 * 5) % 60;
            ops.push(if (step + gpu).is_multiple_of(3) { Op::store(line, 2) } else { Op::load(line, 4) });
            if step % 4 == 0 {
                ops.push(Op::WAIT);
            }
            if step % 10 == 9 {
                ops.push(Op::BARRIER);
            }
        }
        ops
    };
    let launch: Vec<Vec<Vec<Op>>> = (0..gpus * 2).map(|gpu| (0..3).map(|n| wavefront(gpu / 2, n)).collect()).collect();
    Script::new(128, vec![launch.clone(), launch])
}

#[test]
fn every_combination_finishes_every_kind_of_node_and_does_the_same_accesses() {
    for memory in combinations() {
        for node in [node(1), node(4), half_the_memory(node(3)), batched(node(4)), half_the_memory(batched(node(2)))] {
            let script = fight(node.gpus as usize);
            let accesses = run(&node, &memory, &script).summary.accesses;
            assert_eq!((accesses.load_lines, accesses.store_lines), script.lines(), "{memory:?}");
        }
    }
}

/// The wavefronts' work, whatever its cost.
fn work(accesses: &Accesses) -> [u64; 3] {
    [accesses.load_lines, accesses.store_lines, accesses.compute_instructions]
}

#[test]
fn every_combination_runs_real_kernels_and_page_sizes() {
    let kernels = [kernel("bfs-shoc", 0.002), kernel("stencil2d", 0.002)];
    let mut first = None;
    for (number, mut memory) in combinations().enumerate() {
        memory.page_size = Bytes([4 << 10, 64 << 10, 2 << 20][number % 3]);
        let mut node = node(4);
        node.compute.units = 8;
        let results: Vec<RunResult> = kernels.iter().map(|kernel| run(&node, &memory, &**kernel)).collect();
        for (kernel, result) in kernels.iter().zip(&results) {
            assert_eq!(result.summary.launches, kernel.launches());
            assert!(result.summary.time_ps > 0);
        }
        let done: Vec<_> = results.iter().map(|result| work(&result.summary.accesses)).collect();
        assert_eq!(&done, first.get_or_insert_with(|| done.clone()), "{memory:?}: loads, stores and instructions");
    }
}

#[test]
fn the_same_scenario_gives_the_same_results() {
    let kernel = kernel("bfs-shoc", 0.01);
    // Every seventh, which meets every strategy of each kind several times.
    for memory in combinations().step_by(7) {
        let node = half_the_memory(node(4));
        let (first, second) = (run(&node, &memory, &*kernel), run(&node, &memory, &*kernel));
        assert!(first == second, "{memory:?}");
    }
}

#[test]
fn options_of_the_node_work_with_every_placement() {
    for placement in PLACEMENTS.names() {
        let memory = crate::support::memory(placement);
        let mut node = node(4);
        node.driver.drain = DrainScope::TouchedUnits;
        node.driver.trans_fw = Some(TransFwConfig { filter_entries: 64, fingerprint_bits: 4 });
        node.dispatch = Dispatch::FillFirst;
        node.compute.wavefronts_per_simd = 1; // One work-group fills a unit, eight fill the node.
        let script = fight(4);
        let accesses = run(&node, &memory, &script).summary.accesses;
        assert_eq!((accesses.load_lines, accesses.store_lines), script.lines(), "{placement}");
        // Under `ideal` nobody faults on a page that another GPU has, under `coherent` pages of the host stay there, under
        // `interleaved` nobody faults.
        assert_eq!(
            accesses.forwarded_walks > 0,
            !["coherent", "ideal", "interleaved"].contains(&placement),
            "{placement}: {} walks",
            accesses.forwarded_walks
        );
        assert!(
            accesses.forwarded_wrong * 10 < accesses.forwarded_walks.max(1),
            "{placement}: guesses are mostly right"
        );
    }
}

#[test]
fn what_cannot_run_is_refused() {
    let script = fight(2);
    let refused = |node: &NodeConfig| simulate(node, &MemoryConfig::default(), &script, RunOptions::default());
    let mut tiny = node(2);
    tiny.capacity.footprint_percent = 1;
    assert!(matches!(refused(&tiny), Err(SimError::Capacity(CapacityError::TooFew { pages: 2, .. }))));
    let mut narrow = node(2);
    narrow.compute.simds_per_unit = 1;
    narrow.compute.wavefronts_per_simd = 2;
    assert!(matches!(refused(&narrow), Err(SimError::GroupTooLarge { wavefronts: 3, room: 2, .. })));
    let mut odd = node(2);
    odd.l2.ways = 3;
    let error = refused(&odd).unwrap_err().to_string();
    assert!(error.contains("l2.size") && error.contains("3 ways"), "{error}");
}

#[test]
fn a_run_ends_over_time_only_if_it_takes_longer() {
    let kernel = kernel("bfs-shoc", 0.05);
    let within = |limit| {
        let options = RunOptions { time_limit: limit, ..RunOptions::default() };
        simulate(&node(4), &MemoryConfig::default(), &*kernel, options)
    };
    let whole = within(None).unwrap();
    let time = Time(whole.summary.time_ps);
    assert_eq!(within(Some(time)), Ok(whole));
    let limit = Time(time.0 / 8);
    assert_eq!(
        (within(Some(limit)), within(Some(limit))),
        (Err(SimError::OverTime { limit }), Err(SimError::OverTime { limit }))
    );
}

/// The limit is checked after the same number of events with a timeline, which needs more frequent checks, as without:
/// a run of a few thousand events ends before that.
#[test]
fn what_is_recorded_does_not_decide_whether_a_run_is_over_time() {
    let script = Script::sequence(8, vec![(0..2000).flat_map(|index| [Op::load(index % 512, 1), Op::WAIT]).collect()]);
    let mut out = Vec::new();
    let memory = MemoryConfig::default();
    let limit = Some(Time(1));
    let plain = simulate(&node(1), &memory, &script, RunOptions { time_limit: limit, ..RunOptions::default() });
    let options = RunOptions { time_limit: limit, timeline: Some(&mut out), ..RunOptions::default() };
    assert_eq!(simulate(&node(1), &memory, &script, options), plain);
    assert!(
        plain.is_ok_and(|result| (300..60_000).contains(&result.summary.simulated_events)),
        "as many as are between two looks"
    );
}

#[test]
fn a_run_says_how_far_it_is() {
    let kernel = kernel("bfs-shoc", 0.05);
    let groups_of =
        |launches: u32| -> u64 { (0..launches).map(|index| u64::from(kernel.launch(index).work_groups)).sum() };
    let mut reports = Vec::new();
    let mut report = |progress| {
        reports.push(progress);
        std::ops::ControlFlow::Continue(())
    };
    let options = RunOptions { progress: Some(&mut report), ..RunOptions::default() };
    simulate(&node(4), &MemoryConfig::default(), &*kernel, options).expect("it ends");
    assert!(reports.iter().any(|report| report.launches_done > 0), "{reports:?}");
    for Progress { launches_done, launches, groups_done, groups, .. } in reports {
        assert_eq!((launches, groups), (kernel.launches(), groups_of(kernel.launches())));
        let under_way = (launches_done + 1).min(launches);
        assert!((groups_of(launches_done)..=groups_of(under_way)).contains(&groups_done), "{groups_done}");
    }
}

#[test]
fn a_run_can_be_interrupted() {
    let kernel = kernel("bfs-shoc", 0.05);
    let mut calls = 0;
    let mut stop = |_| {
        calls += 1;
        std::ops::ControlFlow::Break(())
    };
    let options = RunOptions { progress: Some(&mut stop), ..RunOptions::default() };
    let result = simulate(&node(4), &MemoryConfig::default(), &*kernel, options);
    assert_eq!((result, calls), (Err(SimError::Interrupted), 1));
}
