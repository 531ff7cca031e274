//! Lists of names to choose from, and characteristics of a workload.

use octavo_manager::Spread;
use octavo_program::{Listing, Lowering, ProgramKind, Room, Setting, characterise_filled, lower};
use octavo_scenario::ProgramRefused;
use pyo3::prelude::*;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;

use crate::errors::{ScenarioError, SimulationError};
use crate::generators::{forget_raised, or_raised};
use crate::scenario::{load, with_workload};

/// JSON schema of scenario files.
#[pyfunction]
pub fn schema() -> String {
    octavo_scenario::schema().to_string()
}

/// The same without references: every part in its place.
#[pyfunction]
pub fn schema_spelled_out() -> String {
    octavo_scenario::schema_spelled_out().to_string()
}

/// The schema of results, as JSON: `tables` with the type, unit and meaning of each column, and the JSON schemas of
/// `summary` and, for runs without time, of `instant_summary`.
#[pyfunction]
pub fn result_schema() -> String {
    let summary = serialized::<octavo_sim::Summary>();
    let instant = serialized::<octavo_sim::InstantSummary>();
    serde_json::json!({ "tables": octavo_sim::TABLES, "summary": summary, "instant_summary": instant }).to_string()
}

/// The schema of the serialised form of `T`, with every part in its place.
fn serialized<T: JsonSchema>() -> schemars::Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let inline = settings.with(|settings| settings.inline_subschemas = true);
    inline.into_generator().into_root_schema_for::<T>()
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

/// The accesses of the workload of a resolved scenario, and what the GPUs of its node share, as JSON. If a run decides
/// which GPU runs which work-group, as if all work-groups of a launch took equally long.
#[pyfunction]
pub fn inspect_workload(py: Python<'_>, resolved: &str) -> PyResult<String> {
    forget_raised();
    let characteristics = or_raised(py.detach(|| {
        let scenario = load(resolved)?;
        let setting = Setting {
            gpus: scenario.node.gpus,
            compute_units_per_gpu: scenario.node.compute.units,
            dispatch: scenario.node.dispatch,
            page_bytes: scenario.memory.decision_size().expect("a resolved scenario has valid sizes").0,
        };
        with_workload(&scenario, |workload| {
            let room: Room<'_> = &|launch, resources| {
                octavo_sim::groups_at_once(&scenario.node.compute, resources, launch.wavefronts_per_group).max(1)
            };
            characterise_filled(workload, &setting, room).map_err(|error| SimulationError::new_err(error.to_string()))
        })
    }))?;
    Ok(serde_json::to_string(&characteristics).expect("characteristics can be written as JSON"))
}

/// Remarks of file readers since the last call: what they assumed or did not use.
#[pyfunction]
pub fn read_notes() -> Vec<String> {
    octavo_workload::notes::take()
}

/// The result of the workload of a resolved scenario, and its inputs, as JSON: lists of numbers by name, `result` being
/// the name of the first. Values that were not reached are null.
#[pyfunction]
pub fn workload_result(py: Python<'_>, resolved: &str) -> PyResult<String> {
    forget_raised();
    let numbers = or_raised(py.detach(|| with_workload(&load(resolved)?, |workload| Ok(workload.result()))))?;
    let Some((result, _)) = numbers.first() else {
        let message =
            "this workload computes nothing that can be shown; programs on graphs do, and those of the MemMap study";
        return Err(ScenarioError::new_err((message, None::<String>)));
    };
    let mut found: serde_json::Map<String, serde_json::Value> =
        [("result".to_owned(), (*result).into())].into_iter().collect();
    found.extend(numbers.into_iter().map(|(name, values)| (name.to_owned(), values.into())));
    Ok(serde_json::Value::from(found).to_string())
}

/// The workload of a resolved scenario as a whole program, as JSON: its buffers, of that kind, and its actions; or the
/// program that it recorded, if the kind is `recorded`.
///
/// `spread` says how device buffers lie on several GPUs, `threads` how many threads of the host write inputs and read
/// outputs.
#[pyfunction]
pub fn workload_program(py: Python<'_>, resolved: &str, kind: &str, spread: &str, threads: u32) -> PyResult<String> {
    let recorded = kind == "recorded";
    let kind = if recorded { ProgramKind::default() } else { named::<ProgramKind>("kind", kind)? };
    let spread = named::<Spread>("spread", spread)?;
    forget_raised();
    let listing = or_raised(py.detach(|| {
        let lowering = Lowering { kind, spread, host_threads: threads, ..Lowering::default() };
        with_workload(&load(resolved)?, |workload| {
            let failed = |error: &dyn std::fmt::Display| SimulationError::new_err(error.to_string());
            let program = match workload.program() {
                Some(program) if recorded => program.clone(),
                None if recorded => return Err(failed(&ProgramRefused::NotRecorded)),
                _ => lower(workload, &lowering).map_err(|error| failed(&error))?,
            };
            match workload.failure() {
                Some(reason) => Err(SimulationError::new_err(reason)),
                None => Ok(Listing::new(&program, workload)),
            }
        })
    }))?;
    Ok(serde_json::to_string(&listing).expect("a listing can be written as JSON"))
}

/// The value of `key` for a user's `name`.
fn named<T: DeserializeOwned>(key: &str, name: &str) -> PyResult<T> {
    serde_json::from_value(name.into())
        .map_err(|error| ScenarioError::new_err((format!("`{key}`: {error}"), None::<String>)))
}
