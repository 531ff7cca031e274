//! Placements in Python.

use octavo_manager::{
    AccessCount, Attribute, Context, CounterNotification, Decision, Failure, Fault, Geometry, KernelEnd, Move, Needs,
    PageId, PageRun, PageView, Placement, SCHEME, Unsubscribe,
};
use pyo3::prelude::*;

use super::answers::{self, each, run_within};
use super::call::{About, Caller, Method, Trouble};
use super::memory::lend;
use super::views::{self, range};

/// A placement whose decisions are made by a Python object. Methods that it does not override are never called.
pub struct PythonPlacement {
    caller: Caller,
    geometry: Geometry,
    needs: Needs,
    on_fault: Method,
    on_counter: Option<Method>,
    on_allocate: Option<Method>,
    on_free: Option<Method>,
    on_report: Option<Method>,
    on_kernel_end: Option<Method>,
    may_prefetch: Option<Method>,
}

impl PythonPlacement {
    pub fn new(name: &str, policy: Bound<'_, PyAny>, geometry: Geometry) -> PyResult<Self> {
        let py = policy.py();
        let caller = Caller::started("placement", name, policy)?;
        let overridden = |method| caller.overridden(py, "PlacementPolicy", method);
        let needs = match overridden("needs")? {
            Some(needs) => caller.call(
                About::nothing("the node"),
                &needs,
                |_| Ok(()),
                |answer| answers::Needs::read(answer, geometry.counter_group_pages()),
            ),
            None => None,
        };
        Ok(Self {
            needs: needs.unwrap_or_default(),
            on_fault: caller.method(py, "on_fault")?,
            on_counter: overridden("on_counter")?,
            on_allocate: overridden("on_allocate")?,
            on_free: overridden("on_free")?,
            on_report: overridden("on_report")?,
            on_kernel_end: overridden("on_kernel_end")?,
            may_prefetch: overridden("may_prefetch")?,
            caller,
            geometry,
        })
    }

    fn page(&self, view: &PageView) -> views::Page {
        views::Page { view: *view, page_bytes: self.geometry.page_size.0 }
    }

    /// Tells the policy about pages.
    fn tell(&self, occasion: &'static str, method: Option<&Method>, run: PageRun, context: &mut Context<'_>) {
        let Some(method) = method else { return };
        let about = About::page(occasion, run.first);
        let _told = lend(context, || self.caller.call(about, method, |py| Ok((range(py, run)?.unbind(),)), |_| Ok(())));
    }

    fn counter_group(&self, page: PageId) -> PageRun {
        let count = self.geometry.counter_group_pages();
        PageRun { first: PageId(page.0 / count * count), count }
    }
}

impl Placement for PythonPlacement {
    fn needs(&self) -> Needs {
        self.needs
    }

    fn attributes(&self) -> &'static [&'static Attribute] {
        static CLAIMED: [&Attribute; 1] = [&SCHEME];
        &CLAIMED
    }

    fn on_allocate(&mut self, pages: PageRun, context: &mut Context<'_>) {
        self.tell("an allocation", self.on_allocate.as_ref(), pages, context);
    }

    fn on_free(&mut self, pages: PageRun, context: &mut Context<'_>) {
        self.tell("freed memory", self.on_free.as_ref(), pages, context);
    }

    fn on_fault(&mut self, fault: &Fault, page: &PageView, context: &mut Context<'_>) -> Decision {
        let shown = views::Fault { fault: *fault, page_bytes: self.geometry.page_size.0 };
        let arguments = |py: Python<'_>| Ok((Py::new(py, shown)?, Py::new(py, self.page(page))?));
        let read = |answer: &Bound<'_, PyAny>| answers::Decision::read(answer, self.geometry.gpus);
        let decision = lend(context, || self.caller.call(About::fault(fault), &self.on_fault, arguments, read));
        decision.unwrap_or(Decision::Migrate)
    }

    fn on_counter(
        &mut self,
        notification: &CounterNotification,
        page: &PageView,
        context: &mut Context<'_>,
    ) -> Option<PageRun> {
        let method = self.on_counter.as_ref()?;
        let group = self.counter_group(notification.page);
        let CounterNotification { processor, page: number } = *notification;
        let about = About { occasion: "an access counter", processor: Some(processor), page: Some(number) };
        let shown = views::CounterNotification { notification: *notification, group };
        let arguments = |py: Python<'_>| Ok((Py::new(py, shown)?, Py::new(py, self.page(page))?));
        lend(context, || self.caller.call(about, method, arguments, |answer| run_within(answer, group)))?
    }

    fn on_report(&mut self, counts: &[AccessCount], context: &mut Context<'_>, moves: &mut Vec<Move>) {
        let Some(method) = &self.on_report else { return };
        let allocations = context.allocations().to_vec();
        let arguments = |py: Python<'_>| {
            let counts = counts.iter().map(|&count| Py::new(py, views::AccessCount { count }));
            Ok((counts.collect::<PyResult<Vec<_>>>()?,))
        };
        let gpus = self.geometry.gpus;
        let read = |answer: &Bound<'_, PyAny>| {
            each(answer, |item| answers::Move::read(item, gpus, |page| contains(&allocations, page)))
        };
        let answer = lend(context, || self.caller.call(About::nothing("a report"), method, arguments, read));
        moves.extend(answer.unwrap_or_default());
    }

    fn on_kernel_end(&mut self, _end: &KernelEnd, context: &mut Context<'_>, given_up: &mut Vec<Unsubscribe>) {
        let Some(method) = &self.on_kernel_end else { return };
        let allocations = context.allocations().to_vec();
        let gpus = self.geometry.gpus;
        let read = |answer: &Bound<'_, PyAny>| {
            each(answer, |item| answers::Unsubscribe::read(item, gpus, |page| contains(&allocations, page)))
        };
        let about = About::nothing("the end of a kernel");
        given_up.extend(lend(context, || self.caller.call(about, method, |_| Ok(()), read)).unwrap_or_default());
    }

    fn may_prefetch(&self, page: &PageView) -> bool {
        let Some(method) = &self.may_prefetch else { return page.cold() };
        let about = About::page("a page to prefetch", page.page);
        let read = |answer: &Bound<'_, PyAny>| {
            answer.extract::<bool>().map_err(|_| Trouble::nonsense("True or False", super::call::shown(answer)))
        };
        self.caller.call(about, method, |py| Ok((Py::new(py, self.page(page))?,)), read).unwrap_or(false)
    }

    fn failure(&self) -> Option<Box<Failure>> {
        self.caller.failure()
    }
}

fn contains(allocations: &[PageRun], page: PageId) -> bool {
    let after = allocations.partition_point(|run| run.first <= page);
    after > 0 && page.0 - allocations[after - 1].first.0 < allocations[after - 1].count
}
