//! One run, in simulated time or without time.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use octavo_scenario::{Again, Built, ExecutorChoice, InstantChoice, Part, Scenario, SimulatedChoice};
use octavo_sim::{
    InstantOptions, InstantProgress, Job, Kept, MemoryBound, MemoryEstimate, MemoryLine, Progress, Repeat, RunOptions,
    SimError, Table, TakeLine, estimate_memory, page_order as page_order_of, run_jobs_at_once, simulate_jobs,
};
use octavo_units::Time;
use pyo3::prelude::*;
use serde::Serialize;

use crate::allocator;
use crate::errors;
use crate::generators::{forget_raised, or_raised};
use crate::line_file::LineFile;
use crate::memory::{Held, memory_around};
use crate::policies::take_raised;
use crate::scenario::load;
use crate::tables::{PyTable, to_python};

/// Wall time between calls of the progress callback.
const BETWEEN_REPORTS: Duration = Duration::from_millis(50);

/// Runs a resolved scenario; returns the summary as JSON and the tables.
///
/// `progress`, if given, is called a few times a second with the share that is done (0 to 1) and the simulated time in
/// picoseconds (0 where there is none). The run stops when it returns false. Ctrl-C stops it too. `timeline`, if given,
/// is a file that the run's native Perfetto trace is written to. A run that would need more than `memory_limit` bytes,
/// in addition to the process's own (`memory_around`), is refused; one that exceeds it ends as soon as it has, or would
/// when writing its result. A run that has not ended after `time_limit` picoseconds of simulated time may be ended with
/// `OverTime`; which runs are does not depend on the machine. `lines`, if given, is a file for the lines that memories
/// of GPUs read and write, whether it has their times, and how it is packed.
#[pyfunction]
#[pyo3(signature = (resolved, progress=None, timeline=None, memory_limit=None, time_limit=None, lines=None))]
pub fn run(
    py: Python<'_>,
    resolved: &str,
    progress: Option<Py<PyAny>>,
    timeline: Option<PathBuf>,
    memory_limit: Option<u64>,
    time_limit: Option<u64>,
    lines: Option<(PathBuf, bool, String)>,
) -> PyResult<(String, Vec<PyTable>)> {
    let timeline = timeline.map(File::create).transpose()?.map(BufWriter::new);
    let lines = lines.map(|(path, timed, packing)| LineFile::create(&path, timed, &packing)).transpose()?;
    drop(take_raised()); // Of an earlier run that could not end in it.
    forget_raised();
    let held = Held::begin();
    let in_use = || held.bytes();
    let bound = memory_limit.map(|limit| MemoryBound { limit, around: memory_around(), in_use: &in_use });
    let mut telling = Telling { progress, told: Instant::now(), raised: None };
    let built = py.detach(|| {
        let scenario = load(resolved)?;
        let built = scenario.built_while(&mut || telling.tell(0, 1, 0));
        let built = built.map_err(|error| telling.raised.take().unwrap_or_else(|| errors::parts(&error)))?;
        Ok::<_, PyErr>((scenario, built))
    });
    let (scenario, built) = or_raised(built)?;
    let outcome = py.detach(|| {
        check_memory(&scenario, &built, bound)?;
        match &scenario.executor {
            ExecutorChoice::Simulated(choice) => {
                let files = Files { timeline, lines };
                in_time(&scenario, choice, &built, (files, time_limit.map(Time)), (bound, &mut telling))
            }
            ExecutorChoice::Instant(_) if time_limit.is_some() => Err(SimError::NoTimeLimit { reason: NO_TIME }),
            ExecutorChoice::Instant(_) if timeline.is_some() => Err(SimError::Timeline { reason: NO_TIME.to_owned() }),
            ExecutorChoice::Instant(_) if lines.is_some() => Err(SimError::Lines { reason: NO_TIME.to_owned() }),
            ExecutorChoice::Instant(choice) => at_once(&scenario, choice, &built, (bound, &mut telling)),
        }
    });
    drop(built);
    let result = match (telling.raised, outcome) {
        (Some(error), _) => Err(error),
        (None, Err(error)) => or_raised(Err(errors::simulation(py, &error))),
        (None, Ok((summary, tables))) => {
            let tables: PyResult<_> = tables.into_iter().map(|table| to_python(py, table)).collect();
            Ok((summary, tables?))
        }
    };
    allocator::give_back(); // The caller writes the tables, with memory of others.
    result
}

/// Refuses a run that would take more memory than it may.
fn check_memory(scenario: &Scenario, built: &Built, bound: Option<MemoryBound<'_>>) -> Result<(), SimError> {
    let Some(MemoryBound { limit, around, .. }) = bound else { return Ok(()) };
    let needed = memory_of(scenario, built)?;
    let fits = needed.total().saturating_add(around) <= limit;
    if fits { Ok(()) } else { Err(SimError::TooMuchMemory { needed, around, limit }) }
}

fn memory_of(scenario: &Scenario, built: &Built) -> Result<MemoryEstimate, SimError> {
    let jobs: Vec<Job<'_>> = built.parts.iter().map(job).collect();
    let in_time = matches!(scenario.executor, ExecutorChoice::Simulated(_));
    let intervals = in_time && scenario.record.interval > Time::ZERO;
    estimate_memory(
        &built.node,
        &built.memory,
        &jobs,
        Kept { in_time, events: scenario.record.events, intervals, walks: in_time && scenario.record.walks },
    )
}

/// The bytes of memory that a resolved scenario would need: for the node's tables, for pages, for records, and for
/// graphs.
#[pyfunction]
pub fn memory_needed(py: Python<'_>, resolved: &str) -> PyResult<(u64, u64, u64, u64)> {
    forget_raised();
    or_raised(py.detach(|| {
        let scenario = load(resolved)?;
        let built = scenario.sizes().map_err(|error| errors::parts(&error))?;
        let needed =
            memory_of(&scenario, &built).map_err(|error| errors::SimulationError::new_err(error.to_string()))?;
        Ok((needed.node, needed.pages, needed.records, needed.inputs))
    }))
}

/// Bytes of memory that each GPU of a resolved scenario has for its programs at their scale; none without a limit.
#[pyfunction]
pub fn gpu_memory(py: Python<'_>, resolved: &str) -> PyResult<Option<u64>> {
    forget_raised();
    or_raised(py.detach(|| load(resolved)?.gpu_memory().map_err(|error| errors::parts(&error))))
}

/// The pages that a resolved scenario's workload accesses without time, in order: see `octavo_sim::page_order`. Runs of
/// several jobs are refused.
#[pyfunction]
#[pyo3(signature = (resolved, turn=1))]
pub fn page_order(py: Python<'_>, resolved: &str, turn: u32) -> PyResult<PyTable> {
    forget_raised();
    let table = or_raised(py.detach(|| {
        let scenario = load(resolved)?;
        let built = scenario.built_while(&mut || ControlFlow::Continue(())).map_err(|error| errors::parts(&error))?;
        let [part] = built.parts.as_slice() else {
            let message = format!("expected one workload, found {} jobs", built.parts.len());
            return Err(errors::SimulationError::new_err(message));
        };
        page_order_of(&built.node, &built.memory, &job(part), turn)
            .map_err(|error| errors::SimulationError::new_err(error.to_string()))
    }))?;
    to_python(py, table)
}

/// Why there is no timeline, and no limit of time.
const NO_TIME: &str = "`executor.kind` is instant, which has no time: expected simulated";

/// Files that a run writes while it goes on.
struct Files {
    timeline: Option<BufWriter<File>>,
    lines: Option<LineFile>,
}

/// A summary as JSON, and tables.
type Results = (String, Vec<Table>);

fn in_time(
    scenario: &Scenario,
    choice: &SimulatedChoice,
    built: &Built,
    (Files { mut timeline, mut lines }, time_limit): (Files, Option<Time>),
    (memory, telling): (Option<MemoryBound<'_>>, &mut Telling),
) -> Result<Results, SimError> {
    let wanted = lines.is_some();
    let mut report = |state: Progress| telling.tell(state.groups_done, state.groups, state.time.0);
    let mut take = |line: MemoryLine| lines.as_mut().map_or(Ok(()), |file| file.take(line));
    let listed = wanted.then_some(&mut take as &mut TakeLine<'_>);
    let options = RunOptions {
        lines: listed,
        record_events: scenario.record.events,
        record_walks: scenario.record.walks,
        interval: scenario.record.interval,
        replicate: choice.replicate,
        timeline: timeline.as_mut().map(|file| file as &mut dyn Write),
        time_limit,
        memory,
        progress: Some(&mut report),
    };
    let jobs: Vec<Job<'_>> = built.parts.iter().map(job).collect();
    let result = simulate_jobs(&built.node, &built.memory, &jobs, options)?;
    let flushed = timeline.as_mut().map_or(Ok(()), Write::flush);
    flushed.map_err(|error| SimError::Timeline { reason: error.to_string() })?;
    let ended = lines.map_or(Ok(()), LineFile::finish);
    ended.map_err(|error| SimError::Lines { reason: error.to_string() })?;
    Ok((json(&result.summary), result.tables))
}

fn at_once(
    scenario: &Scenario,
    choice: &InstantChoice,
    built: &Built,
    (memory, telling): (Option<MemoryBound<'_>>, &mut Telling),
) -> Result<Results, SimError> {
    let mut report = |state: InstantProgress| telling.tell(state.groups_done, state.groups, 0);
    let options = InstantOptions {
        turn: choice.turn,
        report_lines: choice.report_lines,
        record_events: scenario.record.events,
        memory,
        progress: Some(&mut report),
    };
    let jobs: Vec<Job<'_>> = built.parts.iter().map(job).collect();
    let result = run_jobs_at_once(&built.node, &built.memory, &jobs, options)?;
    Ok((json(&result.summary), result.tables))
}

fn json(summary: &impl Serialize) -> String {
    serde_json::to_string(summary).expect("a summary can be written as JSON")
}

/// Reports the progress of a run to Python.
struct Telling {
    progress: Option<Py<PyAny>>,
    told: Instant,
    /// The exception of Python's progress function.
    raised: Option<PyErr>,
}

impl Telling {
    /// Reports that this many of all work-groups, counted as equally long, are done, a few times a second; returns
    /// whether to continue.
    fn tell(&mut self, done: u64, all: u64, time: u64) -> ControlFlow<()> {
        if self.told.elapsed() < BETWEEN_REPORTS {
            return ControlFlow::Continue(());
        }
        self.told = Instant::now();
        match ask(self.progress.as_ref(), done as f64 / all.max(1) as f64, time) {
            Ok(true) => ControlFlow::Continue(()),
            Ok(false) => ControlFlow::Break(()),
            Err(error) => {
                self.raised = Some(error);
                ControlFlow::Break(())
            }
        }
    }
}

/// A part of a scenario as the simulator takes it.
fn job(part: &Part) -> Job<'_> {
    let repeat = match part.again {
        Again::Times(times) => Repeat::Times(times),
        Again::UntilAll => Repeat::UntilAll,
        Again::Until(other) => Repeat::Until(other),
    };
    Job {
        program: part.program.as_ref(),
        existence: part.existence,
        gpus: part.gpus,
        start: part.start,
        repeat,
        share: part.share,
        idle: part.idle,
        memory: part.memory.clone(),
        ..Job::named(&part.name, part.workload.as_ref())
    }
}

/// Asks Python whether to continue.
fn ask(progress: Option<&Py<PyAny>>, share: f64, time: u64) -> PyResult<bool> {
    Python::attach(|py| {
        py.check_signals()?;
        let Some(progress) = progress else { return Ok(true) };
        progress.call1(py, (share, time))?.is_truthy(py)
    })
}
