//! One simulation.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use octavo_sim::{Progress, RunOptions, RunResult, SimError, simulate};
use pyo3::prelude::*;

use crate::errors;
use crate::policies::take_raised;
use crate::scenario::load;
use crate::tables::{PyTable, to_python};

/// Wall time between calls of the progress callback.
const BETWEEN_REPORTS: Duration = Duration::from_millis(50);

/// Runs a resolved scenario; returns the summary as JSON and the tables.
///
/// `progress`, if given, is called a few times a second with the share that is done (0 to 1) and the simulated time
/// in picoseconds; the run stops when it returns false. Ctrl-C stops it too. `timeline`, if given, is a file that the
/// run's native Perfetto trace is written to.
#[pyfunction]
#[pyo3(signature = (resolved, progress=None, timeline=None))]
pub fn run(
    py: Python<'_>,
    resolved: &str,
    progress: Option<Py<PyAny>>,
    timeline: Option<PathBuf>,
) -> PyResult<(String, Vec<PyTable>)> {
    let mut timeline = timeline.map(File::create).transpose()?.map(BufWriter::new);
    let (scenario, workload, program) = py.detach(|| {
        let (scenario, workload) = load(resolved)?;
        let program = scenario.program(workload.as_ref());
        let program = program.map_err(|error| errors::SimulationError::new_err(error.to_string()))?;
        Ok::<_, PyErr>((scenario, workload, program))
    })?;
    drop(take_raised()); // Of an earlier run that could not end in it.
    let mut raised = None;
    let mut told = Instant::now();
    let outcome = py.detach(|| -> Result<RunResult, SimError> {
        let mut report = |state: Progress| {
            if told.elapsed() < BETWEEN_REPORTS {
                return ControlFlow::Continue(());
            }
            told = Instant::now();
            match tell(progress.as_ref(), state) {
                Ok(true) => ControlFlow::Continue(()),
                Ok(false) => ControlFlow::Break(()),
                Err(error) => {
                    raised = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        let options = RunOptions {
            program: program.as_ref(),
            record_events: scenario.record.events,
            interval: scenario.record.interval,
            timeline: timeline.as_mut().map(|file| file as &mut dyn Write),
            progress: Some(&mut report),
        };
        let result = simulate(&scenario.node, &scenario.memory, workload.as_ref(), options)?;
        let flushed = timeline.as_mut().map_or(Ok(()), Write::flush);
        flushed.map_err(|error| SimError::Timeline { reason: error.to_string() })?;
        Ok(result)
    });
    match (raised, outcome) {
        (Some(error), _) => Err(error),
        (None, Err(error)) => Err(errors::simulation(py, &error)),
        (None, Ok(RunResult { summary, tables })) => {
            let summary = serde_json::to_string(&summary).expect("a summary can be written as JSON");
            Ok((summary, tables.into_iter().map(|table| to_python(py, table)).collect()))
        }
    }
}

/// Asks Python whether to go on.
fn tell(progress: Option<&Py<PyAny>>, state: Progress) -> PyResult<bool> {
    Python::attach(|py| {
        py.check_signals()?;
        let Some(progress) = progress else { return Ok(true) };
        progress.call1(py, (share(state), state.time.0))?.is_truthy(py)
    })
}

/// How much of the run is done, all work-groups taken as equally long.
fn share(state: Progress) -> f64 {
    state.groups_done as f64 / state.groups.max(1) as f64
}
