//! Page-table entries as the hardware sees them at a moment, one byte a (GPU, page).
//!
//! The manager's state runs ahead of these: it changes when a decision is made, they change when the plan is carried
//! out.

use octavo_manager::{PageId, PageRun, ProcessorId};

const VALID: u8 = 1 << 7;
const BROADCAST: u8 = 1 << 6;
const WRITABLE: u8 = 1 << 5;
const TARGET: u8 = WRITABLE - 1;

/// One translation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry(u8);

impl Entry {
    /// No mapping.
    pub const INVALID: Self = Self(0);

    pub const fn new(target: ProcessorId, writable: bool, broadcast: bool) -> Self {
        let flags = if writable { WRITABLE } else { 0 } | if broadcast { BROADCAST } else { 0 };
        Self(VALID | flags | target.0)
    }

    #[inline]
    pub const fn is_valid(self) -> bool {
        self.0 & VALID != 0
    }

    /// Whose memory serves accesses.
    #[inline]
    pub const fn target(self) -> ProcessorId {
        ProcessorId(self.0 & TARGET)
    }

    /// Stores also go to every other GPU with a broadcast entry.
    #[inline]
    pub const fn is_broadcast(self) -> bool {
        self.0 & BROADCAST != 0
    }

    #[inline]
    pub const fn is_writable(self) -> bool {
        self.0 & WRITABLE != 0
    }

    /// Whether the access is allowed without the driver.
    #[inline]
    pub const fn allows(self, write: bool) -> bool {
        self.is_valid() && (!write || self.is_writable())
    }

    #[inline]
    const fn read_only(self) -> Self {
        Self(self.0 & !WRITABLE)
    }
}

/// The page table of one GPU.
pub(crate) struct PageTable {
    entries: Vec<Entry>,
}

impl PageTable {
    pub fn new(pages: usize) -> Self {
        Self { entries: vec![Entry::INVALID; pages] }
    }

    #[inline]
    pub fn get(&self, page: u32) -> Entry {
        self.entries[page as usize]
    }

    pub fn set(&mut self, page: PageId, entry: Entry) {
        self.entries[page.index()] = entry;
    }

    pub fn invalidate(&mut self, pages: PageRun) {
        for page in pages.iter() {
            self.set(page, Entry::INVALID);
        }
    }

    pub fn protect(&mut self, pages: PageRun) {
        for page in pages.iter() {
            self.set(page, self.get(page.0).read_only());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_keeps_its_parts() {
        let entry = Entry::new(ProcessorId(16), true, true);
        assert_eq!((entry.target(), entry.is_broadcast(), entry.allows(true)), (ProcessorId(16), true, true));
        assert!(entry.read_only().allows(false) && !entry.read_only().allows(true));
        assert!(!Entry::INVALID.allows(false));
    }
}
