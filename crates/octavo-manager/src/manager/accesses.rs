//! Accesses to mapped pages, for evictors that request reports, and accesses in progress, which may keep pages.

use octavo_units::Time;

use crate::contract::event::{Accessed, UnderWay};
use crate::contract::ids::{MemoryId, PageId, ProcessorId};
use crate::contract::masks::MemoryMask;
use crate::manager::Manager;

impl Manager {
    /// Whether accesses must be [reported](Manager::note_accesses). It can change with a new address space.
    #[must_use]
    pub fn wants_accesses(&self) -> bool {
        self.memory.evictors.want_accesses() || self.wants_synchronisations() || self.policies.needs().accesses
    }

    /// GPUs accessed pages that they map, listed in the order of last accesses; reported before any call that can make
    /// room. It causes no plan. Pages that have been freed, or that are not in a GPU's memory, are passed over.
    pub fn note_accesses(&mut self, accesses: &[Accessed]) {
        if self.policies.needs().accesses {
            accesses.iter().for_each(|accessed| self.tell_placement(accessed));
        }
        for &Accessed { processor, page, times, stores } in accesses {
            if let Some(holder) = self.holder_for(processor, page) {
                let memory = &mut self.memory;
                memory.evictors.accessed(holder, page, times, &memory.pages);
                if stores {
                    memory.pages.note_stores(page);
                }
            }
        }
    }

    /// Whether accesses in progress must be [reported](Manager::note_outstanding).
    #[must_use]
    pub fn wants_outstanding(&self) -> bool {
        self.memory.pages.held().is_some()
    }

    /// Accesses of GPUs to pages that they map are in progress; reported before any call that can make room. Their
    /// pages stay until they have come back. No plan comes of it. Pages that have been freed, or that are not in a
    /// GPU's memory, are passed over.
    pub fn note_outstanding(&mut self, accesses: &[UnderWay]) {
        for &UnderWay { processor, page, until } in accesses {
            if let Some(holder) = self.holder_for(processor, page)
                && let Some(held) = self.memory.pages.held_mut()
            {
                held.note(holder, page, until);
            }
        }
    }

    /// The next time when accesses will have come back that may keep pages which should leave.
    pub(super) fn room_deadline(&self) -> Option<Time> {
        let held = self.memory.pages.held()?;
        let mut gpus = MemoryMask::all_gpus(self.geometry().gpus).iter();
        let waits = !self.frameless.is_empty()
            || self.starved.iter().any(|faults| !faults.is_empty())
            || gpus.any(|memory| self.surplus(memory).frames > 0);
        let all = MemoryMask::all_gpus(self.geometry().gpus).iter();
        if waits { all.filter_map(|memory| held.next(memory)).min() } else { None }
    }

    fn tell_placement(&mut self, accessed: &Accessed) {
        let pages = &self.memory.pages;
        let decider = if pages.allocated(accessed.page) { pages.decider(accessed.page) } else { None };
        if let Some(decider) = decider.filter(|&decider| self.policies.needs_of(decider).accesses) {
            self.policies.placement(decider).on_access(accessed);
        }
    }

    /// The GPU's memory that serves accesses of a processor to a page, if it can be made to give up the frame.
    fn holder_for(&self, processor: ProcessorId, page: PageId) -> Option<MemoryId> {
        let pages = &self.memory.pages;
        if !pages.allocated(page) || pages.kind(page).stays() {
            return None;
        }
        let (state, own) = (pages.state(page), processor.memory());
        let movable = state.movable();
        let holder = if movable.contains(own) { own } else { state.owner };
        movable.contains(holder).then_some(holder)
    }
}
