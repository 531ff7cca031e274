//! A tier in user space.

use std::sync::{Arc, Mutex, PoisonError};

use octavo_tier::{ALLOCATOR, Settings, Tier, TierError, serve};
use octavo_units::Bytes;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors;

/// A tier, shared with the C interface of this library if it is [served](TierHandle::serve).
#[pyclass(frozen)]
pub struct TierHandle(Arc<Mutex<Tier>>);

impl TierHandle {
    /// Without Python's lock, as it may have to wait for a device.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Tier) -> Result<T, TierError> + Send,
    ) -> PyResult<T> {
        // A tier is whole between calls, whoever panicked.
        py.detach(|| work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)))
            .map_err(|error| errors::tier(&error))
    }
}

#[pymethods]
impl TierHandle {
    #[new]
    fn new(py: Python<'_>, settings: &str) -> PyResult<Self> {
        let opened = py.detach(|| Settings::read(settings).and_then(|settings| Tier::open(&settings)));
        let tier = opened.map_err(|error| errors::tier(&error))?;
        Ok(Self(Arc::new(Mutex::new(tier))))
    }

    fn allocate(&self, py: Python<'_>, bytes: u64, device: usize, name: &str) -> PyResult<u64> {
        self.with(py, |tier| tier.allocate(bytes, device, name))
    }

    fn address(&self, py: Python<'_>, buffer: u64, device: usize) -> PyResult<u64> {
        self.with(py, |tier| tier.address(buffer, device))
    }

    fn free(&self, py: Python<'_>, buffer: u64) -> PyResult<()> {
        self.with(py, |tier| tier.free(buffer))
    }

    fn before_launch(&self, py: Python<'_>, device: usize, buffers: Vec<u64>) -> PyResult<()> {
        self.with(py, |tier| tier.before_launch(device, &buffers))
    }

    fn yield_memory(&self, py: Python<'_>, device: usize, keep: u64) -> PyResult<u64> {
        self.with(py, |tier| tier.yield_memory(device, Bytes(keep))).map(|bytes| bytes.0)
    }

    fn take_memory(&self, py: Python<'_>, device: usize, bytes: u64) -> PyResult<()> {
        self.with(py, |tier| tier.take_memory(device, Bytes(bytes)))
    }

    fn write(&self, py: Python<'_>, buffer: u64, offset: u64, bytes: &[u8]) -> PyResult<()> {
        self.with(py, |tier| tier.write(buffer, offset, bytes))
    }

    fn read<'py>(&self, py: Python<'py>, buffer: u64, offset: u64, count: u64) -> PyResult<Bound<'py, PyBytes>> {
        let found = self.with(py, |tier| {
            tier.check(buffer, offset, count)?;
            let mut bytes = vec![0; count as usize];
            tier.read(buffer, offset, &mut bytes).map(|()| bytes)
        })?;
        Ok(PyBytes::new(py, &found))
    }

    /// As JSON.
    fn status(&self, py: Python<'_>) -> PyResult<String> {
        let status = self.with(py, |tier| Ok(tier.status()))?;
        Ok(serde_json::to_string(&status).expect("a status is JSON"))
    }

    /// The C interface of this library is about this tier from now on.
    fn serve(&self) {
        serve(Some(Arc::clone(&self.0)));
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, Tier::close)
    }
}

/// The names by which an allocator is found in this library.
#[pyfunction]
pub fn tier_allocator() -> [&'static str; 2] {
    ALLOCATOR
}
