//! What there is to choose from, and what a workload does.

use octavo_program::{Setting, characterise};
use pyo3::prelude::*;

use crate::errors::SimulationError;
use crate::scenario::load;

/// JSON schema of scenario files.
#[pyfunction]
pub fn schema() -> String {
    octavo_scenario::schema().to_string()
}

/// Everything a scenario can name, as JSON.
#[pyfunction]
pub fn listing() -> String {
    octavo_scenario::listing().to_string()
}

/// Names of the kinds of rows in a run's `events` table, by code.
#[pyfunction]
pub fn event_kinds() -> Vec<&'static str> {
    octavo_sim::event_kinds()
}

/// What the workload of a resolved scenario touches, and shares between the GPUs of its node, as JSON.
#[pyfunction]
pub fn inspect_workload(py: Python<'_>, resolved: &str) -> PyResult<String> {
    let characteristics = py.detach(|| {
        let (scenario, workload) = load(resolved)?;
        let setting = Setting {
            gpus: scenario.node.gpus,
            compute_units_per_gpu: scenario.node.compute.units,
            dispatch: scenario.node.dispatch,
            page_bytes: scenario.memory.decision_size().expect("a resolved scenario has valid sizes").0,
        };
        characterise(workload.as_ref(), &setting).map_err(|error| SimulationError::new_err(error.to_string()))
    })?;
    Ok(serde_json::to_string(&characteristics).expect("characteristics can be written as JSON"))
}
