//! Errors as Python exceptions.

use octavo_node::CapacityError;
use octavo_scenario::{PartRefused, ProgramRefused};
use octavo_sim::{SimError, StrategyFailure};
use octavo_tier::TierError;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt};
use pyo3::{IntoPyObject, PyErr, Python, create_exception};

use crate::policies::take_raised;

create_exception!(
    _core,
    ScenarioError,
    PyException,
    "A scenario that cannot be used; arguments: message, hint or None, facts."
);
create_exception!(
    _core,
    SimulationError,
    PyException,
    "A scenario that cannot be simulated; arguments: message, and facts if there are any."
);
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
    "A memory is full, and nothing can leave it; arguments: message, facts."
);

create_exception!(_core, Interrupted, PyException, "The run was stopped by its progress callback.");

create_exception!(_core, OverTime, PyException, "The run is not over after the time that it was given.");

create_exception!(
    _core,
    TraceError,
    PyException,
    "A trace that cannot be read or written; arguments: message, and facts if there are any."
);

create_exception!(
    _core,
    GpuError,
    PyException,
    "Something about a real GPU, or the lack of one; arguments: message, facts."
);
create_exception!(_core, UnknownGpuProbe, GpuError, "No probe of that name; argument: message.");

/// The facts of an error, for programs: those of `octavo.errors.Facts`.
#[derive(Default, IntoPyObject)]
pub struct Facts {
    code: &'static str,
    file: Option<String>,
    line: Option<u64>,
    key: Option<String>,
    expected: Option<String>,
    found: Option<String>,
}

pub fn gpu(error: &octavo_gpu::GpuError) -> PyErr {
    let facts = match error {
        octavo_gpu::GpuError::Call { call, name, .. } => {
            Facts { code: "refused-call", key: Some((*call).to_owned()), found: Some(name.clone()), ..Facts::default() }
        }
        _ => Facts { code: "bad-measurement", ..Facts::default() },
    };
    GpuError::new_err((error.to_string(), facts))
}

pub fn tier(error: &TierError) -> PyErr {
    let facts = match error {
        TierError::Driver(error) => return gpu(error),
        TierError::Setting { key, expected, found } => Facts {
            code: "unexpected-value",
            key: Some((*key).to_owned()),
            expected: Some(expected.clone()),
            found: Some(found.clone()),
            ..Facts::default()
        },
        TierError::UnknownBuffer(found) => Facts {
            code: "unknown-name",
            key: Some("buffer".to_owned()),
            found: Some(found.clone()),
            ..Facts::default()
        },
        TierError::UnknownDevice { asked, found } => Facts {
            code: "unknown-name",
            key: Some("device".to_owned()),
            expected: Some(format!("{found:?}")),
            found: Some(asked.to_string()),
            ..Facts::default()
        },
        TierError::Outside { from, to, bytes, .. } => Facts {
            code: "unexpected-value",
            key: Some("offset".to_owned()),
            expected: Some(format!("0 to {bytes}")),
            found: Some(format!("{from} to {to}")),
            ..Facts::default()
        },
        TierError::NoRoomForLaunch { needed, room, .. } => no_room_in_tier("memory", *needed, *room),
        TierError::NoRoomOnHost { needed, room, .. } => no_room_in_tier("host", *needed, *room),
        TierError::Closed => Facts { code: "unknown-name", key: Some("tier".to_owned()), ..Facts::default() },
        _ => Facts { code: "refused-call", ..Facts::default() },
    };
    GpuError::new_err((error.to_string(), facts))
}

fn no_room_in_tier(key: &str, needed: u64, room: u64) -> Facts {
    let (expected, found) = (Some(format!("at most {room} pieces")), Some(needed.to_string()));
    Facts { code: "no-room", key: Some(key.to_owned()), expected, found, ..Facts::default() }
}

pub fn trace(error: &octavo_trace::TraceError) -> PyErr {
    let facts = Facts { code: "bad-trace", file: Some(error.file.clone()), line: error.row, ..Facts::default() };
    TraceError::new_err((error.to_string(), facts))
}

pub fn scenario(mut error: octavo_scenario::ScenarioError) -> PyErr {
    let hint = error.hint.take();
    let (expected, found) = error.mistake.mismatch.take().map(|both| (both.expected, both.found)).unzip();
    let facts = Facts {
        code: error.mistake.code.name(),
        file: Some(error.origin.source.clone()),
        line: error.origin.line.map(|line| line as u64),
        key: Some(error.key.clone()),
        expected,
        found,
    };
    ScenarioError::new_err((error.to_string(), hint, facts))
}

/// A memory is full; `key`: the option that decides that nothing leaves it.
fn no_room(message: String, key: &str) -> PyErr {
    let facts = Facts { code: "no-room", key: Some(key.to_owned()), ..Facts::default() };
    OutOfMemory::new_err((message, facts))
}

/// The reason why nothing can be run.
pub fn parts(error: &PartRefused) -> PyErr {
    match error {
        PartRefused::Program(ProgramRefused::Stopped) => Interrupted::new_err("the run was stopped"),
        PartRefused::Program(full @ (ProgramRefused::TooLarge { .. } | ProgramRefused::NoStrips { .. })) => {
            no_room(full.to_string(), "program.kind")
        }
        other => SimulationError::new_err(other.to_string()),
    }
}

pub fn simulation(py: Python<'_>, error: &SimError) -> PyErr {
    match error {
        SimError::Interrupted => Interrupted::new_err("the run was stopped"),
        SimError::OverTime { .. } => OverTime::new_err(error.to_string()),
        SimError::Strategy(failure) => policy(py, failure),
        full @ SimError::OutOfMemory { .. } => no_room(full.to_string(), "memory.eviction"),
        full @ SimError::NothingYielded { .. } => no_room(full.to_string(), "memory.sharing"),
        full @ (SimError::HostOutOfMemory { .. } | SimError::HostFullForKept { .. }) => {
            no_room(full.to_string(), "node.host.memory.capacity")
        }
        full @ SimError::BoundOutOfMemory { .. } => no_room(full.to_string(), "memory.system.numa"),
        SimError::Node(of) => unexpected(error, format!("node.{}", of.key)),
        SimError::Memory(of) => unexpected(error, format!("memory.{}", of.key)),
        SimError::Capacity(CapacityError::TooFew { key, .. } | CapacityError::TooMuch { key, .. }) => {
            unexpected(error, key.clone())
        }
        other => SimulationError::new_err((other.to_string(), Facts { code: code(other), ..Facts::default() })),
    }
}

/// The value of a key fits neither the rest of the scenario nor its workload.
fn unexpected(error: &SimError, key: String) -> PyErr {
    let facts = Facts { code: "unexpected-value", key: Some(key), ..Facts::default() };
    SimulationError::new_err((error.to_string(), facts))
}

/// The kind of refusal of everything that is not about full memories.
fn code(error: &SimError) -> &'static str {
    match error {
        SimError::TooMuchMemory { .. } | SimError::MemoryMet(_) => "memory-limit",
        SimError::TooLarge { .. } => "too-large",
        SimError::Stuck { .. } | SimError::NoProgress(_) | SimError::TooLong { .. } => "endless",
        SimError::Timeline { .. } | SimError::Lines { .. } => "unwritable",
        _ => "cannot-run",
    }
}

/// The policy's exception becomes the cause. Ctrl-C may have struck in the middle of its code.
fn policy(py: Python<'_>, failure: &StrategyFailure) -> PyErr {
    let raised = take_raised();
    if raised.as_ref().is_some_and(|raised| raised.is_instance_of::<PyKeyboardInterrupt>(py)) {
        return Interrupted::new_err("the run was stopped");
    }
    let error = PolicyError::new_err((failure.to_string(), failure.failure.details.clone()));
    error.set_cause(py, raised);
    error
}
