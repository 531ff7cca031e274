//! Several programs that share the compute units of a GPU.

use crate::support::*;
use octavo_program::{Mix, Op, Workload};
use octavo_sim::{RunOptions, SimError, Values, simulate};

fn program(ops: Vec<Op>) -> (String, Box<dyn Workload>) {
    ("script".to_owned(), Box::new(Script::sequence(8, vec![ops])))
}

fn of_programs(result: &octavo_sim::RunResult, column: &str) -> Vec<u64> {
    let table = result.tables.iter().find(|table| table.name == "applications").unwrap();
    match &table.columns.iter().find(|other| other.name == column).unwrap().values {
        Values::U64(values) => values.clone(),
        other => panic!("{other:?}"),
    }
}

fn run_mix(programs: Vec<(String, Box<dyn Workload>)>, placement: &str) -> octavo_sim::RunResult {
    simulate(&node(1), &memory(placement), &Mix::new(programs), RunOptions::default()).unwrap()
}

#[test]
fn a_program_restarts_until_every_other_has_ended_once() {
    // 250 instructions of 4 cycles are a microsecond: 3 us and 10 us. The short one ends at 3, 6, 9 us.
    let result = run_mix(vec![program(compute(3)), program(compute(10))], "on-touch");
    assert_eq!(of_programs(&result, "finished_ps"), [3_000_000, 10_000_000]);
    assert_eq!(of_programs(&result, "rounds"), [3, 1]);
    assert_eq!(of_programs(&result, "units"), [1, 1]);
    assert_eq!(result.summary.time_ps, 10_000_000, "the run ends with the first end of the last program");
}

#[test]
fn a_program_that_begins_anew_is_a_new_process_with_its_own_faults() {
    let short = [load(0, 0), compute(50)].concat();
    let alone = run_mix(vec![program(short.clone())], "on-touch");
    let together = run_mix(vec![program(short.clone()), program(compute(200))], "on-touch");
    let rounds = of_programs(&together, "rounds")[0];
    assert!(rounds > 2, "{rounds}");
    assert_eq!(of_programs(&together, "finished_ps")[0], alone.summary.time_ps, "nobody is in its way");
    let begun = rounds + 1;
    assert_eq!(together.summary.accesses.faults, begun * alone.summary.accesses.faults);
    assert_eq!(together.summary.manager.migrations, begun);
}

#[test]
fn programs_have_pages_of_their_own_and_share_the_link() {
    let touch = || program((0..8).flat_map(|page| load(page, 0)).collect());
    let alone = run_mix(vec![touch()], "on-touch");
    let together = run_mix(vec![touch(), touch()], "on-touch");
    assert_eq!(together.summary.manager.migrations, 2 * alone.summary.manager.migrations);
    let finished = of_programs(&together, "finished_ps");
    assert!(
        finished.iter().max() > Some(&alone.summary.time_ps),
        "the driver serves one fault at a time: {finished:?}"
    );
    let names = together.tables.iter().find(|table| table.name == "allocations").unwrap();
    assert_eq!(names.columns[0].values, Values::Text(vec!["script/data".into(), "script.2/data".into()]));
}

#[test]
fn a_unit_runs_the_work_groups_of_one_program_alone() {
    // Two work-groups of one wavefront each that compute 2 us: on two units side by side, on one unit's four SIMDs too;
    // eleven fill one SIMD's place and more.
    let many = |groups: usize| -> (String, Box<dyn Workload>) {
        ("script".to_owned(), Box::new(Script::new(1, vec![vec![vec![compute(2)]; groups]])))
    };
    let alone = run_mix(vec![many(8)], "on-touch");
    let shared = run_mix(vec![many(8), program(compute(1))], "on-touch");
    assert_eq!(alone.summary.time_ps, 2_000_000, "eight wavefronts on eight SIMDs");
    assert_eq!(of_programs(&shared, "finished_ps")[0], 4_000_000, "eight wavefronts on four");
}

#[test]
fn more_programs_than_units_are_refused() {
    let programs = (0..3).map(|_| program(compute(1))).collect();
    let error = simulate(&node(1), &memory("on-touch"), &Mix::new(programs), RunOptions::default()).unwrap_err();
    assert_eq!(error, SimError::TooManyPrograms { programs: 3, units: 2 });
    assert!(error.to_string().contains("3 programs share the 2 compute units"), "{error}");
}
