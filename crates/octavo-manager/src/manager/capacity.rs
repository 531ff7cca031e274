//! Memories that grow and shrink.

use crate::contract::ids::MemoryId;
use crate::contract::masks::MemoryMask;
use crate::contract::plan::{Cause, Plan};
use crate::manager::Manager;
use crate::mechanism::room::evict;
use crate::transaction::Transaction;

impl Manager {
    pub(super) fn resize(&mut self, memory: MemoryId, pages: u32, plans: &mut Vec<Plan>) {
        assert!(memory.processor().index() < self.geometry().processors(), "{memory} is not in the node");
        self.set_capacity(memory, pages);
        self.shrink(plans);
        self.retry_starved(plans);
    }

    /// What foreign data takes up is no room.
    pub(super) fn set_capacity(&mut self, memory: MemoryId, pages: u32) {
        let physical = self.memory.physical.as_mut().filter(|_| !memory.on_host());
        let foreign = physical.map_or(0, |physical| {
            physical.store_mut(memory.processor()).enlarge(pages);
            physical.foreign(memory.processor())
        });
        let room = if pages == u32::MAX { pages } else { pages.saturating_sub(foreign) };
        self.memory.frames.set_capacity(memory, room);
    }

    /// Evicts what no longer fits since a capacity changed.
    pub(super) fn shrink(&mut self, plans: &mut Vec<Plan>) {
        for memory in MemoryMask::all_gpus(self.geometry().gpus).iter() {
            let excess = self.memory.frames.excess(memory);
            if excess > 0 {
                let mut draft = self.unfinished.open();
                draft.cause = Some(Cause::Eviction);
                let mut tx = Transaction { memory: &mut self.memory, draft: &mut draft };
                // What is busy now leaves when it is acknowledged.
                let _all_or_some = evict(&mut tx, memory, excess, false);
                self.unfinished.commit(&mut self.memory, draft, plans);
            }
        }
    }
}
