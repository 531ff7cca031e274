//! Guards in Python.

use octavo_manager::{Context, Failure, Fault, Geometry, Hint, MemoryId, PageId, PageRun, PageView, ThrashingGuard};
use octavo_units::Time;
use pyo3::prelude::*;

use super::answers::{self, each};
use super::call::{About, Caller, Method, Trouble, shown};
use super::memory::lend;
use super::processors::{integer, number};
use super::views::{self, range};

/// A guard whose hints are a Python object's. Methods that it does not override are never called.
pub struct PythonGuard {
    caller: Caller,
    geometry: Geometry,
    on_fault: Method,
    on_move: Option<Method>,
    on_overrule: Option<Method>,
    on_free: Option<Method>,
    keeps: Option<Method>,
    deadline: Option<Method>,
    on_deadline: Option<Method>,
    /// Its last answer about its deadline.
    next: Option<Time>,
}

impl PythonGuard {
    pub fn new(name: &str, policy: Bound<'_, PyAny>, geometry: Geometry) -> PyResult<Self> {
        let py = policy.py();
        let caller = Caller::started("guard", name, policy)?;
        let overridden = |method| caller.overridden(py, "GuardPolicy", method);
        Ok(Self {
            on_fault: caller.method(py, "on_fault")?,
            on_move: overridden("on_move")?,
            on_overrule: overridden("on_overrule")?,
            on_free: overridden("on_free")?,
            keeps: overridden("keeps")?,
            deadline: overridden("deadline")?,
            on_deadline: overridden("on_deadline")?,
            next: None,
            caller,
            geometry,
        })
    }

    /// Sets the next call: after `after`, if that is known.
    fn ask_deadline(&mut self, after: Option<Time>) {
        let Some(method) = &self.deadline else { return };
        let read = |answer: &Bound<'_, PyAny>| time(answer, after);
        self.next = self.caller.call(About::nothing("its deadline"), method, |_| Ok(()), read).flatten();
    }

    /// Tells the policy about pages.
    fn tell(&self, occasion: &'static str, method: Option<&Method>, run: PageRun) {
        let Some(method) = method else { return };
        let about = About::page(occasion, run.first);
        let _told = self.caller.call(about, method, |py| Ok((range(py, run)?.unbind(),)), |_| Ok(()));
    }
}

impl ThrashingGuard for PythonGuard {
    fn on_fault(&mut self, fault: &Fault, page: &PageView, context: &mut Context<'_>) -> Hint {
        let (bytes, now) = (self.geometry.page_size.0, context.now());
        let shown = views::Fault { fault: *fault, page_bytes: bytes };
        let arguments =
            |py: Python<'_>| Ok((Py::new(py, shown)?, Py::new(py, views::Page { view: *page, page_bytes: bytes })?));
        let read = |answer: &Bound<'_, PyAny>| answers::Hint::read(answer, self.geometry.gpus, now);
        let hint = lend(context, || self.caller.call(About::fault(fault), &self.on_fault, arguments, read));
        self.ask_deadline(None);
        hint.unwrap_or(Hint::Pass)
    }

    fn moved(&mut self, pages: PageRun, to: MemoryId, context: &mut Context<'_>) {
        let Some(method) = &self.on_move else { return };
        let about = About { occasion: "a move", processor: Some(to.processor()), page: Some(pages.first) };
        let arguments = |py: Python<'_>| Ok((range(py, pages)?.unbind(), number(to.processor())));
        let _told = lend(context, || self.caller.call(about, method, arguments, |_| Ok(())));
        self.ask_deadline(None);
    }

    fn overruled(&mut self, pages: PageRun) {
        self.tell("a move that the program asked for", self.on_overrule.as_ref(), pages);
        self.ask_deadline(None);
    }

    fn freed(&mut self, pages: PageRun) {
        self.tell("freed memory", self.on_free.as_ref(), pages);
        self.ask_deadline(None);
    }

    fn keeps(&self, page: PageId) -> bool {
        let Some(method) = &self.keeps else { return false };
        let about = About::page("a page that could move", page);
        let read = |answer: &Bound<'_, PyAny>| {
            answer.extract::<bool>().map_err(|_| Trouble::nonsense("True or False", shown(answer)))
        };
        self.caller.call(about, method, |_| Ok((page.0,)), read).unwrap_or(false)
    }

    fn deadline(&self) -> Option<Time> {
        self.next
    }

    fn on_deadline(&mut self, context: &mut Context<'_>, unpinned: &mut Vec<PageId>) {
        let now = context.now();
        if let Some(method) = &self.on_deadline {
            let read = |answer: &Bound<'_, PyAny>| each(answer, page);
            let about = About::nothing("its deadline");
            unpinned.extend(lend(context, || self.caller.call(about, method, |_| Ok(()), read)).unwrap_or_default());
        }
        self.next = None;
        self.ask_deadline(Some(now));
    }

    fn failure(&self) -> Option<Box<Failure>> {
        self.caller.failure()
    }
}

/// A page by its number; those that are gone are passed over later.
fn page(value: &Bound<'_, PyAny>) -> Result<PageId, Trouble> {
    const EXPECTED: &str = "page numbers";
    let number = integer(value, EXPECTED)?;
    u32::try_from(number).map(PageId).map_err(|_| Trouble::nonsense(EXPECTED, shown(value)))
}

/// A time in picoseconds, later than `after`, or nothing.
fn time(value: &Bound<'_, PyAny>, after: Option<Time>) -> Result<Option<Time>, Trouble> {
    if value.is_none() {
        return Ok(None);
    }
    answers::later(value, after, "a time in picoseconds, or None").map(Some)
}
