//! What is known about one page.

use serde::Serialize;

use crate::contract::ids::{PageId, ProcessorId, ProcessorMask};

/// How the copies and mappings of a page relate to each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// One copy that anyone may map, or several identical ones that are mapped read-only where they are.
    #[default]
    Plain,
    /// Several copies kept alike by broadcasting stores (GPS); writable where they are.
    Broadcast,
    /// Mapped as if local on every GPU, by decree: the `ideal` bound. One copy is kept; it takes up no room.
    Everywhere,
}

/// A uniform placement scheme, as GRIT keeps it in PTE\[10:9\].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[repr(u8)]
pub enum Scheme {
    /// Migrate at every far fault.
    OnTouch = 0b01,
    /// Map remotely, migrate when the access counter says so.
    AccessCounter = 0b10,
    /// Replicate for readers, collapse for a writer.
    Duplication = 0b11,
}

/// Pages of a GRIT group, as kept in PTE\[53:52\] of the group's base page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum GroupSize {
    /// The page is on its own, or is not the base of a group.
    #[default]
    One = 0b00,
    /// Eight pages.
    Eight = 0b01,
    /// Sixty-four pages.
    SixtyFour = 0b10,
    /// A whole page-table page.
    FiveHundredTwelve = 0b11,
}

impl GroupSize {
    /// How many pages that is.
    #[must_use]
    pub const fn pages(self) -> u32 {
        1 << (3 * self as u32)
    }
}

/// Everything the manager knows about a page, for strategies, tests and reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageView {
    /// Which page.
    pub page: PageId,
    /// Whether it is part of an allocation; if not, the rest means nothing.
    pub allocated: bool,
    /// Who has the copy that remote mappings point at and that is written back on eviction.
    pub owner: ProcessorId,
    /// Whose memories hold a copy.
    pub resident: ProcessorMask,
    /// Who can access it without a far fault. A mapping leads to the processor's own copy if it has one, else to the
    /// owner's.
    pub mapped: ProcessorMask,
    /// Who can write it without a protection fault.
    pub writable: ProcessorMask,
    /// How its copies relate.
    pub mode: Mode,
    /// Its scheme (PTE\[10:9\]) under a placement that keeps one for each page.
    pub scheme: Option<Scheme>,
    /// The group it is the base of (PTE\[53:52\]).
    pub group: GroupSize,
    /// Whether an unfinished plan names it.
    pub busy: bool,
    /// Whether a GPU ever faulted on it since it was allocated.
    pub touched: bool,
}

impl PageView {
    /// Whether more than one memory holds the page.
    #[must_use]
    pub fn replicated(&self) -> bool {
        self.resident.len() > 1
    }
}
