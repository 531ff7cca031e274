//! Large pages that have to wait, or that a new allocation takes apart.

use crate::contract::ids::PageRun;
use crate::contract::masks::ProcessorMask;
use crate::contract::plan::{Plan, PlanClass};
use crate::manager::Manager;
use crate::transaction::Transaction;
use crate::transaction::coalesce::coalesce;
use crate::transaction::flight::Flight;

impl Manager {
    /// Looks again at blocks that could not become large pages because they were busy.
    pub(super) fn coalesce_postponed(&mut self, plans: &mut Vec<Plan>) {
        let Some(physical) = &mut self.memory.physical else { return };
        if physical.postponed.is_empty() {
            return;
        }
        for (processor, block) in std::mem::take(&mut physical.postponed) {
            let mut draft = self.unfinished.open_for(PlanClass::Background);
            coalesce(&mut self.memory, &mut draft, processor, block);
            self.unfinished.commit(&mut self.memory, draft, plans);
        }
    }

    /// Blocks whose pages are again as they were before a plan that failed may become large pages.
    pub(super) fn postpone_touched(&mut self, flight: &Flight) {
        let Some(physical) = self.memory.physical.as_mut().filter(|physical| physical.coalescing.is_some()) else {
            return;
        };
        for (page, _) in &flight.undo {
            let block = physical.block_of(*page);
            for processor in self.memory.pages.state(*page).resident.gpus().processors().iter() {
                if physical.store(processor).full_home(block) {
                    physical.postpone(processor, block);
                }
            }
        }
    }

    /// Large pages that lost pages to a new allocation in their block are split. The new pages are held until
    /// that is done.
    pub(super) fn splinter_reused(&mut self, run: PageRun, plans: &mut Vec<Plan>) {
        let gpus = ProcessorMask::all_gpus(self.geometry().gpus);
        if self.memory.physical.as_ref().is_none_or(|physical| physical.coalescing.is_none()) {
            return;
        }
        let mut draft = self.unfinished.open_for(PlanClass::Background);
        let mut tx = Transaction { memory: &mut self.memory, draft: &mut draft };
        tx.splinter(gpus, run);
        if !tx.draft.flight.journal.splintered.is_empty() {
            tx.hold(run);
        }
        self.unfinished.commit(&mut self.memory, draft, plans);
    }
}
