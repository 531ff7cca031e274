//! What there is to choose from, and what a workload does.

use pyo3::prelude::*;

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

/// What the workload of a resolved scenario touches and shares, as JSON.
#[pyfunction]
pub fn inspect_workload(py: Python<'_>, resolved: &str) -> PyResult<String> {
    let (_scenario, workload) = load(resolved)?;
    py.detach(|| Ok(serde_json::json!({ "footprint_bytes": workload.footprint() }).to_string()))
}
