//! Scenarios as text.

use octavo_scenario::{Resolved, Source, WORKLOADS};
use octavo_workload::Workload;
use pyo3::prelude::*;

use crate::errors;

/// Resolves a scenario file and overrides (`key=value`); returns it as TOML and as JSON.
#[pyfunction]
#[pyo3(signature = (text, name, overrides))]
pub fn resolve(text: &str, name: &str, overrides: Vec<String>) -> PyResult<(String, String)> {
    let Resolved { scenario, toml } =
        octavo_scenario::resolve(Source { name, text }, &overrides).map_err(errors::scenario)?;
    let json = serde_json::to_string(&scenario).expect("a scenario can be written as JSON");
    Ok((toml, json))
}

/// The scenario and the workload of a resolved text.
pub fn load(text: &str) -> PyResult<(octavo_scenario::Scenario, Box<dyn Workload>)> {
    let source = Source { name: "scenario.toml", text };
    let scenario = octavo_scenario::resolve(source, &[]).map_err(errors::scenario)?.scenario;
    let workload = WORKLOADS
        .build(&scenario.workload.choice(), &scenario.size())
        .map_err(|error| errors::SimulationError::new_err(format!("workload {}: {error}", scenario.workload.name)))?;
    Ok((scenario, workload))
}
