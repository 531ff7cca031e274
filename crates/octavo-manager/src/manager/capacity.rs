//! Memories that grow and shrink.

use octavo_units::{Bytes, Time};

use crate::contract::error::ConfigError;
use crate::contract::ids::{HOST_MEMORY, MemoryId};
use crate::contract::masks::MemoryMask;
use crate::contract::plan::{Cause, Plan, PlanClass};
use crate::manager::Manager;
use crate::mechanism::room::{NoRoom, Wanted, evict};
use crate::memories::usage::OutOfMemory;
use crate::transaction::Transaction;

impl Manager {
    /// Checks that no GPU has to keep more than half of its memory free, since no processor could use that. A memory
    /// that shrinks later keeps at most half of the remaining frames.
    ///
    /// # Errors
    /// Names the option of the demotion that asks for more.
    pub fn check_reserve(&self) -> Result<(), ConfigError> {
        let Some((option, asked)) = self.memory.demotion.asked_for() else { return Ok(()) };
        let gpus = MemoryMask::all_gpus(self.geometry().gpus).iter();
        let Some(least) = gpus.map(|memory| self.memory.frames.capacity(memory)).min() else { return Ok(()) };
        if asked <= least / 2 {
            return Ok(());
        }
        let bytes = |frames: u32| Bytes(u64::from(frames) * self.geometry().page_size.0);
        let (most, whole, found) = (bytes(least / 2), bytes(least), bytes(asked));
        let message = format!("expected at most {most}, half of a GPU's memory of {whole}, found {found}");
        Err(ConfigError::new(format!("demotion.{option}"), message))
    }

    pub(super) fn resize(&mut self, memory: MemoryId, pages: u32, plans: &mut Vec<Plan>) {
        assert!(!memory.on_host(), "the host's memories keep their size");
        assert!(memory.processor().index() < self.geometry().processors(), "{memory} is not in the node");
        self.set_capacity(memory, pages);
        self.retry_starved(plans);
    }

    /// Changes a memory's capacity. Frames with foreign data do not count.
    pub(super) fn set_capacity(&mut self, memory: MemoryId, pages: u32) {
        let physical = self.memory.physical.as_mut();
        let foreign = physical.map_or(0, |physical| {
            physical.store_mut(memory.processor()).enlarge(pages);
            physical.foreign(memory.processor())
        });
        let room = if pages == u32::MAX { pages } else { pages.saturating_sub(foreign) };
        self.memory.frames.set_capacity(memory, room);
    }

    /// Does work that no access waits for: evicts pages that no longer fit since a capacity changed, or ahead of need
    /// if frames should be kept free, and writes pages back. Call it after all events have been handled, including
    /// frees that waited for a plan: pages that leave or are written back cannot be freed. Work that is refused is
    /// begun again only here.
    pub fn work_ahead(&mut self, now: Time, plans: &mut Vec<Plan>) {
        let mut gpus = MemoryMask::all_gpus(self.geometry().gpus).iter();
        if !self.memory.pages.spare().any_awaiting() && !gpus.any(|memory| self.surplus(memory).frames > 0) {
            return;
        }
        self.begin(now);
        self.shrink(plans);
        self.write_back(plans);
        self.settle();
    }

    /// Evicts pages beyond the capacity. Busy pages leave once their plan is acknowledged.
    fn shrink(&mut self, plans: &mut Vec<Plan>) {
        for memory in MemoryMask::all_gpus(self.geometry().gpus).iter() {
            let wanted = self.surplus(memory);
            if wanted.frames == 0 {
                continue;
            }
            let mut draft = self.unfinished.open_for(PlanClass::Background);
            draft.cause = Some(Cause::Eviction);
            let mut tx = Transaction { memory: &mut self.memory, draft: &mut draft };
            let left = evict(&mut tx, memory, wanted, None);
            if wanted.yields > 0 && left == Err(NoRoom::Frames(HOST_MEMORY)) {
                self.out_of_host_memory();
            }
            self.unfinished.commit(&mut self.memory, draft, plans);
        }
    }

    /// The frames of a GPU beyond its capacity, or among those that should be free. Pages kept for others give way only
    /// if the capacity requires it.
    pub(super) fn surplus(&self, memory: MemoryId) -> Wanted {
        let frames = &self.memory.frames;
        let yields = frames.excess(memory, 0, 0);
        let ahead = frames.excess(memory, self.memory.demotion.reserve(), self.memory.staying(memory));
        let kept = self.memory.pages.spare().pages(memory);
        Wanted { frames: yields.max(ahead.saturating_sub(kept)), all: false, yields }
    }

    /// Pages have to leave a GPU, and no memory of the host has room.
    fn out_of_host_memory(&mut self) {
        let memory = &self.memory;
        if let Some(&page) = memory.victims.first() {
            let space = memory.pages.space(page);
            self.out_of_memory.get_or_insert(OutOfMemory { memory: HOST_MEMORY, page, space });
        }
    }
}
