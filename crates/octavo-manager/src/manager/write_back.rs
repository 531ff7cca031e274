//! Copies to the host, in the background, of pages that GPUs keep for others.

use crate::contract::ids::{HOST_MEMORY, MemoryId, SpaceId};
use crate::contract::plan::{Cause, Plan, PlanClass};
use crate::manager::Manager;
use crate::mechanism::back::back;
use crate::pages::spare::WriteBack;
use crate::transaction::Transaction;

impl Manager {
    /// Starts to copy the block of each space that has waited longest: one at a time, since one thread does it and
    /// waits for each copy (`uvm-driver.md` section 8: write-back).
    pub(super) fn write_back(&mut self, plans: &mut Vec<Plan>) {
        if !self.memory.pages.spare().any_awaiting() {
            return;
        }
        for (space, memory, block) in self.memory.pages.spare().longest_awaiting() {
            if !self.memory.pages.spare().copies_of(space) {
                self.write_block_back(space, memory, block, plans);
            }
        }
    }

    /// A block that is still on its way, or that the host has no room for, waits; so do those behind it.
    fn write_block_back(&mut self, space: SpaceId, memory: MemoryId, block: u32, plans: &mut Vec<Plan>) {
        let pages = self.memory.pages.kept_in_block(memory, block, false);
        let busy = pages.iter().any(|&page| self.memory.pages.slot(page).is_some());
        let mut draft = self.unfinished.open_for(PlanClass::Background);
        draft.cause = Some(Cause::WriteBack);
        let count = pages.len() as u32;
        if !busy && self.memory.frames.host_holds(count, &draft.flight.change) {
            let plan = WriteBack { slot: draft.slot, space, memory, pages: count };
            self.memory.pages.spare_mut().begin(plan);
            let mut tx = Transaction { memory: &mut self.memory, draft: &mut draft };
            tx.each_uniform_run(&pages, |tx, run| back(tx, run, memory, HOST_MEMORY));
        }
        self.unfinished.commit(&mut self.memory, draft, plans);
    }
}
