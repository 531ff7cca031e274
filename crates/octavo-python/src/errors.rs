//! Errors as Python exceptions.

use octavo_scenario::{PartRefused, ProgramRefused};
use octavo_sim::{SimError, StrategyFailure};
use pyo3::exceptions::{PyException, PyKeyboardInterrupt};
use pyo3::{PyErr, Python, create_exception};

use crate::policies::take_raised;

create_exception!(
    _core,
    ScenarioError,
    PyException,
    "A scenario that cannot be used; arguments: message, hint or None."
);
create_exception!(_core, SimulationError, PyException, "A scenario that cannot be simulated; argument: message.");
create_exception!(
    _core,
    PolicyError,
    SimulationError,
    "A policy that raised or answered nonsense; arguments: message, traceback (empty for nonsense)."
);
create_exception!(
    _core,
    OutOfMemory,
    SimulationError,
    "A memory is full, and nothing can leave it; argument: message."
);

create_exception!(_core, Interrupted, PyException, "The run was stopped by its progress callback.");

create_exception!(_core, OverTime, PyException, "The run is not over after the time that it was given.");

create_exception!(_core, TraceError, PyException, "A trace that cannot be read or written; argument: message.");

create_exception!(_core, GpuError, PyException, "Something about a real GPU, or the lack of one; argument: message.");
create_exception!(_core, UnknownGpuProbe, GpuError, "No probe of that name; argument: message.");

pub fn gpu(error: &octavo_gpu::GpuError) -> PyErr {
    GpuError::new_err(error.to_string())
}

pub fn trace(error: &octavo_trace::TraceError) -> PyErr {
    TraceError::new_err(error.to_string())
}

pub fn scenario(mut error: octavo_scenario::ScenarioError) -> PyErr {
    let hint = error.hint.take();
    ScenarioError::new_err((error.to_string(), hint))
}

/// The reason why nothing can be run.
pub fn parts(error: &PartRefused) -> PyErr {
    match error {
        PartRefused::Program(ProgramRefused::Stopped) => Interrupted::new_err("the run was stopped"),
        PartRefused::Program(full @ (ProgramRefused::TooLarge { .. } | ProgramRefused::NoStrips { .. })) => {
            OutOfMemory::new_err(full.to_string())
        }
        other => SimulationError::new_err(other.to_string()),
    }
}

pub fn simulation(py: Python<'_>, error: &SimError) -> PyErr {
    match error {
        SimError::Interrupted => Interrupted::new_err("the run was stopped"),
        SimError::OverTime { .. } => OverTime::new_err(error.to_string()),
        SimError::Strategy(failure) => policy(py, failure),
        full @ (SimError::OutOfMemory { .. }
        | SimError::NothingYielded { .. }
        | SimError::HostOutOfMemory { .. }
        | SimError::BoundOutOfMemory { .. }
        | SimError::HostFullForKept { .. }) => OutOfMemory::new_err(full.to_string()),
        other => SimulationError::new_err(other.to_string()),
    }
}

/// What the policy raised becomes the cause. Ctrl-C may have struck in the middle of its code.
fn policy(py: Python<'_>, failure: &StrategyFailure) -> PyErr {
    let raised = take_raised();
    if raised.as_ref().is_some_and(|raised| raised.is_instance_of::<PyKeyboardInterrupt>(py)) {
        return Interrupted::new_err("the run was stopped");
    }
    let error = PolicyError::new_err((failure.to_string(), failure.failure.details.clone()));
    error.set_cause(py, raised);
    error
}
