//! Page-table entries as the hardware sees them at a moment, one for each (GPU, page).
//!
//! The manager's state runs ahead of these: it changes when a decision is made, they change when the plan is carried
//! out.

use octavo_manager::{MAX_MEMORIES, MemoryId, PageId, PageRun};

/// Bits of a valid entry that tell it from others.
pub(crate) const TOLD_BITS: u32 = 17;
const VALID: u32 = 1 << TOLD_BITS;
const VERSION_SHIFT: u32 = 9;
const BROADCAST: u32 = 1 << 8;
const WRITABLE: u32 = 1 << 7;
const TARGET: u32 = WRITABLE - 1;
const _: () = assert!(MAX_MEMORIES <= 1 << TARGET.count_ones());

/// One translation, with a version that changes each time the page is invalidated: first-level caches keep it with each
/// line, so that lines of an old mapping never hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry(u32);

impl Entry {
    /// No mapping, ever.
    pub const INVALID: Self = Self(0);

    pub const fn new(target: MemoryId, writable: bool, broadcast: bool) -> Self {
        let flags = if writable { WRITABLE } else { 0 } | if broadcast { BROADCAST } else { 0 };
        Self(VALID | flags | target.0 as u32)
    }

    #[inline]
    pub const fn is_valid(self) -> bool {
        self.0 & VALID != 0
    }

    /// Which memory serves accesses.
    #[inline]
    pub const fn target(self) -> MemoryId {
        MemoryId((self.0 & TARGET) as u8)
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

    /// The number of times that the page was invalidated here, modulo 256.
    #[inline]
    pub const fn version(self) -> u8 {
        (self.0 >> VERSION_SHIFT) as u8
    }

    /// The same mapping without its version.
    pub const fn unversioned(self) -> Self {
        Self(self.0 & (VALID | BROADCAST | WRITABLE | TARGET))
    }

    /// The bits that distinguish a valid entry from others, in [`TOLD_BITS`].
    #[inline]
    pub const fn told(self) -> u32 {
        debug_assert!(self.is_valid());
        self.0 & (VALID - 1)
    }

    /// The valid entry with these bits.
    #[inline]
    pub const fn of_told(bits: u32) -> Self {
        Self(bits | VALID)
    }

    const fn with_version(self, version: u8) -> Self {
        Self(self.unversioned().0 | (version as u32) << VERSION_SHIFT)
    }
}

/// The page table of one GPU.
pub(crate) struct PageTable {
    /// The three low bytes of each entry; the fourth has none of its bits.
    entries: Vec<[u8; 3]>,
}

impl PageTable {
    pub fn new(pages: usize) -> Self {
        Self { entries: vec![[0; 3]; pages] }
    }

    #[inline]
    pub fn get(&self, page: u32) -> Entry {
        let [low, middle, high] = self.entries[page as usize];
        Entry(u32::from_le_bytes([low, middle, high, 0]))
    }

    fn put(&mut self, page: PageId, entry: Entry) {
        let [low, middle, high, _] = entry.0.to_le_bytes();
        self.entries[page.index()] = [low, middle, high];
    }

    /// Writes an entry. Returns whether translations made from the one before would be wrong: they lead elsewhere,
    /// allow too much or store in another way.
    pub fn set(&mut self, page: PageId, entry: Entry) -> bool {
        let old = self.get(page.0);
        let loses = old.is_writable() && !entry.is_writable();
        let differs = old.target() != entry.target() || old.is_broadcast() != entry.is_broadcast() || loses;
        self.put(page, entry.with_version(old.version()));
        old.is_valid() && differs
    }

    /// Removes entries; lines cached under them never hit again.
    pub fn invalidate(&mut self, pages: PageRun) {
        for page in pages.iter() {
            let version = self.get(page.0).version().wrapping_add(1);
            self.put(page, Entry::INVALID.with_version(version));
        }
    }

    pub fn protect(&mut self, pages: PageRun) {
        for page in pages.iter() {
            self.put(page, Entry(self.get(page.0).0 & !WRITABLE));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_keeps_its_parts() {
        let last = MemoryId(MAX_MEMORIES as u8 - 1);
        let entry = Entry::new(last, true, true).with_version(255);
        assert_eq!((entry.target(), entry.is_broadcast(), entry.allows(true)), (last, true, true));
        assert_eq!((entry.version(), entry.unversioned()), (255, Entry::new(last, true, true)));
        assert_eq!(Entry::of_told(entry.told()), entry);
        assert!(entry.told() < 1 << TOLD_BITS);
        assert!(!Entry::INVALID.allows(false));
    }

    #[test]
    fn a_table_says_when_translations_become_wrong_and_counts_invalidations() {
        let mut table = PageTable::new(1);
        let (page, run) = (PageId(0), PageRun::one(PageId(0)));
        let local = |writable| Entry::new(MemoryId(1), writable, false);
        assert!(!table.set(page, local(false)), "nothing was mapped");
        assert!(!table.set(page, local(true)), "more is allowed");
        assert!(table.set(page, Entry::new(MemoryId(2), true, false)), "another target");
        table.invalidate(run);
        assert_eq!((table.get(0).is_valid(), table.get(0).version()), (false, 1));
        table.set(page, local(true));
        table.protect(run);
        assert_eq!((table.get(0).unversioned(), table.get(0).version()), (local(false), 1));
    }
}
