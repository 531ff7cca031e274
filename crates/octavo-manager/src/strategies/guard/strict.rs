//! A guard for tests.

use octavo_units::Time;

use super::{Hint, ThrashingGuard};
use crate::contract::event::Fault;
use crate::contract::ids::{MemoryId, PageId, PageRun};
use crate::contract::page::PageView;
use crate::strategies::context::Context;

/// Makes every fault wait, keeps these pages, and unpins them whenever it is asked.
pub(crate) struct Strict(pub Vec<PageId>);

impl ThrashingGuard for Strict {
    fn on_fault(&mut self, _fault: &Fault, _page: &PageView, context: &mut Context<'_>) -> Hint {
        Hint::Throttle(context.now() + Time(1))
    }

    fn moved(&mut self, _pages: PageRun, _to: MemoryId, _context: &mut Context<'_>) {}

    fn overruled(&mut self, _pages: PageRun) {}

    fn freed(&mut self, _pages: PageRun) {}

    fn keeps(&self, page: PageId) -> bool {
        self.0.contains(&page)
    }

    fn on_deadline(&mut self, _context: &mut Context<'_>, unpinned: &mut Vec<PageId>) {
        unpinned.extend(&self.0);
    }
}
