//! What Python raised where the engine knows texts alone.

use std::cell::RefCell;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::errors::Interrupted;

thread_local! {
    /// What generating a workload raised last on this thread, and its words.
    static RAISED: RefCell<Option<(String, PyErr)>> = const { RefCell::new(None) };
}

/// Keeps what was raised; returns its words.
pub fn kept(error: PyErr) -> String {
    let words = Python::attach(|py| error.value(py).to_string());
    RAISED.set(Some((words.clone(), error)));
    words
}

/// Forgets what an earlier call raised, which may not have ended in it.
pub fn forget_raised() {
    drop(RAISED.take());
}

/// The result, or in place of the engine's error what generating the workload raised, if that is what it says.
pub fn or_raised<T>(result: PyResult<T>) -> PyResult<T> {
    result.map_err(|error| {
        let said = Python::attach(|py| error.value(py).to_string());
        match RAISED.take() {
            Some((_, raised)) if Python::attach(|py| raised.is_instance_of::<PyKeyboardInterrupt>(py)) => {
                Interrupted::new_err("the run was stopped")
            }
            Some((words, raised)) if said.contains(&words) => raised,
            _ => error,
        }
    })
}
