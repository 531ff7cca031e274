//! Serves faults together with their prefetched pages: chooses the pages, makes room for all of them, then brings them.

use crate::contract::block::BlockMap;
use crate::contract::ids::{PageId, PageRun};
use crate::contract::masks::MemoryMask;
use crate::contract::plan::{Cause, Plan};
use crate::manager::Manager;
use crate::mechanism::migrate;
use crate::mechanism::room::{Wanted, evict};
use crate::strategies::decision::Decision;
use crate::transaction::Transaction;
use crate::transaction::draft::Draft;
use crate::transaction::flight::Pending;

impl Manager {
    /// Serves faults of one processor on one block by one plan.
    pub(super) fn serve_at_once(
        &mut self,
        faults: &[Pending],
        was_full: MemoryMask,
        mut draft: Draft,
        plans: &mut Vec<Plan>,
    ) {
        let decided: Vec<Pending> = faults.iter().filter_map(|&pending| self.decided(pending, &mut draft)).collect();
        let migrating = self.migrating(&decided);
        let list = if migrating.is_empty() { Vec::new() } else { self.beside(&decided[0], migrating, was_full) };
        if !list.is_empty() {
            self.make_room_for(&decided[0], migrating.iter().count() + list.len(), &mut draft);
        }
        let migrated = decided.iter().filter(|&&pending| self.serve_one(pending, &mut draft, plans)).count();
        if migrated > 0 {
            let mut tx = Transaction { memory: &mut self.memory, draft: &mut draft };
            migrate::move_all(&mut tx, &list, faults[0].fault.processor.memory(), Cause::Prefetch);
        }
        self.scratch.pages = list;
        self.unfinished.commit(&mut self.memory, draft, plans);
    }

    /// A fault with the decision about it, if there is something to decide; `None` if it has to wait.
    fn decided(&mut self, pending: Pending, draft: &mut Draft) -> Option<Pending> {
        let (pages, page) = (&self.memory.pages, pending.fault.page);
        let settled = !pages.allocated(page)
            || pages.slot(page).is_some()
            || pages.state(page).satisfies(&pending.fault)
            || pages.kind(page).stays();
        if settled {
            return Some(pending);
        }
        let decided = self.decision(pending, draft)?;
        Some(Pending { decided: Some(decided), ..pending })
    }

    /// Pages of the block, from its first on, that are about to come because of faults.
    fn migrating(&self, decided: &[Pending]) -> BlockMap {
        let mut migrating = BlockMap::EMPTY;
        for pending in decided {
            let (page, here) = (pending.fault.page, pending.fault.processor.memory());
            let moves = matches!(pending.decided, Some((Decision::Migrate, _)));
            if moves && migrate::may_come(&self.page(page), here) {
                migrating.insert(page.0 - self.memory.pages.block(page).first.0);
            }
        }
        migrating
    }

    /// The pages that the prefetcher wants in addition to those that migrate.
    fn beside(&mut self, first: &Pending, migrating: BlockMap, was_full: MemoryMask) -> Vec<PageId> {
        let page = first.fault.page;
        let pages = &self.memory.pages;
        let prefetch = self.policies.brings(pages.kind(page), || pages.space(page));
        if !self.policies.prefetcher(prefetch).serves_blocks() {
            return Vec::new();
        }
        self.what_else(&first.fault, (migrating, was_full))
    }

    /// Makes room for all pages at once. If that is impossible, nothing leaves, and each page has to find room by
    /// itself.
    fn make_room_for(&mut self, first: &Pending, pages: usize, draft: &mut Draft) {
        let (page, memory) = (first.fault.page, first.fault.processor.memory());
        if memory.on_host() || self.memory.system_wide(page) {
            return;
        }
        let missing = self.memory.frames.missing(memory, pages as u32, &draft.flight.change);
        if let Some(frames) = missing.filter(|&frames| frames > 0) {
            let mut tx = Transaction { memory: &mut self.memory, draft };
            _ = evict(&mut tx, memory, Wanted { frames, all: true, yields: frames }, Some(PageRun::one(page)));
        }
    }
}
