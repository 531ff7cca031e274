//! Jobs without time: which has its turn, how often each runs, and what agrees with simulated time.

use std::collections::{BTreeMap, BTreeSet};

use octavo_manager::{MemoryConfig, NamedCounts, ProcessorId, ProcessorMask, SpaceConfig, Statistics};
use octavo_node::NodeConfig;
use octavo_program::{Lowering, Op, Program, ProgramKind, Workload, lower};
use octavo_registry::Choice;
use octavo_sim::{
    InstantOptions, InstantResult, Job, Repeat, RunOptions, RunResult, SimError, Table, Values, page_order,
    run_jobs_at_once, simulate_jobs,
};
use octavo_units::Time;
use proptest::prelude::*;

use crate::functional::{PAGES, half_the_memory, holders_of, options, rows, without_time_of_their_own};
use crate::support::{Script, combinations, compute, line, load, memory, node, store};

fn at_once(node: &NodeConfig, memory: &MemoryConfig, jobs: &[Job<'_>]) -> InstantResult {
    run_jobs_at_once(node, memory, jobs, options()).unwrap_or_else(|error| panic!("{memory:?}: {error}"))
}

fn in_time(node: &NodeConfig, memory: &MemoryConfig, jobs: &[Job<'_>]) -> RunResult {
    let options = RunOptions { record_events: true, ..RunOptions::default() };
    simulate_jobs(node, memory, jobs, options).unwrap_or_else(|error| panic!("{memory:?}: {error}"))
}

fn only(gpu: usize) -> ProcessorMask {
    ProcessorMask::EMPTY.with(ProcessorId::gpu(gpu))
}

fn once<'a>(name: &str, script: &'a Script) -> Job<'a> {
    Job { repeat: Repeat::Times(1), ..Job::named(name, script) }
}

fn values<'t>(tables: &'t [Table], table: &str, column: &str) -> &'t Values {
    let table = tables.iter().find(|other| other.name == table).expect("a table of the run");
    &table.columns.iter().find(|other| other.name == column).expect("a column of it").values
}

fn numbers<'t>(tables: &'t [Table], table: &str, column: &str) -> &'t [u64] {
    let Values::U64(numbers) = values(tables, table, column) else { panic!("{column} are numbers") };
    numbers
}

/// Pages of faults in the order in which they were, by number of the page in all of the address space.
fn faulted(result: &InstantResult) -> Vec<u64> {
    let Values::Category { codes, names } = values(&result.tables, "events", "kind") else { panic!("names") };
    let addresses = codes.iter().zip(numbers(&result.tables, "events", "address"));
    addresses.filter(|(code, _)| names[usize::from(**code)].ends_with("_fault")).map(|(_, at)| at / 4096).collect()
}

/// Job, beginning and end in line accesses, and whether it is complete, of each repetition.
fn repetitions(result: &InstantResult) -> Vec<(String, u64, u64, bool)> {
    let Values::Text(names) = values(&result.tables, "jobs", "job") else { panic!("names are text") };
    let column = |name| numbers(&result.tables, "jobs", name).iter().copied();
    let rows = names.iter().zip(column("began_lines")).zip(column("ended_lines")).zip(column("complete"));
    rows.map(|(((name, began), ended), complete)| (name.clone(), began, ended, complete == 1)).collect()
}

fn loads(count: u64) -> Script {
    Script::sequence(1, vec![(0..count).flat_map(|index| load(0, index)).collect()])
}

#[test]
fn all_work_groups_of_one_job_have_their_turns_then_those_of_the_next() {
    let group = |first: u64| vec![[load(first, 0), load(first + 2, 0)].concat()];
    let script = Script::new(4, vec![vec![group(0), group(1)]]);
    let result = at_once(&node(1), &memory("on-touch"), &[once("a", &script), once("b", &script)]);
    let first = faulted(&result).iter().copied().max().unwrap() - 3; // The first page of `b`.
    assert_eq!(faulted(&result), [0, 1, first, first + 1, 2, 3, first + 2, first + 3]);
}

#[test]
fn a_job_with_more_compute_units_has_more_turns() {
    let mut node = node(1);
    (node.compute.units, node.compute.simds_per_unit, node.compute.wavefronts_per_simd) = (4, 1, 1);
    let group = |number: u64| vec![[load(number, 0), load(number + 3, 0)].concat()];
    let script = Script::new(6, vec![(0..3).map(group).collect()]);
    let wide = Job { share: Some(0.75), ..once("wide", &script) };
    let result = at_once(&node, &memory("on-touch"), &[wide, once("narrow", &script)]);
    let base = *faulted(&result).iter().max().unwrap() - 5;
    // Three work-groups a round beside one; `narrow` begins its second when its first has ended, two turns later.
    let expected = [0, 1, 2, base, 3, 4, 5, base + 3, base + 1, base + 4, base + 2, base + 5];
    assert_eq!(faulted(&result), expected);
    assert_eq!(result.summary.jobs.iter().map(|job| job.units[0]).collect::<Vec<_>>(), [3, 1]);
}

#[test]
fn a_job_runs_again_until_every_other_has_ended() {
    let (short, long) = (loads(3), loads(10));
    let short = Job { gpus: only(0), ..Job::named("short", &short) };
    let long = Job { gpus: only(1), ..Job::named("long", &long) };
    let result = at_once(&node(2), &memory("on-touch"), &[short, long]);
    // A wavefront ends in the turn behind its last access: the short job takes four rounds, the long one eleven.
    let row = |job: &str, began, ended, complete| (job.to_owned(), began, ended, complete);
    let expected =
        [row("short", 0, 7, true), row("short", 7, 14, true), row("long", 0, 19, true), row("short", 14, 19, false)];
    assert_eq!(repetitions(&result), expected);
    let [short, long] = &result.summary.jobs[..] else { panic!("two jobs") };
    assert_eq!((short.repetitions, short.lines, short.counts.faults), (2, 9, 3), "its memory is new each time");
    assert_eq!((long.repetitions, long.lines, long.counts.faults), (1, 10, 1));
    assert_eq!((&short.gpus[..], &long.gpus[..], &long.units[..]), (&[0][..], &[1][..], &[2][..]));
}

#[test]
fn repetitions_until_and_idle_mean_what_they_mean_in_simulated_time() {
    let (short, long) = (loads(3), loads(10));
    let on = |gpu, job: Job<'static>| Job { gpus: only(gpu), ..job };
    let (short, long) = (Box::leak(Box::new(short)), Box::leak(Box::new(long)));
    let jobs = [
        on(0, Job { repeat: Repeat::Until(1), ..Job::named("until", short) }),
        on(1, Job { repeat: Repeat::Times(1), ..Job::named("once", long) }),
        on(2, Job { repeat: Repeat::Times(7), ..Job::named("seven", short) }),
        on(2, Job { idle: true, ..Job::named("idle", long) }),
    ];
    let result = at_once(&node(3), &memory("first-touch"), &jobs);
    // The long one ends in the twelfth round, before which the first has begun its third repetition.
    assert_eq!(result.summary.jobs.iter().map(|job| job.repetitions).collect::<Vec<_>>(), [3, 1, 7, 0]);
    let lines: Vec<u64> = result.summary.jobs.iter().map(|job| job.lines).collect();
    assert_eq!(lines, [9, 10, 21, 0]);
    assert_eq!(result.summary.accesses.load_lines, 40);
}

#[test]
fn a_job_without_work_leaves_the_others_their_turns() {
    let (nothing, some) = (Script::new(1, vec![vec![]]), loads(3));
    let result = at_once(&node(1), &memory("on-touch"), &[Job::named("nothing", &nothing), Job::named("some", &some)]);
    assert_eq!(result.summary.jobs[1].repetitions, 1);
    // The other takes four rounds, and is found to be over in the fifth.
    assert_eq!(result.summary.jobs[0].repetitions, 5, "once a round");
}

/// A work-group that ends in its first turn returns in the next round.
#[test]
fn a_job_that_ends_at_once_again_and_again_leaves_the_others_their_turns() {
    let (short, long) = (Script::sequence(1, vec![compute(1)]), loads(3));
    let jobs = [Job::named("long", &long), Job::named("short", &short)];
    let result = at_once(&node(1), &memory("on-touch"), &jobs);
    assert_eq!((result.summary.jobs[0].repetitions, result.summary.jobs[0].lines), (1, 3));
}

#[test]
fn a_job_that_begins_later_is_refused() {
    let script = loads(1);
    let late = Job { start: Time(5_000_000), ..Job::named("late", &script) };
    let refused = run_jobs_at_once(&node(1), &memory("on-touch"), &[late], options()).unwrap_err();
    assert!(matches!(refused, SimError::Jobs { .. }), "{refused:?}");
    assert!(refused.to_string().contains("`late` begins at 5us"), "{refused}");
}

/// The whole program of a script's launches under a kind of memory.
fn whole(script: &Script, kind: ProgramKind) -> Program {
    let lowering = Lowering { kind, ..Lowering::default() };
    lower(script, &lowering).unwrap()
}

#[test]
fn whole_programs_run_side_by_side_and_give_their_memory_back() {
    let script = Script::sequence(8, vec![[load(0, 0), store(5, 0)].concat()]);
    for (of, at) in [(ProgramKind::Managed, ProgramKind::Explicit), (ProgramKind::System, ProgramKind::Pinned)] {
        let programs = [whole(&script, of), whole(&script, at)];
        let job = |name, program, times| Job {
            program: Some(program),
            repeat: Repeat::Times(times),
            ..Job::named(name, &script)
        };
        let result = at_once(&node(2), &memory("on-touch"), &[job("a", &programs[0], 3), job("b", &programs[1], 1)]);
        let mut homes = BTreeMap::<&str, u64>::new();
        for placed in &result.summary.placement {
            *homes.entry(placed.allocation.as_str()).or_default() += placed.pages;
        }
        assert!(homes.contains_key("a/data") && homes.values().all(|pages| *pages == 8), "{of:?}: {homes:?}");
        assert_eq!(result.summary.jobs.iter().map(|job| job.repetitions).collect::<Vec<_>>(), [3, 1]);
        let host = result.summary.host.unwrap();
        assert_eq!(host.store_lines, 4 * in_whole(&script, of).store_lines, "three of one and one of the other");
    }
}

/// The work of the host in a single program.
fn in_whole(script: &Script, kind: ProgramKind) -> octavo_sim::HostLines {
    let program = whole(script, kind);
    at_once(&node(2), &memory("on-touch"), &[Job::alone(script, Some(&program))]).summary.host.unwrap()
}

#[test]
fn every_combination_runs_two_jobs_that_share_gpus() {
    let wavefront = |number: u64| {
        let step = |step: u64| {
            let at = line((step * 17 + number * 5) % 64, step * 5 % 60);
            if step.is_multiple_of(3) { Op::store(at, 2) } else { Op::load(at, 4) }
        };
        (0..30).map(step).collect::<Vec<_>>()
    };
    let launch: Vec<Vec<Vec<Op>>> = (0..4).map(|group| (0..2).map(|n| wavefront(group * 2 + n)).collect()).collect();
    let script = Script::new(64, vec![launch]);
    let node = half_the_memory(node(2));
    for memory in combinations() {
        for sharing in ["free-for-all", "quota"] {
            let memory = MemoryConfig { sharing: Choice::named(sharing), ..memory.clone() };
            let own = SpaceConfig { placement: Some(Choice::named("first-touch")), ..SpaceConfig::default() };
            let jobs = [once("a", &script), Job { memory: own, ..once("b", &script) }];
            let Ok(result) = run_jobs_at_once(&node, &memory, &jobs, options()) else {
                assert!(simulate_jobs(&node, &memory, &jobs, RunOptions::default()).is_err(), "{memory:?}");
                continue;
            };
            let (loads, stores) = script.lines();
            assert!(result.summary.jobs.iter().all(|job| job.lines == loads + stores), "{memory:?}");
            let faults: u64 = result.summary.jobs.iter().map(|job| job.counts.faults).sum();
            assert_eq!(faults, result.summary.accesses.faults, "{memory:?}");
            let homes: u64 = result.summary.placement.iter().map(|placed| placed.pages).sum();
            assert_eq!(homes, 128, "{memory:?}: each page has one home");
        }
    }
}

/// An access: its page and whether it stores.
type Access = (u64, bool);

/// Accesses one after another, by one wavefront, each with lines of its own for a launch of 16.
fn serial(accesses: &[Access]) -> Script {
    let ops = |(number, (page, write)): (usize, &Access)| {
        let lines = line(*page, 4 * number as u64);
        [vec![if *write { Op::store(lines, 4) } else { Op::load(lines, 4) }, Op::WAIT], compute(300)].concat()
    };
    let launches = accesses.chunks(16).map(|launch| launch.iter().enumerate().flat_map(ops).collect());
    Script::sequence(PAGES, launches.collect())
}

/// Accesses that race: three wavefronts, none of which waits for anything.
fn racing(accesses: &[Access]) -> Script {
    let mut waves = vec![Vec::new(); 3];
    for (number, &(page, write)) in accesses.iter().enumerate() {
        let at = line(page, number as u64 % 60);
        waves[number % 3].push(if write { Op::store(at, 2) } else { Op::load(at, 2) });
    }
    Script::new(PAGES, vec![vec![waves]])
}

fn accesses(most: usize) -> impl Strategy<Value = Vec<Access>> {
    prop::collection::vec((0..PAGES, any::<bool>()), 1..most)
}

/// By page: the memory that holds it when its job ends, the host being 0, according to the events, if there are no
/// copies.
fn holders(tables: &[Table]) -> BTreeMap<u64, BTreeSet<u64>> {
    holders_of(tables, numbers(tables, "allocations", "address"))
}

/// Counts that do not depend on the order of faults: jobs share GRIT's cache of page attributes, and displace each
/// other's entries.
fn of_each_job(memory: &MemoryConfig, counts: &Statistics) -> Statistics {
    let placement = if memory.placement.name == "grit" { NamedCounts::default() } else { counts.placement.clone() };
    Statistics { placement, ..counts.clone() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn serial_jobs_on_gpus_of_their_own_are_served_alike(
        programs in (accesses(40), accesses(40)),
        number in 0usize..1000,
        tight in any::<bool>(),
    ) {
        // One row of random numbers serves all jobs, in the order in which they ask.
        let is_random = |memory: &MemoryConfig| [&memory.prefetch, &memory.eviction].iter().any(|at| at.name == "random-page");
        let combinations: Vec<_> = without_time_of_their_own().into_iter().filter(|memory| !is_random(memory)).collect();
        let memory = &combinations[number % combinations.len()];
        let node = if tight { half_the_memory(node(2)) } else { node(2) };
        let scripts = [serial(&programs.0), serial(&programs.1)];
        let jobs = [Job { gpus: only(0), ..once("a", &scripts[0]) }, Job { gpus: only(1), ..once("b", &scripts[1]) }];
        let (timed, instant) = (in_time(&node, memory, &jobs), at_once(&node, memory, &jobs));
        for (timed, instant) in timed.summary.jobs.iter().zip(&instant.summary.jobs) {
            prop_assert_eq!(timed.counts, instant.counts);
        }
        prop_assert_eq!(of_each_job(memory, &timed.summary.manager), of_each_job(memory, &instant.summary.manager));
    }

    #[test]
    fn racing_jobs_on_gpus_of_their_own_have_the_same_places_under_first_touch(
        programs in (accesses(100), accesses(100)),
        placement in prop::sample::select(vec!["first-touch", "on-touch", "access-counter"]),
    ) {
        let scripts = [racing(&programs.0), racing(&programs.1)];
        let jobs = [Job { gpus: only(0), ..once("a", &scripts[0]) }, Job { gpus: only(1), ..once("b", &scripts[1]) }];
        let (timed, instant) =
            (in_time(&node(2), &memory(placement), &jobs), at_once(&node(2), &memory(placement), &jobs));
        prop_assert_eq!(holders(&timed.tables), holders(&instant.tables));
        for (timed, instant) in timed.summary.jobs.iter().zip(&instant.summary.jobs) {
            prop_assert_eq!(timed.counts.migrations, instant.counts.migrations);
        }
    }

    #[test]
    fn a_serial_job_beside_an_idle_one_has_the_same_events(program in accesses(60), number in 0usize..1000) {
        let combinations = without_time_of_their_own();
        let memory = &combinations[number % combinations.len()];
        let script = serial(&program);
        let jobs = [Job { idle: true, ..Job::named("idle", &script) }, once("alone", &script)];
        let node = half_the_memory(node(2));
        let (timed, instant) = (in_time(&node, memory, &jobs), at_once(&node, memory, &jobs));
        prop_assert_eq!(rows(&timed.tables, true), rows(&instant.tables, true));
        prop_assert_eq!(timed.summary.jobs[1].counts, instant.summary.jobs[1].counts);
    }
}

#[test]
fn no_column_of_jobs_claims_a_time() {
    let script = loads(2);
    let options = InstantOptions { record_events: false, ..options() };
    let result = run_jobs_at_once(&node(1), &memory("grit"), &[Job::named("only", &script)], options).unwrap();
    for table in &result.tables {
        assert!(table.columns.iter().all(|column| !column.name.ends_with("_ps")), "{}", table.name);
    }
    assert_eq!(result.summary.launches, script.launches());
}

#[test]
fn the_order_of_pages_is_that_of_launches_alone() {
    let script = Script::sequence(2, vec![[load(0, 0), load(1, 0), load(1, 1)].concat()]);
    let order = |job: &Job<'_>| page_order(&node(1), &memory("on-touch"), job, 1);
    let table = order(&Job::alone(&script, None)).unwrap();
    let Values::U64(pages) = &table.columns.iter().find(|column| column.name == "page").unwrap().values else {
        panic!()
    };
    assert_eq!(*pages, [0, 1]);
    let program = lower(&script, &Lowering { kind: ProgramKind::Managed, ..Lowering::default() }).unwrap();
    let refused = order(&Job::alone(&script, Some(&program))).unwrap_err();
    assert!(matches!(refused, SimError::Program { .. }));
    assert!(refused.to_string().contains("expected `program.kind = \"launches\"`"), "{refused}");
}
