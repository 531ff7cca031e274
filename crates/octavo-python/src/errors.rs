//! What can go wrong, as Python exceptions.

use octavo_sim::SimError;
use pyo3::exceptions::PyException;
use pyo3::{PyErr, create_exception};

create_exception!(
    _core,
    ScenarioError,
    PyException,
    "A scenario that cannot be used; arguments: message, hint or None."
);
create_exception!(_core, SimulationError, PyException, "A scenario that cannot be simulated; argument: message.");
create_exception!(_core, Interrupted, PyException, "The run was stopped by its progress callback.");

create_exception!(_core, TraceError, PyException, "A trace that cannot be read or written; argument: message.");

pub fn trace(error: &octavo_trace::TraceError) -> PyErr {
    TraceError::new_err(error.to_string())
}

pub fn scenario(mut error: octavo_scenario::ScenarioError) -> PyErr {
    let hint = error.hint.take();
    ScenarioError::new_err((error.to_string(), hint))
}

pub fn simulation(error: &SimError) -> PyErr {
    match error {
        SimError::Interrupted => Interrupted::new_err("the run was stopped"),
        other => SimulationError::new_err(other.to_string()),
    }
}
