//! A strategy's failure with facts that only the node knows: its time, the place of the page, and its owner.

use std::fmt;

use octavo_manager::{Failure, PageId};
use octavo_program::{Workload, pages_of};

use crate::moment::When;

/// A strategy that could no longer decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrategyFailure {
    /// The action, and the occasion of the call.
    pub failure: Failure,
    /// When it was asked.
    pub when: When,
    /// First address of the page, if it is about one.
    pub address: Option<u64>,
    /// Name of the buffer that the page is part of.
    pub buffer: Option<String>,
}

impl StrategyFailure {
    pub(crate) fn new(failure: &Failure, when: When, page_bytes: u64, workload: &dyn Workload) -> Self {
        Self {
            failure: failure.clone(),
            when,
            address: failure.page.map(|page| u64::from(page.0) * page_bytes),
            buffer: failure.page.and_then(|page| buffer_of(page, page_bytes, workload)),
        }
    }
}

/// Name of the buffer that a page is part of.
pub(crate) fn buffer_of(page: PageId, page_bytes: u64, workload: &dyn Workload) -> Option<String> {
    let mut pages = pages_of(workload.buffers(), page_bytes);
    let found = pages.position(|pages| pages.contains(&u64::from(page.0)))?;
    Some(workload.buffers()[found].name.clone())
}

impl fmt::Display for StrategyFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { message, occasion, processor, page, .. } = &self.failure;
        write!(f, "{message}, asked about {occasion}")?;
        processor.map_or(Ok(()), |processor| write!(f, " of {processor}"))?;
        if let (Some(page), Some(address)) = (page, self.address) {
            let buffer = self.buffer.as_ref().map(|name| format!(" in `{name}`")).unwrap_or_default();
            write!(f, " on page {} (address {address:#x}{buffer})", page.0)?;
        }
        write!(f, " {}", self.when)
    }
}
