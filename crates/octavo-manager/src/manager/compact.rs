//! Base pages are moved within a memory so that a large frame becomes free.

use crate::contract::ids::{PageId, PageRun, ProcessorId};
use crate::contract::masks::ProcessorMask;
use crate::contract::page::Mode;
use crate::contract::plan::{Compaction, Plan, PlanClass};
use crate::manager::Manager;
use crate::mechanism::evacuate::evacuate;
use crate::transaction::Transaction;
use crate::transaction::draft::Draft;
use crate::transaction::flight::Pending;

impl Manager {
    /// Lets a fault that needs a large frame wait for a plan that frees one, if there is such a plan or one can be made
    /// in addition to the plan under construction.
    pub(super) fn wait_for_compaction(
        &mut self,
        mut pending: Pending,
        processor: ProcessorId,
        under_construction: &Draft,
        plans: &mut Vec<Plan>,
    ) -> bool {
        let Some(physical) = &self.memory.physical else { return false };
        let slot = match physical.compacted_by(processor) {
            Some(slot) => Some(slot),
            None => {
                pending.compacted = true;
                self.compact(processor, under_construction, plans)
            }
        };
        self.memory.statistics.faults_on_compaction += u64::from(slot.is_some());
        slot.iter().for_each(|&slot| self.unfinished.flights.wait(slot, pending));
        slot.is_some()
    }

    /// Whether pages have to wait for large frames that a plan frees, which is under way or can be made in addition to the
    /// plan under construction.
    pub(super) fn wait_for_large_frames(
        &mut self,
        run: PageRun,
        processor: ProcessorId,
        under_construction: &Draft,
        plans: &mut Vec<Plan>,
    ) -> bool {
        let Some(physical) = &self.memory.physical else { return false };
        let missing = physical.large_frames_missing(&self.memory.pages, run, processor);
        if missing == 0 {
            return false;
        }
        let under_way = physical.compacted_by(processor).is_some();
        let waits = under_way || self.compact(processor, under_construction, plans).is_some();
        self.memory.statistics.large_frames_lacking += if waits { 0 } else { u64::from(missing) };
        waits
    }

    /// Empties the large frame with the fewest pages; the slot of the plan that does it.
    fn compact(&mut self, processor: ProcessorId, beside: &Draft, plans: &mut Vec<Plan>) -> Option<u32> {
        let memory = &self.memory;
        let physical = memory.physical.as_ref()?;
        let model = physical.coalescing?.compaction?;
        let spare = memory.frames.spare(processor.memory(), &beside.flight.change);
        let movable = |page| self.can_be_compacted(page);
        let evacuation = physical.store(processor).emptiest(physical.allocator.channels(), spare, &movable)?;
        let mut draft = self.unfinished.open();
        let slot = draft.slot;
        evacuate(&mut Transaction { memory: &mut self.memory, draft: &mut draft }, processor, &evacuation, model);
        draft.flight.journal.compacts = Some(processor);
        self.unfinished.commit(&mut self.memory, draft, plans);
        Some(slot)
    }

    fn can_be_compacted(&self, page: PageId) -> bool {
        self.memory.pages.slot(page).is_none() && self.memory.pages.mode(page) == Mode::Plain
    }

    /// Pages were freed from blocks that are large pages. The rest of a block stays a large page with holes or, if too
    /// little is left, moves elsewhere.
    pub(super) fn thin_out(&mut self, thinned: &[(ProcessorId, u32)], plans: &mut Vec<Plan>) {
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
    pub(super) fn large_pages(&self, run: PageRun) -> Vec<(ProcessorId, u32)> {
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
        let mut draft = self.unfinished.open_for(PlanClass::Background);
        let mut tx = Transaction { memory: &mut self.memory, draft: &mut draft };
        match home {
            Some(_) => tx.splinter_block(processor, block),
            None => tx.splinter_empty(processor, block),
        }
        if let (Some(home), Some(model)) = (home, model)
            && let Some(physical) = &self.memory.physical
        {
            let spare = self.memory.frames.spare(processor.memory(), &draft.flight.change);
            let movable = |page| self.can_be_compacted(page);
            let channels = physical.allocator.channels();
            if let Some(evacuation) = physical.store(processor).evacuation(home, channels, spare, &movable) {
                let mut tx = Transaction { memory: &mut self.memory, draft: &mut draft };
                evacuate(&mut tx, processor, &evacuation, model);
            }
        }
        self.unfinished.commit(&mut self.memory, draft, plans);
    }
}

#[cfg(test)]
mod tests {
    use octavo_registry::Choice;
    use octavo_units::Time;

    use super::*;
    use crate::contract::event::{Event, Fault};
    use crate::contract::topology::Topology;
    use crate::strategies::config::MemoryConfig;

    #[test]
    fn a_page_on_its_way_or_with_stores_that_are_broadcast_is_not_compacted() {
        let config = MemoryConfig { placement: Choice::named("gps"), ..MemoryConfig::default() };
        let mut manager = Manager::new(&config, &Topology::unlimited(2)).unwrap();
        manager.happens(Event::Allocate(PageRun { first: PageId(0), count: 3 }.into()));
        [(0, 0), (0, 1), (1, 1)].into_iter().for_each(|(gpu, page)| manager.reads(gpu, page));
        manager.handle(Time::ZERO, Event::Faults(&[Fault::load(0, 2)]), &mut Vec::new());
        assert_eq!([0, 1, 2].map(|page| manager.can_be_compacted(PageId(page))), [true, false, false]);
    }
}
