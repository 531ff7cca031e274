//! Processors as Python sees them: GPUs from 0, the host is -1.

use octavo_manager::{HOST, ProcessorId, ProcessorMask};
use pyo3::prelude::*;
use pyo3::types::{PyFrozenSet, PyInt};

use super::call::{Trouble, shown};

pub fn number(processor: ProcessorId) -> i32 {
    i32::from(processor.0) - 1
}

pub fn set(py: Python<'_>, processors: ProcessorMask) -> PyResult<Bound<'_, PyFrozenSet>> {
    PyFrozenSet::new(py, processors.iter().map(number))
}

/// The processor with this number, if a node of `gpus` has it.
pub fn processor(number: i64, gpus: usize) -> Result<ProcessorId, Trouble> {
    match usize::try_from(number) {
        Ok(gpu) if gpu < gpus => Ok(ProcessorId::gpu(gpu)),
        _ if number == -1 => Ok(HOST),
        _ => {
            let last = gpus - 1;
            Err(Trouble::nonsense(format!("a processor: a GPU from 0 to {last}, or HOST"), number.to_string()))
        }
    }
}

/// A page or processor number; truth values are none, though Python counts them as integers.
pub fn integer(value: &Bound<'_, PyAny>, expected: &str) -> Result<i64, Trouble> {
    if !value.is_exact_instance_of::<PyInt>() {
        return Err(Trouble::nonsense(expected, shown(value)));
    }
    value.extract().map_err(|_| Trouble::nonsense(expected, shown(value)))
}
