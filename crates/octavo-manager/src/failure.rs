//! Strategies that can no longer decide. Those compiled in never fail; a user's own may do anything.

use crate::event::Fault;
use crate::ids::{Access, PageId, ProcessorId};
use crate::manager::Manager;

/// Why a strategy can no longer decide. What it answered since means nothing, so whoever drives the manager stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Which strategy, what it did, and what was expected of it.
    pub message: String,
    /// How it came to that, over several lines, such as a traceback; may be empty.
    pub details: String,
    /// What it was asked about, such as `a write fault`.
    pub occasion: &'static str,
    /// Whose fault, notification or memory that was.
    pub processor: Option<ProcessorId>,
    /// Which page it was about.
    pub page: Option<PageId>,
}

impl Failure {
    /// Names the fault that was being served, unless the strategy knew what it was asked about.
    fn about(mut self, fault: &Fault) -> Self {
        if self.page.is_none() {
            self.page = Some(fault.page);
            self.processor = Some(fault.processor);
            self.occasion = occasion(fault.access);
        }
        self
    }
}

/// A fault in words.
#[must_use]
pub const fn occasion(access: Access) -> &'static str {
    match access {
        Access::Read => "a read fault",
        Access::Write => "a write fault",
    }
}

impl Manager {
    /// The first failure of a strategy; no plan made since then is worth carrying out.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_deref()
    }

    /// Keeps the first failure, with the fault that was being served.
    pub(crate) fn note_failure(&mut self, fault: Option<&Fault>) {
        if self.failure.is_some() {
            return;
        }
        let eviction = &self.memory.eviction;
        let found = self.placement.failure().or_else(|| self.prefetch.failure()).or_else(|| eviction.failure());
        self.failure = found.map(|failure| match fault {
            Some(fault) => Box::new(failure.about(fault)),
            None => failure,
        });
    }
}
