//! Demotions in Python.

use octavo_manager::{Demotion, Failure, Geometry, HOST_MEMORY, MemoryId};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use scoped_tls_hkt::scoped_thread_local;

use super::call::{About, Caller, Method, Trouble, shown};
use super::memory::not_now;
use super::processors::{integer, number, processor};

/// A demotion whose destinations come from a Python object. Methods that it does not override are never called.
pub struct PythonDemotion {
    caller: Caller,
    gpus: usize,
    destination: Option<Method>,
    /// Its answer when it was asked, once.
    reserve: u32,
}

impl PythonDemotion {
    pub fn new(name: &str, policy: Bound<'_, PyAny>, geometry: Geometry) -> PyResult<Self> {
        let py = policy.py();
        let caller = Caller::started("demotion", name, policy)?;
        let overridden = |method| caller.overridden(py, "DemotionPolicy", method);
        let (destination, reserve) = (overridden("destination")?, overridden("reserve")?);
        let asked = reserve.and_then(|method| caller.call(About::nothing("the node"), &method, |_| Ok(()), pages));
        Ok(Self { caller, gpus: geometry.gpus, destination, reserve: asked.unwrap_or(0) })
    }
}

impl Demotion for PythonDemotion {
    fn destination(&mut self, from: MemoryId, pages: u32, memories: &octavo_manager::Occupancy<'_>) -> MemoryId {
        let Some(method) = &self.destination else { return HOST_MEMORY };
        let about = About { occasion: "victims", processor: Some(from.processor()), page: None };
        let arguments = |_: Python<'_>| Ok((number(from.processor()), pages));
        let read = |answer: &Bound<'_, PyAny>| elsewhere(answer, from, self.gpus);
        let lent = LentOccupancy { memories, gpus: self.gpus };
        OCCUPANCY.set(&lent, || self.caller.call(about, method, arguments, read)).unwrap_or(HOST_MEMORY)
    }

    fn reserve(&self) -> u32 {
        self.reserve
    }

    fn failure(&self) -> Option<Box<Failure>> {
        self.caller.failure()
    }
}

/// Another memory than `from`.
fn elsewhere(answer: &Bound<'_, PyAny>, from: MemoryId, gpus: usize) -> Result<MemoryId, Trouble> {
    let to = processor(integer(answer, "a processor: a GPU, or HOST")?, gpus)?.memory();
    if to == from {
        return Err(Trouble::nonsense("HOST or another GPU than the one whose memory is full", shown(answer)));
    }
    Ok(to)
}

fn pages(answer: &Bound<'_, PyAny>) -> Result<u32, Trouble> {
    const EXPECTED: &str = "a number of pages from 0";
    u32::try_from(integer(answer, EXPECTED)?).map_err(|_| Trouble::nonsense(EXPECTED, shown(answer)))
}

/// The data that a demotion may use during a call.
struct LentOccupancy<'a> {
    memories: &'a octavo_manager::Occupancy<'a>,
    gpus: usize,
}

scoped_thread_local!(static OCCUPANCY: for<'a> &'a LentOccupancy<'a>);

/// How full the GPUs' memories are, as a demotion policy sees it while `destination` is called.
#[pyclass(frozen, module = "octavo.policies")]
#[derive(Default)]
pub struct Occupancy;

impl Occupancy {
    fn of<T>(gpu: i64, ask: impl FnOnce(&octavo_manager::Occupancy<'_>, MemoryId) -> T) -> PyResult<T> {
        if !OCCUPANCY.is_set() {
            return Err(not_now());
        }
        OCCUPANCY.with(|lent| {
            let known = usize::try_from(gpu).ok().filter(|&gpu| gpu < lent.gpus);
            let last = lent.gpus - 1;
            let known =
                known.ok_or_else(|| PyValueError::new_err(format!("expected a GPU from 0 to {last}, found {gpu}")))?;
            Ok(ask(lent.memories, MemoryId::gpu(known)))
        })
    }
}

#[pymethods]
impl Occupancy {
    #[new]
    fn new() -> Self {
        Self
    }

    /// Pages that a GPU's memory has room for now, without those that unfinished plans will bring or take away.
    fn spare(&self, gpu: i64) -> PyResult<u32> {
        Self::of(gpu, |memories, memory| memories.spare(memory))
    }

    /// Pages of 2 MiB blocks that a GPU keeps for others and that the host has a copy of, without the block that
    /// seeks room.
    fn removable(&self, gpu: i64) -> PyResult<u32> {
        Self::of(gpu, |memories, memory| memories.removable(memory))
    }

    /// 2 MiB blocks that a GPU keeps for others and that the host has yet to get a copy of.
    fn awaiting(&self, gpu: i64) -> PyResult<u32> {
        Self::of(gpu, |memories, memory| memories.awaiting(memory))
    }

    /// Pages that a GPU's memory has room for in all.
    fn capacity(&self, gpu: i64) -> PyResult<u32> {
        Self::of(gpu, |memories, memory| memories.capacity(memory))
    }
}
