//! Work before any request: whole blocks that a prefetcher chooses after a batch of faults.

use crate::contract::ids::{MemoryId, PageId, ProcessorId};
use crate::contract::page::Mode;
use crate::contract::plan::{Cause, Plan, PlanClass};
use crate::manager::Manager;
use crate::mechanism::migrate;
use crate::mechanism::stage::{lender, stage, stageable};
use crate::pages::deciders::Decider;
use crate::strategies::prefetch::{FaultBatch, Path};
use crate::transaction::Transaction;
use crate::transaction::flight::Pending;

impl Manager {
    /// Asks each prefetcher what each GPU with faults in the batch needs next, and starts to bring it.
    pub(super) fn bring_ahead(&mut self, batch: &[Pending], plans: &mut Vec<Plan>) {
        let asked: Vec<Decider> = self.policies.looking_ahead().collect();
        for prefetcher in asked {
            for gpu in (0..self.geometry().gpus).map(ProcessorId::gpu) {
                let of_gpu = batch.iter().map(|pending| pending.fault).filter(|fault| fault.processor == gpu);
                let pages = of_gpu.map(|fault| fault.page).filter(|&page| self.brings(page, prefetcher));
                let range = pages.fold(None, |range: Option<(PageId, PageId)>, page| {
                    Some(range.map_or((page, page), |(first, last)| (first.min(page), last.max(page))))
                });
                if let Some((first, last)) = range {
                    self.bring_after(prefetcher, &FaultBatch { processor: gpu, first, last }, plans);
                }
            }
        }
    }

    fn bring_after(&mut self, prefetcher: Decider, batch: &FaultBatch, plans: &mut Vec<Plan>) {
        let mut blocks = Vec::new();
        let path = self.policies.prefetcher(prefetcher).ahead(batch, &mut blocks);
        for block in blocks {
            let known = |&page: &PageId| self.memory.pages.allocated(page) && self.brings(page, prefetcher);
            let pages: Vec<PageId> = self.memory.pages.block(block).iter().filter(known).collect();
            self.bring_block(&pages, batch.processor.memory(), path, plans);
        }
    }

    /// Whether a page is one of those that a prefetcher decides about. Pages that fault at no cost have their place: a
    /// prefetch would move them from there, and the pages that come with it would cost nothing either.
    fn brings(&self, page: PageId, prefetcher: Decider) -> bool {
        let pages = &self.memory.pages;
        let kind = pages.kind(page);
        !kind.stays()
            && !self.needs_of(page).free_faults
            && self.policies.brings(kind, || pages.space(page)) == prefetcher
    }

    /// Pages of a block that are on the host, or that another GPU keeps for others, come by plans of their own. Pages
    /// that other GPUs use stay there.
    fn bring_block(&mut self, pages: &[PageId], to: MemoryId, path: Path, plans: &mut Vec<Plan>) {
        let (on_host, kept) = (self.coming(pages, to, false), self.coming(pages, to, true));
        let mut draft = self.unfinished.open_for(PlanClass::Prefetch);
        let mut tx = Transaction { memory: &mut self.memory, draft: &mut draft };
        migrate::move_all(&mut tx, &kept, to, Cause::Prefetch);
        let crowded = path == Path::Multi && tx.memory.demotion.crowded();
        let beside = path == Path::Multi && !crowded && !on_host.is_empty();
        let by = if beside { lender(&mut tx, to, on_host.len() as u32) } else { None };
        if by.is_some_and(|by| stage(&mut tx, &on_host, by)) {
            tx.draft.cause.get_or_insert(Cause::Staging);
        } else {
            let before = tx.memory.statistics.prefetched;
            migrate::move_all(&mut tx, &on_host, to, Cause::Prefetch);
            let statistics = &mut tx.memory.statistics;
            statistics.fell_back += if crowded { statistics.prefetched - before } else { 0 };
        }
        self.memory.statistics.prefetch_plans += u64::from(!draft.is_empty());
        self.unfinished.commit(&mut self.memory, draft, plans);
    }

    /// Pages of a block that can come to `to` and lie in idle memory, or on the host.
    fn coming(&self, block: &[PageId], to: MemoryId, kept: bool) -> Vec<PageId> {
        let comes = |&page: &PageId| {
            let view = self.page(page);
            let there =
                if kept { view.mode == Mode::Spare } else { stageable(&view) && !self.memory.system_wide(page) };
            let preferred = self.memory.pages.advised().of(page).preferred;
            let wanted_there = preferred.is_none_or(|memory| memory.processor() == to.processor());
            let may_come = wanted_there && migrate::may_come(&view, to) && !self.memory.keeps(page);
            let decider = self.memory.pages.decider(page).expect("what comes does not stay");
            there && may_come && self.policies.may_prefetch(decider, &view)
        };
        block.iter().copied().filter(comes).collect()
    }
}
