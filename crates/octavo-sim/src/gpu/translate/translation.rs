//! The answer of a lookup.

use crate::gpu::translate::entry::Entry;

/// A translation and its arrival; or an invalid entry and the moment when the walker found that the driver is needed.
#[derive(Clone, Copy)]
pub(crate) struct Translation {
    pub entry: Entry,
    pub time: u64,
}

impl Translation {
    #[inline(always)]
    pub const fn ready(entry: Entry, time: u64) -> Self {
        Self { entry, time }
    }

    #[inline(always)]
    pub const fn fault(time: u64) -> Self {
        Self { entry: Entry::INVALID, time }
    }
}
