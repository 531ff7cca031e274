//! Memories that grow and shrink.

use crate::contract::ids::{HOST, ProcessorId};
use crate::contract::plan::{Cause, Plan};
use crate::manager::Manager;
use crate::mechanism::room::evict;
use crate::transaction::Transaction;

impl Manager {
    pub(super) fn resize(&mut self, processor: ProcessorId, pages: u32, plans: &mut Vec<Plan>) {
        assert!(processor.index() < self.geometry().processors(), "{processor} is not in the node");
        self.set_capacity(processor, pages);
        self.shrink(plans);
        self.retry_starved(plans);
    }

    /// What foreign data takes up is no room.
    pub(super) fn set_capacity(&mut self, processor: ProcessorId, pages: u32) {
        let physical = self.memory.physical.as_mut().filter(|_| processor != HOST);
        let foreign = physical.map_or(0, |physical| {
            physical.store_mut(processor).enlarge(pages);
            physical.foreign(processor)
        });
        let room = if pages == u32::MAX { pages } else { pages.saturating_sub(foreign) };
        self.memory.frames.set_capacity(processor, room);
    }

    /// Evicts what no longer fits since a capacity changed.
    pub(super) fn shrink(&mut self, plans: &mut Vec<Plan>) {
        for index in 1..self.geometry().processors() {
            let processor = ProcessorId(index as u8);
            let excess = self.memory.frames.excess(processor);
            if excess > 0 {
                let mut draft = self.unfinished.open();
                draft.cause = Some(Cause::Eviction);
                let mut tx = Transaction { memory: &mut self.memory, draft: &mut draft };
                // What is busy now leaves when it is acknowledged.
                let _all_or_some = evict(&mut tx, processor, excess, false);
                self.unfinished.commit(&mut self.memory, draft, plans);
            }
        }
    }
}
