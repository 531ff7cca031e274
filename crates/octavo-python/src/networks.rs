//! PyTorch's caching allocator.

use octavo_workload::networks::memory::curve;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// What PyTorch's caching allocator has after each event (a block's number where it is handed out, -1 minus the number
/// where it is given back): bytes of blocks, bytes of segments. With `room` for segments, it ends where that runs out.
#[pyfunction]
#[pyo3(signature = (blocks, events, room = None))]
pub fn caching_allocator(
    py: Python<'_>,
    blocks: Vec<u64>,
    events: Vec<i64>,
    room: Option<u64>,
) -> PyResult<(Vec<u64>, Vec<u64>)> {
    let found = py.detach(|| curve(&blocks, &events, room)).map_err(PyValueError::new_err)?;
    Ok((found.allocated, found.reserved))
}
