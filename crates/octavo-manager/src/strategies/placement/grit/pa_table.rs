//! The PA-Table: GRIT's record of a page's faults until its scheme is decided.

use crate::contract::ids::{Access, PageId};

/// The published entry has 48 bits in host memory: 45 of virtual page number, one read/write bit, a two-bit counter.
/// Here it is one byte of a flat array: bits 3:0 count faults after the first, bit 4 is the read/write bit, bit 5
/// says that host memory has a copy.
const COUNT: u8 = 0b1111;
const WRITTEN: u8 = 1 << 4;
const IN_MEMORY: u8 = 1 << 5;
const EXISTS: u8 = 1 << 6;

/// Entries of all pages.
#[derive(Default)]
pub(super) struct PaTable {
    entries: Vec<u8>,
}

impl PaTable {
    pub fn grow(&mut self, pages: usize) {
        if pages > self.entries.len() {
            self.entries.resize(pages, 0);
        }
    }

    pub fn exists(&self, page: PageId) -> bool {
        self.entries[page.index()] & EXISTS != 0
    }

    pub fn in_memory(&self, page: PageId) -> bool {
        self.entries[page.index()] & IN_MEMORY != 0
    }

    /// The entry was written to host memory.
    pub fn write_back(&mut self, page: PageId) {
        self.entries[page.index()] |= IN_MEMORY;
    }

    pub fn delete(&mut self, page: PageId) {
        self.entries[page.index()] = 0;
    }

    /// Counts a fault; returns its number, starting with 1. A write stays remembered for the lifetime of the entry.
    pub fn count(&mut self, page: PageId, access: Access) -> u32 {
        let entry = &mut self.entries[page.index()];
        if *entry & EXISTS == 0 {
            *entry = EXISTS;
        } else {
            *entry = *entry & !COUNT | ((*entry & COUNT) + 1).min(COUNT);
        }
        if access == Access::Write {
            *entry |= WRITTEN;
        }
        u32::from(*entry & COUNT) + 1
    }

    pub fn written(&self, page: PageId) -> bool {
        self.entries[page.index()] & WRITTEN != 0
    }

    pub fn bytes(&self) -> usize {
        self.entries.capacity()
    }
}
