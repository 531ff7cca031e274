//! The content of a base frame.

use crate::contract::ids::PageId;

/// The content of a base frame in 32 bits: a page by its number, or one of these.
pub(super) const FREE: u32 = u32::MAX;
const FOREIGN: u32 = u32::MAX - 1;
/// The last large frame may end beyond the memory.
const ABSENT: u32 = u32::MAX - 2;
/// A page that an unfinished plan took away, with the plan's slot in the lower bits.
const LEAVING: u32 = 1 << 31;

/// The content of a base frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Free,
    /// Data that no application here knows.
    Foreign,
    Absent,
    /// Given up by the unfinished plan in this slot; only that plan can use the frame again.
    Leaving(u32),
    Page(PageId),
}

impl Content {
    pub(super) fn of(raw: u32) -> Self {
        match raw {
            FREE => Self::Free,
            FOREIGN => Self::Foreign,
            ABSENT => Self::Absent,
            _ if raw & LEAVING != 0 => Self::Leaving(raw & !LEAVING),
            page => Self::Page(PageId(page)),
        }
    }

    pub(super) fn raw(self) -> u32 {
        match self {
            Self::Free => FREE,
            Self::Foreign => FOREIGN,
            Self::Absent => ABSENT,
            Self::Leaving(slot) => LEAVING | slot,
            Self::Page(page) => page.0,
        }
    }
}
