//! Wakes that come too late, again and again: GPUs take a page from each other before anyone's access is tried again.
//!
//! A batch keeps wakes until its end, and then they travel; meanwhile nothing holds their pages. If GPUs have separate
//! batches, two of them can take a page from each other for ever, each just before the other's access is tried.

use std::collections::{BTreeMap, BTreeSet};

use octavo_manager::{PageId, PageRun, ProcessorId};

/// After so many late wakes in a row for a GPU's accesses to a page, wakes for this page are no longer held back.
/// Chosen: far more than happen by chance, and few compared with a whole run.
const MOST: u32 = 32;

/// Processors and pages with late wakes. Empty while there are none.
#[derive(Default)]
pub(crate) struct Late {
    in_a_row: BTreeMap<(PageId, ProcessorId), u32>,
    /// Pages whose wakes are part of their plans: no GPU takes the page away before they have arrived.
    prompt: BTreeSet<PageId>,
}

impl Late {
    /// Whether the wakes of a page are held back no more.
    pub fn is_prompt(&self, page: PageId) -> bool {
        !self.prompt.is_empty() && self.prompt.contains(&page)
    }

    /// A wake that was held back has arrived, perhaps too `late` for those who waited for it.
    pub fn woken(&mut self, processor: ProcessorId, page: PageId, late: bool) {
        if !late {
            if !self.in_a_row.is_empty() {
                self.in_a_row.remove(&(page, processor));
            }
            return;
        }
        let times = self.in_a_row.entry((page, processor)).or_default();
        *times += 1;
        if *times >= MOST {
            self.in_a_row.remove(&(page, processor));
            self.prompt.insert(page);
        }
    }

    /// Pages are freed.
    pub fn forget(&mut self, run: PageRun) {
        let freed = |page: PageId| page.0.wrapping_sub(run.first.0) < run.count;
        self.in_a_row.retain(|&(page, _), _| !freed(page));
        self.prompt.retain(|&page| !freed(page));
    }
}
