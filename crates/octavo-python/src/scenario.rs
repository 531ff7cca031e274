//! Scenarios as text.

use std::cell::Cell;

use octavo_program::{Mix, Workload};
use octavo_scenario::{Resolved, Scenario, ScenarioError, Source};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors;
use crate::generators::{forget_raised, or_raised};
use crate::policies::take_raised;

/// Resolves a scenario file and overrides (`key=value`); returns it as TOML and as JSON.
///
/// `read(place, named_by)`, if given, reads the files that hold nodes: `place` as it was written, `named_by` the file
/// it was written in, or None for an override. It returns the file's name, for messages, and its text, or raises
/// `ValueError` with the reason why it cannot.
#[pyfunction]
#[pyo3(signature = (text, name, overrides, read=None))]
pub fn resolve(
    text: &str,
    name: &str,
    overrides: Vec<String>,
    read: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, String)> {
    let source = Source { name, text };
    drop(take_raised()); // Of an earlier call that could not end in it.
    forget_raised();
    let Some(read) = read else { return spelled_out(octavo_scenario::resolve(source, &overrides)) };
    let raised = Cell::new(None);
    let reader = |place: &str, named_by: Option<&str>| {
        let answer = read.call1((place, named_by)).and_then(|answer| answer.extract::<(String, String)>());
        answer.map_err(|error| {
            let reason = error.value(read.py()).to_string();
            if !error.is_instance_of::<PyValueError>(read.py()) {
                raised.set(Some(error));
            }
            reason
        })
    };
    let resolved = octavo_scenario::resolve_with(source, &overrides, &reader);
    raised.take().map_or_else(|| spelled_out(resolved), Err)
}

/// The base unit of a quantity and how many of these it is, such as `("ps", 1250000)` of `1.25us`; `ValueError` if it is
/// none.
#[pyfunction]
pub fn quantity(text: &str) -> PyResult<(&'static str, u64)> {
    octavo_units::any(text).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Why a text is not valid TOML, if it is not: also keys, lists or tables that are nested too deeply.
#[pyfunction]
pub fn toml_flaw(text: &str) -> Option<String> {
    octavo_scenario::toml_flaw(text)
}

/// The line of a dotted key in a text that is TOML, or else of the nearest table around it.
#[pyfunction]
pub fn toml_line(text: &str, key: &str) -> Option<usize> {
    octavo_scenario::toml_line(text, key)
}

fn spelled_out(resolved: Result<Resolved, ScenarioError>) -> PyResult<(String, String)> {
    let refused = |error| take_raised().unwrap_or_else(|| errors::scenario(error));
    let Resolved { scenario, toml } = or_raised(resolved.map_err(refused))?;
    let json = serde_json::to_string(&scenario).expect("a scenario can be written as JSON");
    Ok((toml, json))
}

/// The scenario of a resolved text.
pub fn load(text: &str) -> PyResult<Scenario> {
    let source = Source { name: "scenario.toml", text };
    octavo_scenario::load(source).map_err(errors::scenario)
}

/// Shows the workload of a scenario; its jobs are combined in one.
pub fn with_workload<T>(scenario: &Scenario, look: impl FnOnce(&dyn Workload) -> PyResult<T>) -> PyResult<T> {
    let programs = scenario.workloads().map_err(|error| errors::SimulationError::new_err(error.to_string()))?;
    match &programs[..] {
        [(name, workload)] if name.is_empty() => look(workload.as_ref()),
        _ => look(&Mix::new(programs.iter().map(|(name, workload)| (name.clone(), workload.as_ref())))),
    }
}
