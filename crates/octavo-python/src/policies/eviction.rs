//! Evictors in Python.

use octavo_manager::{Eviction, Failure, Geometry, MemoryId, PageId, Residency};
use pyo3::prelude::*;

use super::call::{About, Caller, Method, Trouble, shown};
use super::memory::{LentResidency, lend_residency};
use super::processors::{integer, number};

/// An evictor whose victims are chosen by a Python object.
pub struct PythonEviction {
    caller: Caller,
    geometry: Geometry,
    victims: Method,
    on_use: Option<Method>,
    on_access: Option<Method>,
    on_evict: Option<Method>,
    on_restore: Option<Method>,
}

impl PythonEviction {
    pub fn new(name: &str, policy: Bound<'_, PyAny>, geometry: Geometry) -> PyResult<Self> {
        let py = policy.py();
        let caller = Caller::started("eviction", name, policy)?;
        let overridden = |method| caller.overridden(py, "EvictionPolicy", method);
        Ok(Self {
            victims: caller.method(py, "victims")?,
            on_use: overridden("on_use")?,
            on_access: overridden("on_access")?,
            on_evict: overridden("on_evict")?,
            on_restore: overridden("on_restore")?,
            caller,
            geometry,
        })
    }

    fn lend<T>(&self, residency: &Residency<'_>, act: impl FnOnce() -> T) -> T {
        lend_residency(&LentResidency { residency, geometry: self.geometry }, act)
    }
}

impl Eviction for PythonEviction {
    fn grow(&mut self, _pages: usize) {}

    fn used(&mut self, holder: MemoryId, page: PageId, memory: &Residency<'_>) {
        let Some(method) = &self.on_use else { return };
        let about = About { occasion: "a use", processor: Some(holder.processor()), page: Some(page) };
        let arguments = |_: Python<'_>| Ok((number(holder.processor()), page.0));
        let _told = self.lend(memory, || self.caller.call(about, method, arguments, |_| Ok(())));
    }

    fn wants_accesses(&self) -> bool {
        self.on_access.is_some()
    }

    fn accessed(&mut self, holder: MemoryId, page: PageId, times: u32, memory: &Residency<'_>) {
        let Some(method) = &self.on_access else { return };
        let about = About { occasion: "an access", processor: Some(holder.processor()), page: Some(page) };
        let arguments = |_: Python<'_>| Ok((number(holder.processor()), page.0, times));
        let _told = self.lend(memory, || self.caller.call(about, method, arguments, |_| Ok(())));
    }

    fn restored(&mut self, holder: MemoryId, page: PageId) {
        let Some(method) = &self.on_restore else { return };
        let about = About { occasion: "a failed plan", processor: Some(holder.processor()), page: Some(page) };
        let _told = self.caller.call(about, method, |_| Ok((number(holder.processor()), page.0)), |_| Ok(()));
    }

    fn victims(&mut self, holder: MemoryId, wanted: u32, all: bool, memory: &Residency<'_>, victims: &mut Vec<PageId>) {
        victims.clear();
        let about = About { occasion: "room in the memory", processor: Some(holder.processor()), page: None };
        let arguments = |_: Python<'_>| Ok((number(holder.processor()), wanted));
        let read = |answer: &Bound<'_, PyAny>| chosen(answer, holder, memory);
        let named = self.lend(memory, || self.caller.call(about, &self.victims, arguments, read)).unwrap_or_default();
        if named.is_empty() || all && named.len() < wanted as usize {
            return;
        }
        if let Some(method) = &self.on_evict {
            let numbers: Vec<u32> = named.iter().map(|page| page.0).collect();
            let arguments = |_: Python<'_>| Ok((number(holder.processor()), numbers));
            let _told = self.lend(memory, || self.caller.call(about, method, arguments, |_| Ok(())));
        }
        victims.extend(named);
    }

    /// Python's own bookkeeping cannot be looked into.
    fn knows(&self, _holder: MemoryId, _page: PageId) -> bool {
        true
    }

    fn bytes(&self) -> usize {
        0
    }

    fn failure(&self) -> Option<Box<Failure>> {
        self.caller.failure()
    }
}

fn chosen(answer: &Bound<'_, PyAny>, from: MemoryId, memory: &Residency<'_>) -> Result<Vec<PageId>, Trouble> {
    const EXPECTED: &str = "an iterable of page numbers";
    let Ok(items) = answer.try_iter() else { return Err(Trouble::nonsense(EXPECTED, shown(answer))) };
    let mut pages = Vec::new();
    for item in items {
        let found = integer(&item?, EXPECTED)?;
        let page = u32::try_from(found).ok().map(PageId).filter(|&page| memory.known(page));
        let Some(page) = page else {
            return Err(Trouble::nonsense("pages of an allocation", format!("page {found}")));
        };
        if !memory.evictable(from, page) {
            let why = if memory.resident(from, page) { "which is in an unfinished plan" } else { "which is not there" };
            let expected = format!("pages in the memory of {from} that are evictable");
            return Err(Trouble::nonsense(expected, format!("page {found}, {why}")));
        }
        pages.push(page);
    }
    let mut sorted = pages.clone();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(twice) => Err(Trouble::nonsense("each page once", format!("page {} twice", twice[0].0))),
        None => Ok(pages),
    }
}
