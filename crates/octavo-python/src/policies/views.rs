//! Views for policies: immutable copies, taken at the time of the call.

use octavo_manager::{Access, Geometry, Mode, PageId, PageRun, PageView, Scheme};
use pyo3::prelude::*;
use pyo3::types::{PyFrozenSet, PyRange};

use super::processors::{number, set};

/// The pages of a run as a Python range.
pub fn range(py: Python<'_>, run: PageRun) -> PyResult<Bound<'_, PyRange>> {
    PyRange::new(py, run.first.0 as isize, run.first.0 as isize + run.count as isize)
}

/// Sizes of the node.
#[pyclass(frozen, module = "octavo.policies")]
#[derive(Clone, Copy)]
pub struct Node {
    pub geometry: Geometry,
}

#[pymethods]
impl Node {
    /// GPUs, numbered from 0.
    #[getter]
    fn gpus(&self) -> usize {
        self.geometry.gpus
    }

    /// Bytes of a page.
    #[getter]
    fn page_bytes(&self) -> u64 {
        self.geometry.page_size.0
    }

    /// Pages of a block of 2 MiB, the span that prefetchers and block evictors work on.
    #[getter]
    fn block_pages(&self) -> u32 {
        self.geometry.block_pages()
    }

    /// Pages that share an access counter: 64 KiB of them, at least one.
    #[getter]
    fn counter_group_pages(&self) -> u32 {
        self.geometry.counter_group_pages()
    }

    fn __repr__(&self) -> String {
        format!("Node(gpus={}, page_bytes={})", self.gpus(), self.page_bytes())
    }
}

/// An access that a processor's page table could not serve.
#[pyclass(frozen, module = "octavo.policies")]
pub struct Fault {
    pub fault: octavo_manager::Fault,
    pub page_bytes: u64,
}

#[pymethods]
impl Fault {
    /// The processor that touched the page: a GPU from 0, or HOST.
    #[getter]
    fn processor(&self) -> i32 {
        number(self.fault.processor)
    }

    /// Number of the page: its address divided by the page size.
    #[getter]
    fn page(&self) -> u32 {
        self.fault.page.0
    }

    /// First address of the page, in bytes.
    #[getter]
    fn address(&self) -> u64 {
        u64::from(self.fault.page.0) * self.page_bytes
    }

    /// Whether it was a store or an atomic, or a load.
    #[getter]
    fn write(&self) -> bool {
        self.fault.access == Access::Write
    }

    fn __repr__(&self) -> String {
        let write = if self.write() { "True" } else { "False" };
        format!("Fault(processor={}, page={}, write={write})", self.processor(), self.page())
    }
}

/// Where a page is and who can reach it.
#[pyclass(frozen, module = "octavo.policies")]
pub struct Page {
    pub view: PageView,
    pub page_bytes: u64,
}

#[pymethods]
impl Page {
    /// Its address divided by the page size.
    #[getter]
    fn number(&self) -> u32 {
        self.view.page.0
    }

    /// Its first address, in bytes.
    #[getter]
    fn address(&self) -> u64 {
        u64::from(self.view.page.0) * self.page_bytes
    }

    /// The processor whose copy remote mappings point at and that is written back on eviction.
    #[getter]
    fn owner(&self) -> i32 {
        number(self.view.owner.processor())
    }

    /// Processors whose memories hold a copy.
    #[getter]
    fn resident<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyFrozenSet>> {
        set(py, self.view.resident.processors())
    }

    /// Processors that can access it without a far fault.
    #[getter]
    fn mapped<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyFrozenSet>> {
        set(py, self.view.mapped)
    }

    /// Processors that can write it without a protection fault.
    #[getter]
    fn writable<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyFrozenSet>> {
        set(py, self.view.writable)
    }

    /// Whether a memory holds it: not if it is untouched since it was allocated.
    #[getter]
    fn populated(&self) -> bool {
        self.view.populated()
    }

    /// Whether more than one memory holds a copy.
    #[getter]
    fn replicated(&self) -> bool {
        self.view.replicated()
    }

    /// Whether an unfinished plan names it.
    #[getter]
    fn busy(&self) -> bool {
        self.view.busy
    }

    /// Whether a GPU ever faulted on it since it was allocated, this fault not counted.
    #[getter]
    fn touched(&self) -> bool {
        self.view.touched
    }

    /// How its copies relate: `plain`, `broadcast`, `everywhere`, or `spare` for a victim that a GPU keeps for others.
    #[getter]
    fn mode(&self) -> &'static str {
        match self.view.mode {
            Mode::Plain => "plain",
            Mode::Broadcast => "broadcast",
            Mode::Everywhere => "everywhere",
            Mode::Spare => "spare",
        }
    }

    /// The scheme that a placement wrote into its entry, if any.
    #[getter]
    fn scheme(&self) -> Option<&'static str> {
        Scheme::of(&self.view).map(scheme_name)
    }

    fn __repr__(&self) -> String {
        format!("Page(number={}, owner={})", self.number(), self.owner())
    }
}

pub const SCHEMES: [Scheme; 3] = [Scheme::OnTouch, Scheme::AccessCounter, Scheme::Duplication];

/// A scheme as summaries name it.
pub fn scheme_name(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::OnTouch => "on_touch",
        Scheme::AccessCounter => "access_counter",
        Scheme::Duplication => "duplication",
    }
}

/// An access counter that reached its threshold.
#[pyclass(frozen, module = "octavo.policies")]
pub struct CounterNotification {
    pub notification: octavo_manager::CounterNotification,
    pub group: PageRun,
}

#[pymethods]
impl CounterNotification {
    /// Which GPU accessed remotely.
    #[getter]
    fn processor(&self) -> i32 {
        number(self.notification.processor)
    }

    /// Number of the page whose access made the counter reach the threshold.
    #[getter]
    fn page(&self) -> u32 {
        self.notification.page.0
    }

    /// Numbers of the pages that share the counter, that one among them.
    #[getter]
    fn group<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyRange>> {
        range(py, self.group)
    }

    fn __repr__(&self) -> String {
        format!("CounterNotification(processor={}, page={})", self.processor(), self.page())
    }
}

/// Accesses of one GPU to one page since the last report.
#[pyclass(frozen, module = "octavo.policies")]
pub struct AccessCount {
    pub count: octavo_manager::AccessCount,
}

#[pymethods]
impl AccessCount {
    /// The accessing processor.
    #[getter]
    fn processor(&self) -> i32 {
        number(self.count.processor)
    }

    /// Number of the page.
    #[getter]
    fn page(&self) -> u32 {
        self.count.page.0
    }

    /// Lines of 64 bytes that left the first-level cache.
    #[getter]
    fn lines(&self) -> u32 {
        self.count.lines
    }

    fn __repr__(&self) -> String {
        format!("AccessCount(processor={}, page={}, lines={})", self.processor(), self.page(), self.lines())
    }
}

/// Pages of one block that migrate to one processor because of faults.
#[pyclass(frozen, module = "octavo.policies")]
pub struct Service {
    pub service: octavo_manager::Service,
}

impl Service {
    /// Page numbers of those at these places in the block.
    fn numbers(&self, places: impl Iterator<Item = u32>) -> Vec<u32> {
        let PageId(first) = self.service.block.first;
        places.map(|place| first + place).collect()
    }
}

#[pymethods]
impl Service {
    /// The receiver: a GPU from 0, or HOST.
    #[getter]
    fn destination(&self) -> i32 {
        number(self.service.destination)
    }

    /// Numbers of the pages of the 2 MiB block.
    #[getter]
    fn block<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyRange>> {
        range(py, self.service.block)
    }

    /// The pages among them that belong to the faulting pages' allocation.
    #[getter]
    fn extent<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyRange>> {
        range(py, self.service.extent)
    }

    /// Demanded pages that migrate, ascending.
    #[getter]
    fn faulted(&self) -> Vec<u32> {
        self.numbers(self.service.faulted.iter())
    }

    /// Whether anything had left the destination to make room before these faults were served.
    #[getter]
    fn was_full(&self) -> bool {
        self.service.was_full
    }

    /// Pages that are at the destination, those among them.
    #[getter]
    fn resident<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyFrozenSet>> {
        PyFrozenSet::new(py, self.numbers(self.service.resident.iter()))
    }

    /// Pages that processors fight over, in the guard's eyes: they do not come along.
    #[getter]
    fn contested<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyFrozenSet>> {
        PyFrozenSet::new(py, self.numbers(self.service.contested.iter()))
    }

    fn __repr__(&self) -> String {
        format!("Service(destination={}, faulted={:?})", self.destination(), self.faulted())
    }
}
