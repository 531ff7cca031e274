//! A 2 MiB block as a unit of eviction: all of its resident pages leave, or none.

use crate::contract::ids::{MemoryId, PageId};
use crate::pages::residency::Residency;

/// The result for the block that is next.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// None of its pages is resident.
    Absent,
    /// It stays: a page is in an unfinished plan, or is missing although all must be resident.
    Stays,
    /// Its pages were appended.
    Leaves,
}

/// Appends the pages of the block that begins with `first` that take up frames of `holder`, if it can leave. If it has
/// to be `whole`, all of its pages that are part of allocations have to be among them.
pub(super) fn append(
    holder: MemoryId,
    first: PageId,
    whole: bool,
    memory: &Residency<'_>,
    victims: &mut Vec<PageId>,
) -> Turn {
    let before = victims.len();
    let resident = memory.resident_in_block(holder, first);
    let pages = resident.iter().map(|index| PageId(first.0 + index));
    victims.extend(pages.filter(|&page| memory.resident(holder, page)));
    if victims.len() == before {
        return Turn::Absent;
    }
    let complete = || memory.block(first).iter().filter(|&page| memory.known(page)).count() == victims.len() - before;
    let leaves = victims[before..].iter().all(|&page| memory.evictable(holder, page)) && (!whole || complete());
    if leaves {
        return Turn::Leaves;
    }
    victims.truncate(before);
    Turn::Stays
}
