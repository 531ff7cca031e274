//! Jobs that run side by side: their GPUs and compute units, when they begin and end, and the work of each.

use octavo_manager::{ProcessorId, ProcessorMask};
use octavo_program::{Lowering, Op, Program, ProgramKind, lower};
use octavo_sim::{Job, Repeat, RunOptions, RunResult, SimError, Table, Values, simulate, simulate_jobs};
use octavo_units::Time;

use crate::support::*;

fn script(ops: Vec<Op>) -> Script {
    Script::sequence(8, vec![ops])
}

/// This many work-groups of one wavefront, each of which computes for that long.
fn groups(count: usize, microseconds: u32) -> Script {
    Script::new(1, vec![vec![vec![compute(microseconds)]; count]])
}

fn run_jobs(gpus: u32, jobs: &[Job<'_>]) -> RunResult {
    simulate_jobs(&node(gpus), &memory("on-touch"), jobs, RunOptions::default()).unwrap()
}

fn refused(gpus: u32, jobs: &[Job<'_>]) -> String {
    let error = simulate_jobs(&node(gpus), &memory("on-touch"), jobs, RunOptions::default()).unwrap_err();
    assert!(matches!(error, SimError::Jobs { .. }), "{error:?}");
    error.to_string()
}

fn only(gpus: &[usize]) -> ProcessorMask {
    gpus.iter().fold(ProcessorMask::EMPTY, |mask, gpu| mask.with(ProcessorId::gpu(*gpu)))
}

fn table(result: &RunResult) -> &Table {
    result.tables.iter().find(|table| table.name == "jobs").unwrap()
}

fn numbers(result: &RunResult, column: &str) -> Vec<u64> {
    match &table(result).columns.iter().find(|other| other.name == column).unwrap().values {
        Values::U64(values) => values.clone(),
        other => panic!("{other:?}"),
    }
}

/// Job, beginning and end in microseconds, and whether it is complete, of each repetition.
fn repetitions(result: &RunResult) -> Vec<(String, u64, u64, bool)> {
    let Values::Text(names) = &table(result).columns[0].values else { panic!("names are text") };
    let times = numbers(result, "began_ps").into_iter().zip(numbers(result, "ended_ps"));
    let rows = names.iter().zip(times).zip(numbers(result, "complete"));
    let micro = |time: u64| time / 1_000_000;
    rows.map(|((name, (began, ended)), complete)| (name.clone(), micro(began), micro(ended), complete == 1)).collect()
}

fn row(job: &str, began: u64, ended: u64, complete: bool) -> (String, u64, u64, bool) {
    (job.to_owned(), began, ended, complete)
}

#[test]
fn a_job_runs_again_until_every_other_has_ended_once() {
    // 250 instructions of 4 cycles are a microsecond: 3 us and 10 us. The short one ends at 3, 6, 9 us.
    let (short, long) = (script(compute(3)), script(compute(10)));
    let result = run_jobs(1, &[Job::named("short", &short), Job::named("long", &long)]);
    let expected =
        [row("short", 0, 3, true), row("short", 3, 6, true), row("short", 6, 9, true), row("long", 0, 10, true)];
    assert_eq!(repetitions(&result), [&expected[..], &[row("short", 9, 10, false)]].concat());
    assert_eq!(result.summary.time_ps, 10_000_000, "the run ends with the first end of the last job");
    let [short, long] = &result.summary.jobs[..] else { panic!("{:?}", result.summary.jobs) };
    assert_eq!((short.first_end_ps, short.time_ps, short.repetitions), (Some(3_000_000), Some(3_000_000), 3));
    assert_eq!((long.repetitions, &long.gpus[..], &long.units[..]), (1, &[0][..], &[1][..]));
}

#[test]
fn repetitions_and_until_say_how_often_a_job_runs() {
    let (short, long) = (script(compute(3)), script(compute(10)));
    let twice = Job { repeat: Repeat::Times(2), ..Job::named("twice", &long) };
    let beside = Job { repeat: Repeat::Times(1), ..Job::named("beside", &short) };
    let result = run_jobs(1, &[twice.clone(), beside]);
    let expected = [row("beside", 0, 3, true), row("twice", 0, 10, true), row("twice", 10, 20, true)];
    assert_eq!(repetitions(&result), expected);

    // It does not begin again once the other is over, at 6 us, and the run goes on for the third.
    let other = Job { repeat: Repeat::Times(2), ..Job::named("other", &short) };
    let until = Job { repeat: Repeat::Until(0), ..Job::named("until", &long) };
    let node = node(1);
    let mut wider = node.clone();
    wider.compute.units = 3;
    let third = Job { repeat: Repeat::Times(3), ..Job::named("third", &long) };
    let result = simulate_jobs(&wider, &memory("on-touch"), &[other, until, third], RunOptions::default()).unwrap();
    let ends: Vec<_> = result.summary.jobs.iter().map(|job| job.repetitions).collect();
    assert_eq!((ends, result.summary.time_ps), (vec![2, 1, 3], 30_000_000));
}

#[test]
fn a_job_begins_when_it_is_to() {
    let (first, later) = (script(compute(3)), script([load(0, 0), compute(4)].concat()));
    let alone = simulate(&node(1), &memory("on-touch"), &later, RunOptions::default()).unwrap().summary.time_ps;
    let first = Job { repeat: Repeat::Times(1), ..Job::named("first", &first) };
    let later = Job { start: Time(5_000_000), repeat: Repeat::Times(1), ..Job::named("later", &later) };
    let result = run_jobs(1, &[first, later]);
    assert_eq!(numbers(&result, "began_ps"), [0, 5_000_000]);
    assert_eq!(numbers(&result, "ended_ps"), [3_000_000, 5_000_000 + alone]);
    assert_eq!(result.summary.jobs[1].time_ps, Some(alone), "nobody is in its way");
}

#[test]
fn a_job_that_begins_anew_is_a_new_process_with_its_own_faults() {
    let short = script([load(0, 0), compute(50)].concat());
    let long = script(compute(200));
    let alone = simulate(&node(1), &memory("on-touch"), &short, RunOptions::default()).unwrap();
    let together = run_jobs(1, &[Job::named("short", &short), Job::named("long", &long)]);
    let jobs = &together.summary.jobs;
    assert!(jobs[0].repetitions > 2, "{jobs:?}");
    assert_eq!(jobs[0].time_ps, Some(alone.summary.time_ps), "nobody is in its way");
    let begun = u64::from(jobs[0].repetitions) + 1;
    assert_eq!(together.summary.accesses.faults, begun * alone.summary.accesses.faults);
    assert_eq!(together.summary.manager.migrations, begun);
    // The last repetition is cut off before or after its fault; all others have one fault and one page each.
    assert_eq!((jobs[0].counts.faults, jobs[0].counts.migrations), (begun, begun));
    assert_eq!((jobs[1].counts.faults, jobs[1].counts.migrations), (0, 0), "the other touches nothing");
}

#[test]
fn jobs_have_pages_of_their_own_and_share_the_link() {
    let touch = script((0..8).flat_map(|page| load(page, 0)).collect());
    let once = |name| Job { repeat: Repeat::Times(1), ..Job::named(name, &touch) };
    let alone = run_jobs(1, &[once("one")]);
    let together = run_jobs(1, &[once("one"), once("two")]);
    assert_eq!(together.summary.manager.migrations, 2 * alone.summary.manager.migrations);
    let counts: Vec<_> = together.summary.jobs.iter().map(|job| job.counts.migrations).collect();
    assert_eq!(counts, [8, 8]);
    assert!(together.summary.time_ps > alone.summary.time_ps, "the driver serves one fault at a time");
    let names = together.tables.iter().find(|table| table.name == "allocations").unwrap();
    assert_eq!(names.columns[0].values, Values::Text(vec!["one/data".into(), "two/data".into()]));
}

#[test]
fn a_unit_runs_the_work_groups_of_one_job_alone() {
    // Eight work-groups of one wavefront that compute 2 us: at once on two units of four SIMDs, in turn on one.
    let (many, other) = (groups(8, 2), script(compute(1)));
    let alone = simulate(&node(1), &memory("on-touch"), &many, RunOptions::default()).unwrap();
    assert_eq!(alone.summary.time_ps, 2_000_000, "eight wavefronts on eight SIMDs");
    let shared = run_jobs(1, &[Job::named("many", &many), Job::named("other", &other)]);
    assert_eq!(shared.summary.jobs[0].time_ps, Some(4_000_000), "eight wavefronts on four");
    let idle = Job { idle: true, ..Job::named("other", &other) };
    let kept = run_jobs(1, &[Job::named("many", &many), idle]);
    assert_eq!(kept.summary.jobs[0].time_ps, Some(4_000_000), "units of an idle job stay unused");
    assert_eq!((kept.summary.jobs[1].time_ps, kept.summary.jobs[1].repetitions), (None, 0));
    let far = Job { gpus: only(&[1]), ..Job::named("other", &other) };
    let apart = run_jobs(2, &[Job { gpus: only(&[0]), ..Job::named("many", &many) }, far]);
    assert_eq!(apart.summary.jobs[0].time_ps, Some(2_000_000), "nobody shares its GPU");
}

#[test]
fn jobs_stay_on_their_gpus() {
    // Eight work-groups over two GPUs: four each, on the units of theirs.
    let many = groups(8, 2);
    let touch = script((0..8).flat_map(|page| load(page, 0)).collect());
    let jobs = [
        Job { gpus: only(&[1, 2]), ..Job::named("many", &many) },
        Job { gpus: only(&[2]), ..Job::named("touch", &touch) },
    ];
    let result = run_jobs(3, &jobs);
    assert_eq!(result.summary.jobs[0].units, [2, 1]);
    assert_eq!(result.summary.jobs[0].time_ps, Some(2_000_000));
    assert_eq!((&result.summary.jobs[1].gpus[..], &result.summary.jobs[1].units[..]), (&[2][..], &[1][..]));
    let links = result.tables.iter().find(|table| table.name == "links").unwrap();
    let Values::Text(names) = &links.columns[0].values else { panic!("names are text") };
    let Values::U64(moved) = &links.columns.iter().find(|column| column.name == "migration").unwrap().values else {
        panic!("bytes are numbers")
    };
    let used: Vec<_> = names.iter().zip(moved).filter(|(_, bytes)| **bytes > 0).map(|(name, _)| name.clone()).collect();
    assert_eq!(used, ["host->gpu2"], "pages go to the GPU that touches them");
}

#[test]
fn whole_programs_of_different_kinds_run_side_by_side() {
    // The same program with its buffers in GPU memory and in managed memory; the host writes and reads them.
    let work = script((0..8).flat_map(|page| [load(page, 0), store(page, 1)].concat()).collect());
    let lowered = |kind| lower(&work, &Lowering { kind, ..Lowering::default() }).unwrap();
    let programs = [ProgramKind::Explicit, ProgramKind::Managed].map(lowered);
    let job = |name, program: &'static str, at: usize| {
        let program: Option<&Program> = (program == "whole").then(|| &programs[at]);
        Job { gpus: only(&[at]), program, repeat: Repeat::Times(2), ..Job::named(name, &work) }
    };
    let jobs = [job("explicit", "whole", 0), job("managed", "whole", 1), job("launches", "", 2)];
    let result = run_jobs(3, &jobs);
    let [explicit, managed, launches] = &result.summary.jobs[..] else { panic!("{:?}", result.summary.jobs) };
    assert_eq!(result.summary.phases, None, "each job has its own");
    assert!(explicit.phases.unwrap().copies_ps > 0 && managed.phases.unwrap().copies_ps == 0);
    assert_eq!(launches.phases, None);
    assert_eq!((explicit.counts.faults, explicit.counts.migrations), (0, 0), "device memory never faults");
    assert_eq!((managed.counts.migrations, launches.counts.migrations), (2 * 16, 2 * 8), "there and back; there");
    for job in &result.summary.jobs {
        assert_eq!(job.repetitions, 2, "{}", job.name);
    }
    let alone =
        simulate_jobs(&node(1), &memory("on-touch"), &[Job::alone(&work, Some(&programs[0]))], RunOptions::default());
    let alone = alone.unwrap().summary;
    let (found, twice) = (explicit.phases.unwrap().copies_ps, 2 * alone.phases.unwrap().copies_ps);
    assert!((twice..twice + twice / 500).contains(&found), "{found}, not {twice}: only memory of the host is shared");
}

#[test]
fn a_program_that_begins_again_is_a_new_process_with_a_context_of_its_own() {
    let work = script(load(0, 0));
    let program = lower(&work, &Lowering { kind: ProgramKind::Explicit, ..Lowering::default() }).unwrap();
    let contexts = |times| {
        let job = Job { program: Some(&program), repeat: Repeat::Times(times), ..Job::named("one", &work) };
        let mut node = node(1);
        node.host.costs.context = octavo_units::Time(1_000_000);
        let result = simulate_jobs(&node, &memory("on-touch"), &[job], RunOptions::default()).unwrap();
        let phases = result.tables.iter().find(|table| table.name == "phases").unwrap();
        let names = &phases.columns.iter().find(|column| column.name == "phase").unwrap().values;
        let Values::Text(names) = names else { panic!("names are text") };
        names.iter().filter(|name| *name == "context").count()
    };
    assert_eq!((contexts(1), contexts(3)), (1, 3));
}

#[test]
fn host_phases_take_turns_on_the_cores() {
    // Four threads on four cores, and eight: two on each.
    let work = Script::sequence(4096, vec![load(0, 0)]);
    let program =
        lower(&work, &Lowering { kind: ProgramKind::Pinned, host_threads: 4, ..Lowering::default() }).unwrap();
    let job = |name, gpu| Job {
        gpus: only(&[gpu]),
        program: Some(&program),
        repeat: Repeat::Times(1),
        ..Job::named(name, &work)
    };
    let mut node = node(2);
    // Wide enough that cores, not memory, are what the threads share.
    node.host.cpu.memory_bandwidth = octavo_units::Bandwidth(64_000_000_000_000);
    let writing = |jobs: &[Job<'_>]| {
        let result = simulate_jobs(&node, &memory("on-touch"), jobs, RunOptions::default()).unwrap();
        result.summary.jobs[0].phases.unwrap().host_initialisation_ps
    };
    let (alone, together) = (writing(&[job("one", 0)]), writing(&[job("one", 0), job("two", 1)]));
    let ratio = together as f64 / alone as f64;
    assert!((1.9..2.1).contains(&ratio), "{together} for {alone}");
}

#[test]
fn device_memory_lies_on_the_gpus_of_its_job() {
    // Eight pages over GPUs 1 and 2 of four, and copied there.
    let work = script(load(0, 0));
    let program = lower(&work, &Lowering { kind: ProgramKind::Explicit, ..Lowering::default() }).unwrap();
    let job = Job { gpus: only(&[1, 2]), program: Some(&program), ..Job::named("one", &work) };
    let result = run_jobs(4, &[job]);
    let links = result.tables.iter().find(|table| table.name == "links").unwrap();
    let Values::Text(names) = &links.columns[0].values else { panic!("names are text") };
    let Values::U64(copied) = &links.columns.iter().find(|column| column.name == "copies").unwrap().values else {
        panic!("bytes are numbers")
    };
    let bytes = |link: &str| copied[names.iter().position(|name| name == link).unwrap()];
    assert_eq!(["host->gpu0", "host->gpu1", "host->gpu2", "host->gpu3"].map(bytes), [0, 4 * 4096, 4 * 4096, 0]);
}

#[test]
fn what_cannot_run_is_refused() {
    let work = script(compute(1));
    let job = |name: &str| Job::named(name, &work);
    let both = [job("one"), job("one")];
    assert_eq!(refused(1, &both), "jobs: two are called `one`, expected different names");
    let far = Job { gpus: only(&[3]), ..job("one") };
    assert_eq!(refused(2, &[far]), "jobs: `one` runs on gpu3, but the node has 2 GPUs");
    let own = Job { repeat: Repeat::Until(0), ..job("one") };
    assert_eq!(refused(1, &[own]), "jobs: `one` runs until itself is over");
    let ring = [1, 2, 1].map(|other| Job { repeat: Repeat::Until(other), ..job(["zero", "one", "two"][other]) });
    let ring = [Job { name: "first".into(), ..ring[0].clone() }, ring[1].clone(), ring[2].clone()];
    assert_eq!(
        refused(
            4,
            &[
                ring[0].clone(),
                Job { name: "second".into(), ..ring[1].clone() },
                Job { name: "third".into(), ..ring[2].clone() }
            ]
        ),
        "jobs: `second` runs until itself is over"
    );
    let crowd = ["one", "two", "three"].map(job);
    let expected =
        "jobs: `one` shares gpu0 with 2 others: it would have none of the 2 compute units, expected at least 1";
    assert_eq!(refused(1, &crowd), expected);
}
