//! Blocks become large pages in place, and base pages again.

use crate::contract::ids::{HOST, PageRun, ProcessorId, ProcessorMask};
use crate::contract::page::Mode;
use crate::contract::plan::{Plan, Step};
use crate::draft::Draft;
use crate::flight::Flight;
use crate::manager::Manager;
use crate::memory::Memory;
use crate::transaction::Transaction;
use crate::transaction::physical::Physical;

/// Whether a block can become a large page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Now,
    /// Once plans that hold its pages are acknowledged.
    Later,
    No,
}

impl Manager {
    /// Makes large pages of the blocks that a plan changed, where that is possible.
    pub(crate) fn coalesce_touched(&mut self, draft: &mut Draft) {
        if draft.flight.journal.touched.is_empty() {
            return;
        }
        let mut touched = std::mem::take(&mut draft.flight.journal.touched);
        for (processor, block) in touched.drain(..) {
            self.coalesce(processor, block, draft);
        }
        draft.flight.journal.touched = touched;
    }

    /// Looks again at blocks that could not become large pages because they were busy.
    pub(crate) fn coalesce_postponed(&mut self, plans: &mut Vec<Plan>) {
        let Some(physical) = &mut self.memory.physical else { return };
        if physical.postponed.is_empty() {
            return;
        }
        for (processor, block) in std::mem::take(&mut physical.postponed) {
            let mut draft = self.open();
            self.coalesce(processor, block, &mut draft);
            self.commit(draft, plans);
        }
    }

    /// Blocks whose pages are again what they were before a plan that failed may become large pages.
    pub(crate) fn postpone_touched(&mut self, flight: &Flight) {
        let Some(physical) = self.memory.physical.as_mut().filter(|physical| physical.coalescing.is_some()) else {
            return;
        };
        for (page, _) in &flight.undo {
            let block = physical.block_of(*page);
            for processor in self.memory.pages.state(*page).resident.without(HOST).iter() {
                if physical.store(processor).full_home(block) {
                    physical.postpone(processor, block);
                }
            }
        }
    }

    fn coalesce(&mut self, processor: ProcessorId, block: u32, draft: &mut Draft) {
        match self.memory.verdict(processor, block, draft.slot) {
            Verdict::Now => Transaction { memory: &mut self.memory, draft }.coalesce(processor, block),
            Verdict::Later => self.memory.physical.iter_mut().for_each(|frames| frames.postpone(processor, block)),
            Verdict::No => {}
        }
    }

    /// Large pages that lost pages to a new allocation in their block are none any more. The new pages are held until
    /// that is done.
    pub(crate) fn splinter_reused(&mut self, run: PageRun, plans: &mut Vec<Plan>) {
        let gpus = ProcessorMask::all_gpus(self.geometry().gpus);
        if self.memory.physical.as_ref().is_none_or(|physical| physical.coalescing.is_none()) {
            return;
        }
        let mut draft = self.open();
        let mut tx = Transaction { memory: &mut self.memory, draft: &mut draft };
        tx.splinter(gpus, run);
        if !tx.draft.flight.journal.splintered.is_empty() {
            tx.hold(run);
        }
        self.commit(draft, plans);
    }
}

impl Memory {
    fn verdict(&self, processor: ProcessorId, block: u32, slot: u32) -> Verdict {
        let Some(physical) = &self.physical else { return Verdict::No };
        let store = physical.store(processor);
        let run = physical.block(block);
        let in_place = store.full_home(block) && store.coalesced(block).is_none();
        let plain = || run.iter().all(|page| self.pages.mode(page) == Mode::Plain);
        if !in_place || !self.pages.mapped_alike(processor, run) || !plain() {
            return Verdict::No;
        }
        let mut slots = run.iter().filter_map(|page| self.pages.slot(page));
        if store.splinters(block) > 0 || slots.any(|other| other != slot) { Verdict::Later } else { Verdict::Now }
    }
}

impl Transaction<'_> {
    fn coalesce(&mut self, processor: ProcessorId, block: u32) {
        let Some(physical) = &mut self.memory.physical else { return };
        let run = physical.block(block);
        let store = physical.store_mut(processor);
        let home = store.home(block).expect("its pages are in their own places");
        store.set_coalesced(home, true);
        self.hold(run);
        self.draft.steps.push(Step::Coalesce { processor, block: run });
        self.draft.flight.journal.coalesced.push((processor, block));
        self.memory.statistics.coalesced += 1;
    }

    /// Before pages change on these processors: the large pages that they are part of are none any more.
    pub fn splinter(&mut self, processors: ProcessorMask, pages: PageRun) {
        let Some(physical) = self.memory.physical.as_ref().filter(|physical| physical.coalescing.is_some()) else {
            return;
        };
        let blocks = physical.blocks(pages);
        for processor in processors.without(HOST).iter() {
            blocks.clone().for_each(|block| self.splinter_block(processor, block));
        }
    }

    pub fn splinter_block(&mut self, processor: ProcessorId, block: u32) {
        let Some(physical) = &mut self.memory.physical else { return };
        let store = physical.store_mut(processor);
        if let Some(large) = store.coalesced(block) {
            store.set_coalesced(large, false);
            self.memory.statistics.splintered += 1;
        } else if store.splinters(block) == 0 {
            return;
        }
        // If another plan's splinter is unfinished, nobody knows whether it will be done before this plan's steps.
        let splintered = &mut self.draft.flight.journal.splintered;
        if !splintered.contains(&(processor, block)) {
            splintered.push((processor, block));
        }
    }

    /// The pages of a large page were all freed.
    pub fn splinter_empty(&mut self, processor: ProcessorId, block: u32) {
        self.draft.flight.journal.splintered.push((processor, block));
        self.memory.statistics.splintered += 1;
    }

    /// Notes that these pages changed in blocks whose pages are all in their own places.
    pub fn touch(&mut self, processors: ProcessorMask, pages: PageRun) {
        let Some(physical) = self.memory.physical.as_ref().filter(|physical| physical.coalescing.is_some()) else {
            return;
        };
        let touched = &mut self.draft.flight.journal.touched;
        for processor in processors.without(HOST).iter() {
            let store = physical.store(processor);
            let full = physical.blocks(pages).filter(|&block| store.full_home(block));
            full.for_each(|block| {
                if touched.last() != Some(&(processor, block)) {
                    touched.push((processor, block));
                }
            });
        }
    }
}

/// The steps that go before all others: large pages become base pages before any of these changes.
pub(crate) fn splinters<'a>(physical: &'a Physical, flight: &'a Flight) -> impl Iterator<Item = Step> + 'a {
    let splintered = flight.journal.splintered.iter();
    splintered.map(|&(processor, block)| Step::Splinter { processor, block: physical.block(block) })
}
