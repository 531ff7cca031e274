//! The node's pages, to be looked at during a call of a policy and never after it.
//!
//! A strategy borrows them for a call; the Python objects for them reach the data lent by the current call.

use octavo_manager::{Context, Geometry, MemoryId, PageId, PageRun, PageView, ProcessorId, Scheme};
use octavo_units::Time;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyRange;
use scoped_tls_hkt::scoped_thread_local;

use super::call::Trouble;
use super::processors::processor;
use super::views::{Page, SCHEMES, range, scheme_name};

/// The data that a placement may use during a call: its context, with all that it borrows.
pub trait Lent {
    fn geometry(&self) -> Geometry;
    fn page(&self, page: PageId) -> PageView;
    fn allocations(&self) -> &[PageRun];
    fn held(&self, processor: ProcessorId) -> u32;
    fn now(&self) -> Time;
    fn can_map(&self, processor: ProcessorId, memory: MemoryId) -> bool;
    fn is_fast(&self, processor: ProcessorId, memory: MemoryId) -> bool;
    fn decides(&self, page: PageId) -> bool;
    fn set_scheme(&mut self, page: PageId, scheme: Scheme);
    fn charge(&mut self, metadata: u32, overlapped: u32);
}

impl Lent for Context<'_> {
    fn geometry(&self) -> Geometry {
        self.geometry()
    }

    fn page(&self, page: PageId) -> PageView {
        self.page(page)
    }

    fn allocations(&self) -> &[PageRun] {
        self.allocations()
    }

    fn held(&self, processor: ProcessorId) -> u32 {
        self.held(processor.memory())
    }

    fn now(&self) -> Time {
        self.now()
    }

    fn can_map(&self, processor: ProcessorId, memory: MemoryId) -> bool {
        self.can_map(processor, memory)
    }

    fn is_fast(&self, processor: ProcessorId, memory: MemoryId) -> bool {
        self.is_fast(processor, memory)
    }

    fn decides(&self, page: PageId) -> bool {
        self.allocated(page)
    }

    fn set_scheme(&mut self, page: PageId, scheme: Scheme) {
        scheme.write(page, self);
    }

    fn charge(&mut self, metadata: u32, overlapped: u32) {
        self.charge_metadata(metadata);
        self.charge_overlapped(overlapped);
    }
}

/// The data that an eviction strategy may use during a call, and the sizes of the node.
pub struct LentResidency<'a> {
    pub residency: &'a octavo_manager::Residency<'a>,
    pub geometry: Geometry,
}

scoped_thread_local!(static mut CONTEXT: for<'a> &'a mut (dyn Lent + 'a));
scoped_thread_local!(static RESIDENCY: for<'a> &'a LentResidency<'a>);

/// Lends `context` to [`Memory`] while `act` runs.
pub fn lend<T>(context: &mut Context<'_>, act: impl FnOnce() -> T) -> T {
    CONTEXT.set(context, act)
}

/// Lends `residency` to [`Residency`] while `act` runs.
pub fn lend_residency<T>(residency: &LentResidency<'_>, act: impl FnOnce() -> T) -> T {
    RESIDENCY.set(residency, act)
}

pub fn not_now() -> PyErr {
    PyRuntimeError::new_err("the memory can be looked at only while a method of the policy is called by the node")
}

fn existing(number: i64, gpus: usize) -> PyResult<ProcessorId> {
    processor(number, gpus).map_err(|trouble| match trouble {
        Trouble::Nonsense { expected, found } => PyValueError::new_err(format!("expected {expected}, found {found}")),
        Trouble::Raised(error) => error,
    })
}

fn allocated(number: i64, view: impl Fn(PageId) -> PageView) -> Option<PageView> {
    u32::try_from(number).ok().map(|number| view(PageId(number))).filter(|view| view.allocated)
}

fn demanded(number: i64, view: impl Fn(PageId) -> PageView) -> PyResult<PageView> {
    allocated(number, view).ok_or_else(|| PyValueError::new_err(format!("page {number} is not part of an allocation")))
}

/// The node's pages as a placement sees them, during a call of one of its methods.
#[pyclass(frozen, module = "octavo.policies")]
#[derive(Default)]
pub struct Memory;

impl Memory {
    fn with<T>(act: impl FnOnce(&mut dyn Lent) -> PyResult<T>) -> PyResult<T> {
        if CONTEXT.is_set() { CONTEXT.with(act) } else { Err(not_now()) }
    }
}

#[pymethods]
impl Memory {
    #[new]
    fn new() -> Self {
        Self
    }

    /// Everything known about a page.
    fn page(&self, number: i64) -> PyResult<Page> {
        Self::with(|lent| {
            let view = demanded(number, |page| lent.page(page))?;
            Ok(Page { view, page_bytes: lent.geometry().page_size.0 })
        })
    }

    /// Whether a page is part of an allocation.
    fn allocated(&self, number: i64) -> PyResult<bool> {
        Self::with(|lent| Ok(allocated(number, |page| lent.page(page)).is_some()))
    }

    /// Pages of each allocation, ascending.
    fn allocations<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyRange>>> {
        Self::with(|lent| lent.allocations().iter().map(|&run| range(py, run)).collect())
    }

    /// Pages of memory in use on a processor, those that unfinished plans will fill among them.
    fn used(&self, processor: i64) -> PyResult<u32> {
        Self::with(|lent| Ok(lent.held(existing(processor, lent.geometry().gpus)?)))
    }

    /// The time of the present call, in picoseconds since the run began.
    #[getter]
    fn now(&self) -> PyResult<u64> {
        Self::with(|lent| Ok(lent.now().0))
    }

    /// Whether a processor can map another's memory; its own it always can.
    fn can_map(&self, processor: i64, memory: i64) -> PyResult<bool> {
        Self::with(|lent| {
            let gpus = lent.geometry().gpus;
            Ok(lent.can_map(existing(processor, gpus)?, existing(memory, gpus)?.memory()))
        })
    }

    /// Whether a processor can map another's memory and reaches it by a fast link: between GPUs one that carries more
    /// than theirs to the host, and any of a coherent node.
    fn is_fast(&self, processor: i64, memory: i64) -> PyResult<bool> {
        Self::with(|lent| {
            let gpus = lent.geometry().gpus;
            Ok(lent.is_fast(existing(processor, gpus)?, existing(memory, gpus)?.memory()))
        })
    }

    /// Writes a scheme into a page's entry, where summaries count it. No copy and no mapping changes.
    fn set_scheme(&self, number: i64, scheme: &str) -> PyResult<()> {
        let found = SCHEMES.into_iter().find(|&known| scheme_name(known) == scheme);
        let names = SCHEMES.map(scheme_name).join(", ");
        let found = found.ok_or_else(|| PyValueError::new_err(format!("expected one of {names}, found {scheme}")))?;
        Self::with(|lent| {
            let view = demanded(number, |page| lent.page(page))?;
            if !lent.decides(view.page) {
                return Err(PyValueError::new_err(format!("page {number} is another placement's to decide about")));
            }
            lent.set_scheme(view.page, found);
            Ok(())
        })
    }

    /// The decision needs accesses to metadata in host memory: before anything else, or in parallel with the host's
    /// walk.
    #[pyo3(signature = (metadata, *, overlapped=0))]
    fn charge(&self, metadata: u32, overlapped: u32) -> PyResult<()> {
        Self::with(|lent| {
            lent.charge(metadata, overlapped);
            Ok(())
        })
    }
}

/// Which pages are where, as an eviction policy sees it, during a call of one of its methods.
#[pyclass(frozen, module = "octavo.policies")]
#[derive(Default)]
pub struct Residency;

impl Residency {
    fn with<T>(act: impl FnOnce(&LentResidency<'_>) -> PyResult<T>) -> PyResult<T> {
        if RESIDENCY.is_set() { RESIDENCY.with(act) } else { Err(not_now()) }
    }

    /// Asks about an allocated page of a processor; `false` for pages that are not allocated.
    fn ask(
        processor: i64,
        number: i64,
        ask: impl FnOnce(&octavo_manager::Residency<'_>, MemoryId, PageId) -> bool,
    ) -> PyResult<bool> {
        Self::with(|lent| {
            let processor = existing(processor, lent.geometry.gpus)?;
            let view = allocated(number, |page| lent.residency.page(page));
            Ok(view.is_some_and(|view| ask(lent.residency, processor.memory(), view.page)))
        })
    }
}

#[pymethods]
impl Residency {
    #[new]
    fn new() -> Self {
        Self
    }

    /// Everything known about a page.
    fn page(&self, number: i64) -> PyResult<Page> {
        Self::with(|lent| {
            let view = demanded(number, |page| lent.residency.page(page))?;
            Ok(Page { view, page_bytes: lent.geometry.page_size.0 })
        })
    }

    /// Whether a page takes up memory of a processor.
    fn holds(&self, processor: i64, page: i64) -> PyResult<bool> {
        Self::ask(processor, page, |residency, memory, page| residency.resident(memory, page))
    }

    /// Whether a page takes up memory of a processor and is in no unfinished plan: only such pages can be victims.
    fn evictable(&self, processor: i64, page: i64) -> PyResult<bool> {
        Self::ask(processor, page, |residency, memory, page| residency.evictable(memory, page))
    }

    /// Whether a page takes up memory of a processor, or could again because a plan that holds it may fail.
    fn may_return(&self, processor: i64, page: i64) -> PyResult<bool> {
        Self::ask(processor, page, |residency, memory, page| residency.may_return(memory, page))
    }

    /// Numbers of the pages of the 2 MiB block that contains a page.
    fn block<'py>(&self, py: Python<'py>, page: i64) -> PyResult<Bound<'py, PyRange>> {
        Self::with(|lent| {
            let view = demanded(page, |page| lent.residency.page(page))?;
            range(py, lent.residency.block(view.page))
        })
    }

    /// Pages of that block that take up memory of a processor, ascending.
    fn resident_in_block(&self, processor: i64, page: i64) -> PyResult<Vec<u32>> {
        Self::with(|lent| {
            let processor = existing(processor, lent.geometry.gpus)?;
            let view = demanded(page, |page| lent.residency.page(page))?;
            let PageId(first) = lent.residency.block(view.page).first;
            Ok(lent
                .residency
                .resident_in_block(processor.memory(), view.page)
                .iter()
                .map(|place| first + place)
                .collect())
        })
    }
}
