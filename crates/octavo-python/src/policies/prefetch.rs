//! Prefetchers in Python.

use octavo_manager::{BlockMap, Failure, PageRun, Prefetch, Service};
use pyo3::prelude::*;

use super::answers::page_within;
use super::call::{About, Caller, Method, Trouble, shown};
use super::views::{self, range};

/// A prefetcher whose wishes are a Python object's.
pub struct PythonPrefetch {
    caller: Caller,
    serves_blocks: bool,
    pages: Method,
    on_free: Option<Method>,
}

impl PythonPrefetch {
    pub fn new(name: &str, policy: Bound<'_, PyAny>) -> PyResult<Self> {
        let py = policy.py();
        let caller = Caller::started("prefetch", name, policy)?;
        Ok(Self {
            serves_blocks: caller.attribute(py, "serves_blocks")?,
            pages: caller.method(py, "pages")?,
            on_free: caller.overridden(py, "PrefetchPolicy", "on_free")?,
            caller,
        })
    }
}

impl Prefetch for PythonPrefetch {
    fn serves_blocks(&self) -> bool {
        self.serves_blocks
    }

    fn freed(&mut self, run: PageRun) {
        let Some(method) = &self.on_free else { return };
        let about = About::page("freed memory", run.first);
        let _told = self.caller.call(about, method, |py| Ok((range(py, run)?.unbind(),)), |_| Ok(()));
    }

    fn pages(&mut self, service: &Service) -> BlockMap {
        let first = service.faulted.iter().next().map(|place| octavo_manager::PageId(service.block.first.0 + place));
        let about = About { occasion: "faults", processor: Some(service.destination), page: first };
        let arguments = |py: Python<'_>| Ok((Py::new(py, views::Service { service: *service })?,));
        let read = |answer: &Bound<'_, PyAny>| wishes(answer, service.block);
        self.caller.call(about, &self.pages, arguments, read).unwrap_or(BlockMap::EMPTY)
    }

    fn failure(&self) -> Option<Box<Failure>> {
        self.caller.failure()
    }
}

fn wishes(answer: &Bound<'_, PyAny>, block: PageRun) -> Result<BlockMap, Trouble> {
    let Ok(items) = answer.try_iter() else {
        return Err(Trouble::nonsense("an iterable of page numbers", shown(answer)));
    };
    let mut wanted = BlockMap::EMPTY;
    for item in items {
        let page = page_within(&item?, block, "pages of the faults' block")?;
        wanted.insert(page.0 - block.first.0);
    }
    Ok(wanted)
}
