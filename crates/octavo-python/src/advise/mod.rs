//! Host or device: the models of `octavo-advise`, numbers and JSON in, numbers and JSON out.

pub mod models;
pub mod roofline;

use std::fmt::Display;

use pyo3::PyErr;
use pyo3::exceptions::PyValueError;

/// A question that cannot be answered, in the model's own words.
fn refused(error: impl Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}
