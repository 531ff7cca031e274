//! Advice of programs about their pages, prefetches and discards.

use crate::contract::event::Fault;
use crate::contract::ids::{Access, MemoryId, PageId, PageRun};
use crate::contract::kind::{Advice, Kind};
use crate::contract::page::Mode;
use crate::contract::plan::{Cause, Plan, PlanClass};
use crate::manager::Manager;
use crate::mechanism::{self, accessors, migrate};
use crate::strategies::decision::Decision;
use crate::transaction::Transaction;

impl Manager {
    /// A processor that is advised to access the pages maps the resident ones now, and those in unfinished plans when
    /// they move next.
    pub(super) fn advise(&mut self, pages: PageRun, advice: Advice, plans: &mut Vec<Plan>) {
        let managed = pages.iter().all(|page| self.memory.pages.is_managed(page));
        assert!(managed, "advice is about managed memory, {pages:?} is not");
        self.memory.pages.advise(pages, advice);
        let list: Vec<PageId> = pages.iter().collect();
        let mut draft = self.unfinished.open_for(PlanClass::Background);
        draft.cause = Some(Cause::RemoteMap);
        let mut tx = Transaction { memory: &mut self.memory, draft: &mut draft };
        tx.each_uniform_run(&list, accessors::map);
        self.unfinished.commit(&mut self.memory, draft, plans);
    }

    /// Prefetches pages to a memory, block by block. Pages in unfinished plans, pages that stay where they are and
    /// pages without room are skipped; those that are mostly read are replicated.
    pub(super) fn prefetch(&mut self, pages: PageRun, to: MemoryId, plans: &mut Vec<Plan>) {
        for block in self.by_block(pages.iter()) {
            self.prefetch_block(&block, to, plans);
        }
    }

    /// Pages that a memory holds become untouched, one plan a block, as the driver does it (nvidia-uvm 595.45.04,
    /// `uvm_va_block_discard` with `UVM_DISCARD_FLAGS_UNMAP`). It keeps the frames for a block until another page needs
    /// them, which costs no copy; here they are free at once.
    pub(super) fn discard(&mut self, pages: PageRun, plans: &mut Vec<Plan>) {
        let discarded = pages.iter().filter(|&page| {
            let view = self.page(page);
            let held = view.allocated && view.kind == Kind::Managed && view.populated();
            held && !view.busy && view.mode == Mode::Plain && !self.memory.keeps(page)
        });
        for block in self.by_block(discarded) {
            let mut draft = self.unfinished.open_for(PlanClass::Background);
            let mut tx = Transaction { memory: &mut self.memory, draft: &mut draft };
            tx.each_uniform_run(&block, mechanism::discard);
            self.unfinished.commit(&mut self.memory, draft, plans);
        }
    }

    fn by_block(&self, pages: impl Iterator<Item = PageId>) -> Vec<Vec<PageId>> {
        let pages: Vec<PageId> = pages.collect();
        let block = |page: &PageId| self.memory.pages.block(*page).first;
        pages.chunk_by(|one, next| block(one) == block(next)).map(<[PageId]>::to_vec).collect()
    }

    fn prefetch_block(&mut self, block: &[PageId], to: MemoryId, plans: &mut Vec<Plan>) {
        let (read, others): (Vec<PageId>, Vec<PageId>) = block.iter().partition(|&&page| {
            let view = self.page(page);
            view.allocated && view.populated() && self.memory.pages.advised().of(page).read_mostly
        });
        let moved: Vec<PageId> = others.into_iter().filter(|&page| migrate::may_come(&self.page(page), to)).collect();
        let mut draft = self.unfinished.open_for(PlanClass::Prefetch);
        (draft.cause, draft.by_program) = (Some(Cause::Prefetch), true);
        let mut tx = Transaction { memory: &mut self.memory, draft: &mut draft };
        migrate::move_all(&mut tx, &moved, to, Cause::Prefetch);
        for page in read {
            let wish = Fault { processor: to.processor(), page, access: Access::Read };
            if tx.memory.pages.slot(page).is_none() && !tx.state(page).resident.near(to.processor()) {
                _ = mechanism::serve(&mut tx, &wish, Decision::Replicate);
            }
        }
        self.unfinished.commit(&mut self.memory, draft, plans);
    }

    /// The decision of advice about the page of a fault in managed memory.
    pub(super) fn advised(&self, fault: &Fault) -> Option<Decision> {
        let pages = &self.memory.pages;
        if pages.advised().is_empty() || pages.kind(fault.page) != Kind::Managed {
            return None;
        }
        let (page, advice) = (pages.view(fault.page), pages.advised().of(fault.page));
        crate::strategies::advice::decide(fault, &page, &advice, &self.memory.reach)
    }
}
