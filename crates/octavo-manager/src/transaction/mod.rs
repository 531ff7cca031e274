//! One plan under construction, and its outcome.

pub(crate) mod coalesce;
pub(crate) mod commit;
pub(crate) mod draft;
pub(crate) mod flight;
pub(crate) mod journal;
mod neighbours;
mod outcome;
pub(crate) mod physical;
mod place;
mod primitives;
pub(crate) mod remainder;
mod sizes;
pub(crate) mod state;
mod watch;

use crate::contract::ids::{PageId, PageRun};
use crate::pages::state::PageState;
use crate::transaction::draft::Draft;
use crate::transaction::state::Memory;

/// A draft and the state it changes. Runs given to its methods are uniform: their pages' states are alike.
pub(crate) struct Transaction<'a> {
    pub memory: &'a mut Memory,
    pub draft: &'a mut Draft,
}

impl Transaction<'_> {
    pub fn state(&self, page: PageId) -> PageState {
        self.memory.pages.state(page)
    }

    /// Does something for each run of neighbouring pages, ascending and next to each other in the list, that are alike.
    /// Pages that were claimed in the meantime are passed over.
    pub fn each_uniform_run(&mut self, pages: &[PageId], mut act: impl FnMut(&mut Self, PageRun)) {
        let mut rest = pages;
        while let Some(&first) = rest.first() {
            let run = self.uniform_run(rest);
            if self.memory.pages.slot(first).is_none() {
                act(self, run);
            }
            rest = &rest[run.count as usize..];
        }
    }

    /// The longest run at the head of `pages` of ascending neighbours in the same state; of one address space, if these
    /// are distinguished.
    fn uniform_run(&self, pages: &[PageId]) -> PageRun {
        let apart = self.memory.sharing.is_some();
        let whose = |page| apart.then(|| self.memory.pages.space(page));
        let state = |page| (self.memory.pages.slot(page), self.state(page), whose(page));
        let first = state(pages[0]);
        let alike = |(offset, &page): (usize, &PageId)| {
            page.0 == pages[0].0 + offset as u32 && (offset == 0 || state(page) == first)
        };
        PageRun { first: pages[0], count: pages.iter().enumerate().take_while(|&item| alike(item)).count() as u32 }
    }

    /// The plan holds these pages though it may not change them.
    pub fn hold(&mut self, run: PageRun) {
        for page in run.iter() {
            let state = self.memory.pages.state(page);
            self.save(page, &state);
        }
    }

    /// Keeps the state of a page as it was before this plan touched it.
    fn save(&mut self, page: PageId, state: &PageState) {
        let known = self.memory.pages.slot(page);
        debug_assert!(known.is_none_or(|slot| slot == self.draft.slot), "page {} is in another plan", page.0);
        if known.is_none() {
            self.memory.pages.set_slot(page, Some(self.draft.slot));
            self.draft.flight.undo.push((page, *state));
        }
    }
}
