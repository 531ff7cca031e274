//! Base pages are moved within a memory so that a large frame becomes free.

use crate::contract::ids::{HOST, PageId, PageRun, ProcessorId, ProcessorMask};
use crate::contract::page::Mode;
use crate::contract::plan::{Compaction, Permission, Plan, Step};
use crate::draft::Draft;
use crate::flight::Pending;
use crate::manager::Manager;
use crate::memories::evacuation::Evacuation;
use crate::memories::store::Content;
use crate::pages::state::PageState;
use crate::transaction::Transaction;

impl Manager {
    /// Has a fault that needs a large frame wait for a plan that frees one, if there is such a plan or one can be made
    /// beside the plan under construction.
    pub(crate) fn wait_for_compaction(
        &mut self,
        mut pending: Pending,
        processor: ProcessorId,
        under_construction: &Draft,
        plans: &mut Vec<Plan>,
    ) -> bool {
        let Some(physical) = &mut self.memory.physical else { return false };
        let slot = match *physical.compacting(processor) {
            Some(slot) => Some(slot),
            None => {
                pending.compacted = true;
                self.compact(processor, under_construction, plans)
            }
        };
        self.memory.statistics.faults_on_compaction += u64::from(slot.is_some());
        slot.iter().for_each(|&slot| self.flights.wait(slot, pending));
        slot.is_some()
    }

    /// Empties the large frame with the fewest pages; the slot of the plan that does it.
    fn compact(&mut self, processor: ProcessorId, beside: &Draft, plans: &mut Vec<Plan>) -> Option<u32> {
        let memory = &self.memory;
        let physical = memory.physical.as_ref()?;
        let model = physical.coalescing?.compaction?;
        let spare = memory.frames.spare(processor, &beside.flight.change);
        let movable = |page| self.can_be_compacted(page);
        let evacuation = physical.store(processor).emptiest(physical.allocator.channels(), spare, &movable)?;
        let mut draft = self.open();
        let slot = draft.slot;
        Transaction { memory: &mut self.memory, draft: &mut draft }.evacuate(processor, &evacuation, model);
        draft.flight.journal.compacts = Some(processor);
        self.commit(draft, plans);
        Some(slot)
    }

    fn can_be_compacted(&self, page: PageId) -> bool {
        self.memory.pages.slot(page).is_none() && self.memory.pages.mode(page) == Mode::Plain
    }

    /// Pages were freed from blocks that are large pages. What is left of one stays a large page with holes, or, if
    /// that is too little, moves elsewhere.
    pub(crate) fn thin_out(&mut self, thinned: &[(ProcessorId, u32)], plans: &mut Vec<Plan>) {
        for &(processor, block) in thinned {
            let Some(physical) = &self.memory.physical else { return };
            let Some(coalescing) = physical.coalescing else { return };
            let store = physical.store(processor);
            let home = store.coalesced(block);
            let left = home.map_or(0, |home| u32::from(store.frames[home as usize].matching));
            let stays = left > 0 && (left >= coalescing.threshold || coalescing.compaction.is_none());
            if !stays {
                self.dissolve(processor, block, home, coalescing.compaction, plans);
            }
        }
    }

    /// Large pages that these pages are part of.
    pub(crate) fn large_pages(&self, run: PageRun) -> Vec<(ProcessorId, u32)> {
        let Some(physical) = self.memory.physical.as_ref().filter(|physical| physical.coalescing.is_some()) else {
            return Vec::new();
        };
        let gpus = ProcessorMask::all_gpus(self.geometry().gpus);
        let blocks = |gpu| physical.blocks(run).map(move |block| (gpu, block));
        gpus.iter().flat_map(blocks).filter(|&(gpu, block)| physical.store(gpu).coalesced(block).is_some()).collect()
    }

    fn dissolve(
        &mut self,
        processor: ProcessorId,
        block: u32,
        home: Option<u32>,
        model: Option<Compaction>,
        plans: &mut Vec<Plan>,
    ) {
        let mut draft = self.open();
        let mut tx = Transaction { memory: &mut self.memory, draft: &mut draft };
        match home {
            Some(_) => tx.splinter_block(processor, block),
            None => tx.splinter_empty(processor, block),
        }
        if let (Some(home), Some(model)) = (home, model)
            && let Some(physical) = &self.memory.physical
        {
            let spare = self.memory.frames.spare(processor, &draft.flight.change);
            let movable = |page| self.can_be_compacted(page);
            let channels = physical.allocator.channels();
            if let Some(evacuation) = physical.store(processor).evacuation(home, channels, spare, &movable) {
                let mut tx = Transaction { memory: &mut self.memory, draft: &mut draft };
                tx.evacuate(processor, &evacuation, model);
            }
        }
        self.commit(draft, plans);
    }
}

impl Transaction<'_> {
    /// The translations of the pages go, the pages move, and they are mapped as they were.
    fn evacuate(&mut self, processor: ProcessorId, evacuation: &Evacuation, model: Compaction) {
        let mut pages = self.pages_moved(processor, evacuation);
        pages.sort_unstable();
        let mut before: Vec<(PageRun, ProcessorMask, ProcessorMask)> = Vec::new();
        self.each_uniform_run(&pages, |tx, run| {
            let state = tx.state(run.first);
            let through = users(&state, processor);
            tx.invalidate(through, run);
            tx.hold(run);
            before.push((run, through, state.writable));
        });
        evacuation.moves.iter().for_each(|&(from, to)| self.relocate_frame(processor, from, to));
        self.draft.steps.push(Step::Compact { processor, pages: evacuation.moves.len() as u32, model });
        for (run, through, writable) in before {
            for (who, rights) in [
                (through.intersection(writable), Permission::ReadWrite),
                (through.difference(writable), Permission::ReadOnly),
            ] {
                if !who.is_empty() {
                    self.map(who, run, Some(processor), rights);
                }
            }
        }
        let statistics = &mut self.memory.statistics;
        statistics.compactions += 1;
        statistics.pages_compacted += evacuation.moves.len() as u64;
        statistics.frames_freed_by_compaction += 1;
    }

    fn pages_moved(&self, processor: ProcessorId, evacuation: &Evacuation) -> Vec<PageId> {
        let Some(physical) = &self.memory.physical else { return Vec::new() };
        let store = physical.store(processor);
        let contents = evacuation.moves.iter().map(|&(from, _)| store.content(from));
        contents.filter_map(|content| if let Content::Page(page) = content { Some(page) } else { None }).collect()
    }

    fn relocate_frame(&mut self, processor: ProcessorId, from: u32, to: u32) {
        let Some(physical) = &mut self.memory.physical else { return };
        let store = physical.store_mut(processor);
        let (moved, free) = (store.content(from), store.content(to));
        store.replace(from, Content::Leaving(self.draft.slot));
        match moved {
            Content::Page(page) => _ = store.put(page, self.memory.pages.space(page), to, false),
            _ => _ = store.put_foreign(to),
        }
        let flight = &mut self.draft.flight;
        flight.journal.frames.extend([(processor, from, moved), (processor, to, free)]);
        flight.change.take(processor);
        flight.change.lose(processor, 1);
    }
}

/// Who accesses `processor`'s copy of a page: itself, and, if it is the owner, those without a copy.
fn users(state: &PageState, processor: ProcessorId) -> ProcessorMask {
    let own = state.mapped.intersection(ProcessorMask::only(processor));
    debug_assert!(processor != HOST);
    if state.owner == processor { own.union(state.mapped.difference(state.resident)) } else { own }
}
