//! The host access penalty and what belongs to it.

use octavo_advise::budget::{Candidate, choose};
use octavo_advise::penalty::HostPlacement;
use octavo_advise::prefetch::{Doubling, OnlyFaults, Prefetcher, Tree, replay};
use octavo_advise::sparsity::Csr;
use octavo_advise::{Penalty, Readings, Seconds, Structure, System};
use octavo_registry::in_words;
use octavo_units::Bytes;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::refused;

/// A question about one structure.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    system: System,
    structure: Structure,
    host: HostPlacement,
    readings: Readings,
}

/// The host access penalty of a question (`system`, `structure`, `host`, `readings`) in JSON: its terms, `phi` and
/// `advises_host`, as JSON; times in seconds.
#[pyfunction]
pub fn host_access_penalty(question: &str) -> PyResult<String> {
    let Question { system, structure, host, readings } = parsed(question)?;
    let penalty = Penalty::of(&system, &structure, host, &readings).map_err(refused)?;
    let mut terms = serde_json::to_value(penalty).expect("a penalty can be written as JSON");
    terms["volume"] = penalty.volume.0.into();
    terms["phi"] = penalty.phi().0.into();
    terms["advises_host"] = penalty.advises_host().into();
    Ok(terms.to_string())
}

/// The names that readings of the publication can have: `published` or `sound`, spelled out as JSON.
#[pyfunction]
pub fn penalty_readings(name: &str) -> PyResult<String> {
    let readings = match name {
        "published" => Readings::PUBLISHED,
        "sound" => Readings::SOUND,
        _ => return Err(PyValueError::new_err(format!("readings: expected published or sound, found {name}"))),
    };
    Ok(serde_json::to_string(&readings).expect("readings can be written as JSON"))
}

/// Pages touched in order under a prefetcher (`none`, `doubling`, `tree`), those from `pages.0` up to `pages.1` being
/// one allocation: faults, pages prefetched, those of them touched later, and the pages that each fault brought.
#[pyfunction]
pub fn prefetch_replay(
    name: &str,
    touches: Vec<u64>,
    pages: (u64, u64),
    page_bytes: u64,
    threshold: u64,
) -> PyResult<(u64, u64, u64, Vec<u64>)> {
    let mut prefetcher: Box<dyn Prefetcher> = match name {
        "none" => Box::new(OnlyFaults),
        "doubling" => Box::new(Doubling::default()),
        "tree" => Box::new(Tree::new(Bytes(page_bytes), threshold, pages.0..pages.1).map_err(refused)?),
        _ => return Err(PyValueError::new_err(format!("prefetcher: expected none, doubling or tree, found {name}"))),
    };
    let found = replay(touches, &(pages.0..pages.1), prefetcher.as_mut());
    Ok((found.faults, found.prefetched, found.useful, found.each))
}

/// Sparsity of a traversal of a graph in compressed sparse rows: vertices reached, and σ by pages of arrays with
/// `element` bytes for each vertex and for each edge. Estimated from degrees, or found by traversing from `source`.
#[pyfunction]
#[pyo3(signature = (offsets, targets, element, page, source = None))]
pub fn graph_sparsity(
    offsets: Vec<u64>,
    targets: Vec<u32>,
    element: u64,
    page: u64,
    source: Option<usize>,
) -> PyResult<(f64, f64, f64)> {
    let graph = Csr::new(&offsets, &targets).map_err(refused)?;
    let reach = match source {
        Some(source) => graph.reach_from(source).map_err(refused)?,
        None => graph.estimated_reach(),
    };
    let [element, page] = [element, page].map(Bytes);
    let vertices = graph.sigma_of_vertices(&reach, element, page).map_err(refused)?;
    let edges = graph.sigma_of_edges(&reach, element, page).map_err(refused)?;
    Ok((reach.vertices(), vertices.get(), edges.get()))
}

/// Which candidates (bytes, and seconds gained in device memory) get `budget` bytes: who, the gain of all of them, and
/// whether nothing gains more.
#[pyfunction]
pub fn budget_choice(candidates: Vec<(u64, f64)>, budget: u64) -> (Vec<bool>, f64, bool) {
    let candidate = |(bytes, gain)| Candidate { bytes: Bytes(bytes), gain: Seconds(gain) };
    let choice = choose(&candidates.into_iter().map(candidate).collect::<Vec<_>>(), Bytes(budget));
    (choice.chosen, choice.gain.0, choice.exact)
}

fn parsed<T: DeserializeOwned>(text: &str) -> PyResult<T> {
    // From a value, whose errors name no place in a text that the caller did not write.
    let value: serde_json::Value =
        serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
    serde_path_to_error::deserialize(value)
        .map_err(|error| PyValueError::new_err(format!("`{}`: {}", error.path(), in_words(&error.inner().to_string()))))
}
