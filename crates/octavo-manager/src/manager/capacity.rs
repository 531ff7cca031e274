//! Memories that grow and shrink.

use octavo_units::Time;

use crate::contract::ids::{HOST_MEMORY, MemoryId};
use crate::contract::masks::MemoryMask;
use crate::contract::plan::{Cause, Plan, PlanClass};
use crate::manager::Manager;
use crate::mechanism::room::{NoRoom, Wanted, evict};
use crate::memories::usage::OutOfMemory;
use crate::transaction::Transaction;

impl Manager {
    pub(super) fn resize(&mut self, memory: MemoryId, pages: u32, plans: &mut Vec<Plan>) {
        assert!(!memory.on_host(), "the host's memories keep their size");
        assert!(memory.processor().index() < self.geometry().processors(), "{memory} is not in the node");
        self.set_capacity(memory, pages);
        self.shrink(plans);
        self.retry_starved(plans);
    }

    /// What foreign data takes up is no room.
    pub(super) fn set_capacity(&mut self, memory: MemoryId, pages: u32) {
        let physical = self.memory.physical.as_mut();
        let foreign = physical.map_or(0, |physical| {
            physical.store_mut(memory.processor()).enlarge(pages);
            physical.foreign(memory.processor())
        });
        let room = if pages == u32::MAX { pages } else { pages.saturating_sub(foreign) };
        self.memory.frames.set_capacity(memory, room);
    }

    /// Does what nobody waits for: evicts ahead of need, if frames should be kept free, and writes back. To be called
    /// when what happened has been told to the end, frees that waited for a plan included: pages that are written back
    /// cannot be freed.
    pub fn work_ahead(&mut self, now: Time, plans: &mut Vec<Plan>) {
        let reserves = self.memory.demotion.reserve() > 0;
        if !reserves && !self.memory.pages.spare().any_awaiting() {
            return;
        }
        self.begin(now);
        if reserves {
            self.shrink(plans);
        }
        self.write_back(plans);
        self.settle();
    }

    /// Evicts what no longer fits since a capacity changed, or should not take up the frames that are kept free.
    pub(super) fn shrink(&mut self, plans: &mut Vec<Plan>) {
        let free = self.memory.demotion.reserve();
        for memory in MemoryMask::all_gpus(self.geometry().gpus).iter() {
            let kept = self.memory.pages.spare().pages(memory);
            let yields = self.memory.frames.excess(memory, 0);
            let ahead = self.memory.frames.excess(memory, free).saturating_sub(kept);
            if yields.max(ahead) > 0 {
                let mut draft = self.unfinished.open_for(PlanClass::Background);
                draft.cause = Some(Cause::Eviction);
                let mut tx = Transaction { memory: &mut self.memory, draft: &mut draft };
                // What is busy now leaves when it is acknowledged.
                let wanted = Wanted { frames: yields.max(ahead), all: false, yields };
                let left = evict(&mut tx, memory, wanted, None);
                if yields > 0 && left == Err(NoRoom::Frames(HOST_MEMORY)) {
                    self.out_of_host_memory();
                }
                self.unfinished.commit(&mut self.memory, draft, plans);
            }
        }
    }

    /// What has to leave a GPU has nowhere to go.
    fn out_of_host_memory(&mut self) {
        let memory = &self.memory;
        if let Some(&page) = memory.victims.first() {
            let space = memory.pages.space(page);
            self.out_of_memory.get_or_insert(OutOfMemory { memory: HOST_MEMORY, page, space });
        }
    }
}
