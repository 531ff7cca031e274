//! `Instant` runs the suite.

use octavo_manager::{Allocation, Fault, MappingMode, MemoryId, PageId, Permission, ProcessorId};

use super::machine::Entry;
use super::subject::Subject;
use crate::instant::Instant;

impl Subject for Instant {
    fn allocate(&mut self, allocation: &Allocation) {
        let populated = allocation.populated && !allocation.kind.stays();
        Self::allocate(self, &Allocation { populated, ..*allocation });
    }

    fn entry(&self, processor: ProcessorId, page: PageId) -> Option<Entry> {
        let entry = Self::entry(self, processor, page);
        entry.is_mapped().then(|| Entry {
            target: entry.target(),
            permission: if entry.is_writable() { Permission::ReadWrite } else { Permission::ReadOnly },
            mode: if entry.is_broadcast() { MappingMode::Broadcast } else { MappingMode::Direct },
        })
    }

    fn holds(&self, memory: MemoryId, page: PageId) -> Option<bool> {
        Some(self.copies(page).contains(memory))
    }

    fn take_entry_away(&mut self, processor: ProcessorId, page: PageId) {
        Self::take_entry_away(self, processor, page);
    }

    fn take_woken(&mut self) -> Option<Fault> {
        Self::take_woken(self)
    }
}
