//! One simulation.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use octavo_sim::{Progress, RunOptions, RunResult, simulate};
use pyo3::prelude::*;

use crate::errors;
use crate::scenario::load;
use crate::tables::{PyTable, to_python};

/// Wall time between calls of the progress callback.
const BETWEEN_REPORTS: Duration = Duration::from_millis(50);

/// Runs a resolved scenario; returns the summary as JSON and the tables.
///
/// `progress`, if given, is called a few times a second with the share that is done (0 to 1) and the simulated time
/// in picoseconds; the run stops when it returns false. Ctrl-C stops it too.
#[pyfunction]
#[pyo3(signature = (resolved, progress=None))]
pub fn run(py: Python<'_>, resolved: &str, progress: Option<Py<PyAny>>) -> PyResult<(String, Vec<PyTable>)> {
    let (scenario, workload) = py.detach(|| load(resolved))?;
    let mut raised = None;
    let mut told = Instant::now();
    let outcome = py.detach(|| {
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
            record_events: scenario.record.events,
            interval: scenario.record.interval,
            progress: Some(&mut report),
        };
        simulate(&scenario.node, &scenario.memory, workload.as_ref(), options)
    });
    match (raised, outcome) {
        (Some(error), _) => Err(error),
        (None, Err(error)) => Err(errors::simulation(&error)),
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
