//! Runs without time compared with the simulated node: what they have in common, and what each does differently.

use std::collections::{BTreeMap, BTreeSet};

use octavo_manager::MemoryConfig;
use octavo_node::{CapacityConfig, CapacityScope, NodeConfig};
use octavo_program::{Op, Workload};
use octavo_registry::Choice;
use octavo_sim::{InstantOptions, InstantResult, RunOptions, RunResult, Table, Values, run_at_once, simulate};
use proptest::prelude::*;

use crate::support::{Script, combinations, compute, line, load, memory, node, store};

pub fn options<'a>() -> InstantOptions<'a> {
    InstantOptions { turn: 1, report_lines: None, record_events: true, memory: None, progress: None }
}

fn at_once(node: &NodeConfig, memory: &MemoryConfig, workload: &dyn Workload) -> InstantResult {
    run_at_once(node, memory, workload, options()).unwrap_or_else(|error| panic!("{memory:?}: {error}"))
}

fn in_time(node: &NodeConfig, memory: &MemoryConfig, workload: &dyn Workload) -> RunResult {
    let options = RunOptions { record_events: true, ..RunOptions::default() };
    simulate(node, memory, workload, options).unwrap_or_else(|error| panic!("{memory:?}: {error}"))
}

/// Everything in a table but when it was.
fn without_time(tables: &[Table], name: &str) -> Vec<(&'static str, Values)> {
    let table = tables.iter().find(|table| table.name == name).expect("a table of the run");
    let columns = table.columns.iter().filter(|column| !["time_ps", "lines"].contains(&column.name));
    columns.map(|column| (column.name, column.values.clone())).collect()
}

/// Rows of the table of events: kind, address, pages, from and to. Either reports of steps, or reports of placements'
/// notes about pages: these come before a plan's first step if steps take time, otherwise after its last.
pub fn rows(tables: &[Table], of_steps: bool) -> Vec<(&'static str, [u64; 4])> {
    let columns = without_time(tables, "events");
    let Values::Category { codes, names } = &columns[0].1 else { panic!("kinds are names") };
    let numbers = |column: usize, row: usize| match &columns[column].1 {
        Values::U64(numbers) => numbers[row],
        _ => panic!("numbers"),
    };
    let row = |row: usize| (names[usize::from(codes[row])], [1, 2, 3, 4].map(|column| numbers(column, row)));
    (0..codes.len()).map(row).filter(|(kind, _)| kind.starts_with("scheme_") != of_steps).collect()
}

/// One access of a serial program.
#[derive(Clone, Copy, Debug)]
struct Step {
    gpu: usize,
    page: u64,
    write: bool,
    /// Whether a launch of its own begins with it.
    launch: bool,
}

pub const PAGES: u64 = 40;
/// Accesses of one launch: each has lines of its own, for lines that are accessed again can be in a cache.
const STEPS: usize = 16;

/// A program of which one wavefront at a time runs, and waits after each access until everything has ended.
fn serial(gpus: usize, steps: &[Step]) -> Script {
    let mut launches: Vec<Vec<Vec<Op>>> = Vec::new();
    let (mut last, mut made) = (usize::MAX, 0);
    for step in steps {
        if step.launch || step.gpu != last || made == STEPS {
            launches.push(vec![Vec::new(); gpus]);
            (last, made) = (step.gpu, 0);
        }
        let lines = line(step.page, 4 * made as u64);
        let ops = &mut launches.last_mut().expect("one was pushed")[step.gpu];
        ops.extend([if step.write { Op::store(lines, 4) } else { Op::load(lines, 4) }, Op::WAIT]);
        ops.extend(compute(300));
        made += 1;
    }
    Script::on_gpus(PAGES, launches)
}

fn step(gpus: usize) -> impl Strategy<Value = Step> {
    (0..gpus, 0..PAGES, any::<bool>(), prop::bool::weighted(0.2)).prop_map(|(gpu, page, write, launch)| Step {
        gpu,
        page,
        write,
        launch,
    })
}

pub fn half_the_memory(mut node: NodeConfig) -> NodeConfig {
    node.capacity = CapacityConfig { footprint_percent: 50, scope: CapacityScope::Total, ..node.capacity };
    node
}

/// Combinations whose decisions do not depend on when reports come, nor on how soon one fault follows another.
pub fn without_time_of_their_own() -> Vec<MemoryConfig> {
    let combinations = combinations().filter(|memory| memory.placement.name != "griffin-dpc");
    combinations.map(|memory| MemoryConfig { guard: Choice::named("none"), ..memory }).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_serial_program_has_the_same_events_under_both(
        steps in prop::collection::vec(step(3), 1..60),
        number in 0usize..1000,
        tight in any::<bool>(),
    ) {
        let combinations = without_time_of_their_own();
        let memory = &combinations[number % combinations.len()];
        let node = if tight { half_the_memory(node(3)) } else { node(3) };
        let script = serial(3, &steps);
        let (timed, instant) = (in_time(&node, memory, &script), at_once(&node, memory, &script));
        prop_assert_eq!(rows(&timed.tables, true), rows(&instant.tables, true));
        prop_assert_eq!(rows(&timed.tables, false), rows(&instant.tables, false));
        prop_assert_eq!(without_time(&timed.tables, "page_groups"), without_time(&instant.tables, "page_groups"));
        prop_assert_eq!(&timed.summary.manager, &instant.summary.manager);
        let (of, at) = (&timed.summary.accesses, &instant.summary.accesses);
        prop_assert_eq!((of.load_lines, of.store_lines, of.faults), (at.load_lines, at.store_lines, at.faults));
        prop_assert_eq!((of.remote_gpu_lines, of.remote_host_lines), (at.remote_gpu_lines, at.remote_host_lines));
    }
}

/// The final holder of each page, the host being 0, according to the events.
fn holders(tables: &[Table]) -> BTreeMap<u64, BTreeSet<u64>> {
    holders_of(tables, &[0])
}

/// The same of buffers at these addresses.
pub fn holders_of(tables: &[Table], buffers: &[u64]) -> BTreeMap<u64, BTreeSet<u64>> {
    let pages = buffers.iter().flat_map(|address| (0..PAGES).map(move |page| address / 4096 + page));
    let mut holders: BTreeMap<u64, BTreeSet<u64>> = pages.map(|page| (page, BTreeSet::from([0]))).collect();
    for (kind, [address, pages, from, to]) in rows(tables, true) {
        for page in address / 4096..address / 4096 + pages {
            let held = holders.get_mut(&page).expect("a page of the program");
            match kind {
                "migration" | "write_collapse" | "eviction" | "prefetch" | "placed" => {
                    held.remove(&from);
                    held.insert(to);
                }
                "duplication" => _ = held.insert(to),
                // Pages that are given back stay where they were for this.
                "discard" if held.len() > 1 => _ = held.remove(&from),
                _ => {}
            }
        }
    }
    holders
}

/// An access of some wavefront: its GPU, its number there, the page, and whether it stores.
type Racing = (usize, usize, u64, bool);

/// A program whose wavefronts race: three on each GPU, none of which waits for anything.
fn racing(accesses: &[Racing]) -> Script {
    let mut groups = vec![vec![Vec::new(); 3]; 3];
    for (number, &(gpu, wavefront, page, write)) in accesses.iter().enumerate() {
        let at = line(page, number as u64 % 60);
        groups[gpu][wavefront].push(if write { Op::store(at, 2) } else { Op::load(at, 2) });
    }
    Script::new(PAGES, vec![groups])
}

/// Pages that only one GPU touches.
fn private(accesses: &[Racing]) -> BTreeSet<u64> {
    let mut users = BTreeMap::<u64, BTreeSet<usize>>::new();
    for &(gpu, _, page, _) in accesses {
        users.entry(page).or_default().insert(gpu);
    }
    users.into_iter().filter(|(_, gpus)| gpus.len() == 1).map(|(page, _)| page).collect()
}

fn racing_accesses() -> impl Strategy<Value = Vec<Racing>> {
    prop::collection::vec((0..3usize, 0..3usize, 0..PAGES, any::<bool>()), 1..200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn who_shares_no_page_has_the_same_faults_and_places(
        accesses in racing_accesses(),
        placement in prop::sample::select(vec!["on-touch", "first-touch", "duplication", "access-counter", "grit"]),
    ) {
        let apart: Vec<Racing> = accesses.iter().map(|&(gpu, wavefront, page, write)| {
            (gpu, wavefront, page / 3 * 3 + gpu as u64, write)
        }).filter(|(_, _, page, _)| *page < PAGES).collect();
        let script = racing(&apart);
        let (timed, instant) = (in_time(&node(3), &memory(placement), &script), at_once(&node(3), &memory(placement), &script));
        prop_assert_eq!(holders(&timed.tables), holders(&instant.tables));
        prop_assert_eq!(timed.summary.manager.cold_faults, instant.summary.manager.cold_faults);
        if placement != "duplication" && placement != "grit" {
            // Replicas of a reader that stores later collapse, unless load and store were one fault.
            prop_assert_eq!(timed.summary.manager.far_faults, instant.summary.manager.far_faults);
            prop_assert_eq!(timed.summary.manager.migrations, instant.summary.manager.migrations);
        }
    }

    #[test]
    fn first_touch_gives_the_same_owners_to_pages_of_one_gpu(accesses in racing_accesses()) {
        let script = racing(&accesses);
        let memory = memory("first-touch");
        let (timed, instant) = (in_time(&node(3), &memory, &script), at_once(&node(3), &memory, &script));
        let (timed, instant) = (holders(&timed.tables), holders(&instant.tables));
        for page in private(&accesses) {
            prop_assert_eq!(&timed[&page], &instant[&page]);
        }
        // The first GPU has it for good: some GPU under both.
        prop_assert_eq!(timed.values().filter(|held| held.contains(&0)).count(), instant.values().filter(|held| held.contains(&0)).count());
    }

    #[test]
    fn replicas_of_what_is_only_read_are_the_same(accesses in racing_accesses()) {
        let reads: Vec<Racing> = accesses.iter().map(|&(gpu, wavefront, page, _)| (gpu, wavefront, page, false)).collect();
        let script = racing(&reads);
        let memory = memory("duplication");
        let (timed, instant) = (in_time(&node(3), &memory, &script), at_once(&node(3), &memory, &script));
        prop_assert_eq!(holders(&timed.tables), holders(&instant.tables));
        prop_assert_eq!(timed.summary.manager.duplications, instant.summary.manager.duplications);
        prop_assert_eq!(timed.summary.manager.far_faults, instant.summary.manager.far_faults);
    }
}

/// Pages of the only buffer by memory.
fn placement(result: &InstantResult) -> Vec<(&str, u64, u64)> {
    result.summary.placement.iter().map(|placed| (placed.memory.as_str(), placed.pages, placed.copies)).collect()
}

#[test]
fn pages_are_where_their_last_user_wanted_them() {
    let launches = vec![vec![load(0, 0), load(1, 0)], vec![store(1, 3), Vec::new()]];
    let script = Script::on_gpus(4, launches);
    let result = at_once(&node(2), &memory("on-touch"), &script);
    assert_eq!(placement(&result), [("host", 2, 2), ("gpu0", 2, 2)]);
    assert_eq!((result.summary.accesses.faults, result.summary.manager.migrations), (3, 3));
    assert_eq!(result.summary.moved.migration_bytes, 3 * 4096);
    assert_eq!(result.summary.launches, 2);

    let result = at_once(&node(2), &memory("duplication"), &Script::on_gpus(4, vec![vec![load(0, 0), load(0, 5)]]));
    assert_eq!(placement(&result), [("host", 3, 3), ("gpu0", 1, 1), ("gpu1", 0, 1)]);
}

#[test]
fn wavefronts_take_turns_and_gpus_too() {
    // Both GPUs want page 0 in each of their turns: it moves with every access.
    let ops = |gpu: u64| (0..4).flat_map(|index| store(0, 8 * gpu + index)).collect::<Vec<_>>();
    let script = Script::on_gpus(1, vec![vec![ops(0), ops(1)]]);
    let faults = |turn| {
        let options = InstantOptions { turn, ..options() };
        run_at_once(&node(2), &memory("on-touch"), &script, options).unwrap().summary.accesses.faults
    };
    assert_eq!([1, 2, 4, 9].map(faults), [8, 4, 2, 2]);
}

#[test]
fn a_barrier_holds_a_wavefront_until_all_others_are_there() {
    // The first wavefront would access page 1 at once if the barrier did not hold it; the second needs three turns.
    let first = [vec![Op::BARRIER], load(1, 0)].concat();
    let second = [load(0, 0), load(0, 1), load(0, 2), vec![Op::BARRIER]].concat();
    let script = Script::new(2, vec![vec![vec![first, second, Vec::new()]]]);
    let result = at_once(&node(1), &memory("on-touch"), &script);
    let faults = without_time(&result.tables, "events");
    let (_, Values::U64(addresses)) = &faults[1] else { panic!("addresses are numbers") };
    assert_eq!(addresses[..2], [0, 0], "a fault and its copy");
    assert_eq!(addresses[2..], [4096, 4096]);
}

#[test]
fn work_groups_beyond_the_units_wait_for_room() {
    let mut small = node(1);
    (small.compute.units, small.compute.simds_per_unit, small.compute.wavefronts_per_simd) = (1, 1, 1);
    let group = |page| vec![[load(page, 0), load(page + 3, 0)].concat()];
    let script = Script::new(6, vec![(0..3).map(group).collect()]);
    let faults = |node: &NodeConfig| {
        let result = at_once(node, &memory("on-touch"), &script);
        let faults = rows(&result.tables, true).into_iter().filter(|(kind, _)| *kind == "read_fault");
        faults.map(|(_, [address, ..])| address / 4096).collect::<Vec<_>>()
    };
    assert_eq!(faults(&small), [0, 3, 1, 4, 2, 5]);
    assert_eq!(faults(&node(1)), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn every_combination_runs_and_does_the_same_accesses() {
    let wavefront = |gpu: u64, number: u64| {
        let step = |step: u64| {
            let at = line((step * 17 + gpu * 3 + number) % 96, step * 5 % 60);
            let op = if (step + gpu).is_multiple_of(3) { Op::store(at, 2) } else { Op::load(at, 4) };
            if step % 10 == 9 { vec![op, Op::BARRIER] } else { vec![op] }
        };
        (0..40).flat_map(step).collect::<Vec<_>>()
    };
    let launch: Vec<Vec<Vec<Op>>> = (0..8).map(|group| (0..3).map(|n| wavefront(group / 2, n)).collect()).collect();
    let script = Script::new(128, vec![launch.clone(), launch]);
    for memory in combinations() {
        for node in [node(4), half_the_memory(node(4))] {
            let result = at_once(&node, &memory, &script);
            let found = result.summary.accesses;
            assert_eq!((found.load_lines, found.store_lines), script.lines(), "{memory:?}");
            let homes: u64 = result.summary.placement.iter().map(|placed| placed.pages).sum();
            assert_eq!(homes, 128, "{memory:?}: each page has one home");
            assert_eq!(result, at_once(&node, &memory, &script), "{memory:?}");
        }
    }
}

#[test]
fn reports_come_by_accesses() {
    let far = (0..60).flat_map(|index| load(0, index)).collect();
    let script = Script::on_gpus(8, vec![vec![load(0, 0), Vec::new()], vec![Vec::new(), far]]);
    let moves = |report_lines| {
        let options = InstantOptions { report_lines, ..options() };
        let result = run_at_once(&node(2), &memory("griffin-dpc"), &script, options).unwrap();
        (result.summary.manager.report_migrations, result.summary.accesses.remote_gpu_lines)
    };
    assert_eq!(moves(None), (0, 60), "no report before 125 lines");
    let (moved, remote) = moves(Some(10));
    assert!(moved == 1 && remote < 60, "{moved} moves, {remote} remote lines");
}

#[test]
fn no_column_claims_a_time() {
    let result = at_once(&node(2), &memory("grit"), &Script::on_gpus(2, vec![vec![load(0, 0), load(1, 0)]]));
    for table in &result.tables {
        assert!(table.columns.iter().all(|column| !column.name.ends_with("_ps")), "{}", table.name);
    }
}
