//! One call of a policy, and the handling of failures.

use std::cell::RefCell;

use octavo_manager::{Failure, Fault, PageId, ProcessorId, occasion};
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;

thread_local! {
    /// The first exception of a policy in the run of this thread.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// The exception of a policy on this thread since the last call.
pub fn take_raised() -> Option<PyErr> {
    RAISED.take()
}

/// Keeps the exception if no Python error can be returned.
pub fn keep_raised(error: PyErr) {
    RAISED.set(Some(error));
}

/// Why a call gave no answer.
pub enum Trouble {
    Raised(PyErr),
    Nonsense { expected: String, found: String },
}

impl Trouble {
    pub fn nonsense(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::Nonsense { expected: expected.into(), found: found.into() }
    }
}

impl From<PyErr> for Trouble {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

/// A value as Python shows it, cut short.
pub fn shown(value: &Bound<'_, PyAny>) -> String {
    const LONGEST: usize = 80;
    let text = value.repr().map(|text| text.to_string()).unwrap_or_else(|_| format!("a {}", value.get_type()));
    if text.chars().count() <= LONGEST { text } else { text.chars().take(LONGEST).chain("…".chars()).collect() }
}

/// The most characters of a policy's text that are kept; our choice: the message around it should stay below 2,000, the
/// most that is shown.
const LONGEST_MESSAGE: usize = 1000;
/// The same of a traceback; our choice.
const LONGEST_TRACEBACK: usize = 20_000;

/// What a policy says, without its middle if it is too long to read: it is passed on many times from here.
pub fn cut(text: String) -> String {
    cut_to(text, LONGEST_MESSAGE)
}

fn cut_to(text: String, most: usize) -> String {
    let count = if text.len() <= most { 0 } else { text.chars().count() };
    if count <= most {
        return text;
    }
    let (first, last) = (most - most / 4, most / 4);
    let place = |number: usize| text.char_indices().nth(number).map_or(text.len(), |(place, _)| place);
    format!("{} [… of {count} characters …] {}", &text[..place(first)], &text[place(count - last)..])
}

/// The occasion of a call of a policy.
#[derive(Clone, Copy)]
pub struct About {
    pub occasion: &'static str,
    pub processor: Option<ProcessorId>,
    pub page: Option<PageId>,
}

impl About {
    pub fn fault(fault: &Fault) -> Self {
        Self { occasion: occasion(fault.access), processor: Some(fault.processor), page: Some(fault.page) }
    }

    pub fn page(occasion: &'static str, page: PageId) -> Self {
        Self { occasion, processor: None, page: Some(page) }
    }

    pub fn nothing(occasion: &'static str) -> Self {
        Self { occasion, processor: None, page: None }
    }
}

/// A method of a policy.
pub struct Method {
    name: &'static str,
    bound: Py<PyAny>,
}

/// A policy, and how it failed if it did.
pub struct Caller {
    policy: Py<PyAny>,
    /// Its kind and the user's name for it.
    label: String,
    failure: RefCell<Option<Box<Failure>>>,
}

impl Caller {
    /// Calls the policy's `start`.
    pub fn started(kind: &str, name: &str, policy: Bound<'_, PyAny>) -> PyResult<Self> {
        let py = policy.py();
        let label = format!("{kind} `{name}`");
        let caller = Self { policy: policy.unbind(), label, failure: RefCell::new(None) };
        let start = caller.method(py, "start")?;
        let _started = caller.call(About::nothing("the node"), &start, |_| Ok(()), |_| Ok(()));
        Ok(caller)
    }

    pub fn method(&self, py: Python<'_>, name: &'static str) -> PyResult<Method> {
        Ok(Method { name, bound: self.policy.getattr(py, name)? })
    }

    /// The method, unless it is the inherited one that does nothing.
    pub fn overridden(&self, py: Python<'_>, base: &str, name: &'static str) -> PyResult<Option<Method>> {
        let base = py.import("octavo.policies")?.getattr(base)?.getattr(name)?;
        let own = self.policy.bind(py).get_type().getattr(name)?;
        if own.is(&base) { Ok(None) } else { self.method(py, name).map(Some) }
    }

    pub fn attribute<T>(&self, py: Python<'_>, name: &str) -> PyResult<T>
    where
        T: for<'py> FromPyObject<'py, 'py, Error = PyErr>,
    {
        self.policy.bind(py).getattr(name)?.extract()
    }

    /// Calls `method` and reads its answer; `None` if the policy has failed before, or fails now.
    pub fn call<A, T>(
        &self,
        about: About,
        method: &Method,
        arguments: impl FnOnce(Python<'_>) -> PyResult<A>,
        read: impl FnOnce(&Bound<'_, PyAny>) -> Result<T, Trouble>,
    ) -> Option<T>
    where
        A: for<'py> PyCallArgs<'py>,
    {
        if self.failure.borrow().is_some() {
            return None;
        }
        Python::attach(|py| {
            let ask = || -> Result<T, Trouble> { read(&method.bound.bind(py).call1(arguments(py)?)?) };
            ask().map_err(|trouble| self.fail(py, about, method.name, trouble)).ok()
        })
    }

    pub fn failure(&self) -> Option<Box<Failure>> {
        self.failure.borrow().clone()
    }

    fn fail(&self, py: Python<'_>, about: About, method: &str, trouble: Trouble) {
        let (what, details) = match trouble {
            Trouble::Raised(error) => {
                let described = (format!("raised {}", cut(error.to_string())), traceback(py, &error));
                RAISED.with_borrow_mut(|raised| _ = raised.get_or_insert(error));
                described
            }
            Trouble::Nonsense { expected, found } => (format!("returned {found}, expected {expected}"), String::new()),
        };
        let message = format!("{}: {method} {what}", self.label);
        let About { occasion, processor, page } = about;
        *self.failure.borrow_mut() = Some(Box::new(Failure { message, details, occasion, processor, page }));
    }
}

/// The traceback as Python prints it; empty if even that fails.
fn traceback(py: Python<'_>, error: &PyErr) -> String {
    let arguments = (error.get_type(py), error.value(py), error.traceback(py));
    let lines = py.import("traceback").and_then(|module| module.call_method1("format_exception", arguments));
    let lines = lines.and_then(|lines| lines.extract::<Vec<String>>()).unwrap_or_default();
    cut_to(lines.concat(), LONGEST_TRACEBACK)
}
