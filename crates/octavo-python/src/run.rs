//! One simulation.

use std::ops::ControlFlow;

use octavo_sim::{Progress, RunOptions, RunResult, simulate};
use pyo3::prelude::*;

use crate::scenario::load;
use crate::tables::{PyTable, to_python};
use crate::errors;

/// Runs a resolved scenario; returns the summary as JSON and the tables.
///
/// `progress`, if given, is called a few times a second with the share that is done (0 to 1) and the simulated time
/// in picoseconds; the run stops when it returns false. Ctrl-C stops it too.
#[pyfunction]
#[pyo3(signature = (resolved, progress=None))]
pub fn run(py: Python<'_>, resolved: &str, progress: Option<Py<PyAny>>) -> PyResult<(String, Vec<PyTable>)> {
    let (scenario, workload) = load(resolved)?;
    let mut raised = None;
    let outcome = py.detach(|| {
        let mut report = |state: Progress| match tell(progress.as_ref(), state) {
            Ok(true) => ControlFlow::Continue(()),
            Ok(false) => ControlFlow::Break(()),
            Err(error) => {
                raised = Some(error);
                ControlFlow::Break(())
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

/// How much of the run is done: launches are taken as equally long, and so are the work-groups of one.
fn share(state: Progress) -> f64 {
    let within = if state.groups == 0 { 0.0 } else { state.groups_done as f64 / state.groups as f64 };
    (f64::from(state.launches_done) + within) / f64::from(state.launches.max(1))
}
