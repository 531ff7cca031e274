//! Strategies that can no longer decide. Those compiled in never fail; a user's own may do anything.

use crate::contract::event::Fault;
use crate::contract::ids::{Access, PageId, ProcessorId};

/// Why a strategy can no longer decide. Its later answers mean nothing, so the driver stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The strategy, its action, and what it should have done.
    pub message: String,
    /// The cause, over several lines, such as a traceback; may be empty.
    pub details: String,
    /// The occasion of the call, such as `a write fault`.
    pub occasion: &'static str,
    /// The processor of the fault, notification or memory.
    pub processor: Option<ProcessorId>,
    /// The page that it concerned.
    pub page: Option<PageId>,
}

impl Failure {
    /// A failure that concerns no fault and no page.
    pub(crate) fn of_nothing(message: String) -> Self {
        Self { message, details: String::new(), occasion: "an allocation", processor: None, page: None }
    }

    /// Adds the fault that was being served, unless the strategy has named the occasion.
    pub(crate) fn about(mut self, fault: &Fault) -> Self {
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
