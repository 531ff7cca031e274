//! `none`: processors may fight over pages.

use octavo_registry::{Entry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Hint, ThrashingGuard};
use crate::contract::event::Fault;
use crate::contract::geometry::Geometry;
use crate::contract::ids::{MemoryId, PageId, PageRun};
use crate::contract::page::PageView;
use crate::strategies::context::Context;

/// `none` has no options.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {}

pub(super) static ENTRY: Entry<Box<dyn ThrashingGuard>, Geometry> = Entry {
    name: "none",
    summary: "lets processors fight over pages",
    source: "GRIT (HPCA 2024), section 3, which has none",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, _| {
        typed::parse::<Options>(options)?;
        Ok(Box::new(NoGuard))
    },
};

struct NoGuard;

impl ThrashingGuard for NoGuard {
    fn watches(&self) -> bool {
        false
    }

    fn on_fault(&mut self, _fault: &Fault, _page: &PageView, _context: &mut Context<'_>) -> Hint {
        Hint::Pass
    }

    fn moved(&mut self, _pages: PageRun, _to: MemoryId, _context: &mut Context<'_>) {}

    fn overruled(&mut self, _pages: PageRun) {}

    fn freed(&mut self, _pages: PageRun) {}

    fn keeps(&self, _page: PageId) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_watches_nothing_keeps_no_page_and_waits_for_no_time() {
        assert!(!NoGuard.watches() && !NoGuard.keeps(PageId(3)));
        assert_eq!(NoGuard.deadline(), None);
    }
}
