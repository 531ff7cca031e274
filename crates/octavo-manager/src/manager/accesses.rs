//! Accesses to pages that are mapped, for evictors that ask to be told.

use crate::contract::event::Accessed;
use crate::contract::ids::{MemoryId, PageId, ProcessorId};
use crate::manager::Manager;

impl Manager {
    /// Whether accesses are to be [told](Manager::note_accesses). It can change with a new address space.
    #[must_use]
    pub fn wants_accesses(&self) -> bool {
        self.memory.evictors.want_accesses() || self.wants_synchronisations() || self.policies.needs().accesses
    }

    /// GPUs accessed pages that they map, listed in the order of last accesses; told before any call that can make
    /// room. No plan comes of it. Pages that have been freed, or that are not in a GPU's memory, are passed over.
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
