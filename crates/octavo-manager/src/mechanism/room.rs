//! Room is made in a full memory.

use crate::contract::ids::{MemoryId, PageRun};
use crate::mechanism::evict::leave;
use crate::pages::residency::Residency;
use crate::transaction::Transaction;

/// Why a page cannot come to a memory now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRoom {
    /// No frame can be freed: every page there is busy.
    Frames(MemoryId),
    /// The page should have a large frame, and memory can perhaps be compacted for it.
    LargeFrame(MemoryId),
}

/// Frees frames until `pages` fit into `memory`. Nothing changes if they cannot.
pub(crate) fn make_room(tx: &mut Transaction<'_>, memory: MemoryId, pages: PageRun) -> Result<(), NoRoom> {
    if memory.on_host() {
        return Ok(());
    }
    if tx.draft.may_compact && tx.wants_large_frame(memory.processor(), pages.first) {
        return Err(NoRoom::LargeFrame(memory));
    }
    let change = &tx.draft.flight.change;
    match tx.memory.frames.missing(memory, pages.count, change).ok_or(NoRoom::Frames(memory))? {
        0 => Ok(()),
        missing => evict(tx, memory, missing, true),
    }
}

/// Evicts `count` pages from `memory`: all of them, or as many as can be found unless `all`.
pub(crate) fn evict(tx: &mut Transaction<'_>, memory: MemoryId, count: u32, all: bool) -> Result<(), NoRoom> {
    let mut victims = std::mem::take(&mut tx.memory.victims);
    let residency = Residency { pages: &tx.memory.pages };
    tx.memory.eviction.victims(memory, count, all, &residency, &mut victims);
    let enough = victims.len() >= count as usize;
    std::mem::swap(&mut tx.draft.steps, &mut tx.draft.room);
    // In the order of the victims, so that a failure restores them in the reverse of it.
    tx.each_uniform_run(&victims, |tx, run| leave(tx, run, memory));
    std::mem::swap(&mut tx.draft.steps, &mut tx.draft.room);
    tx.memory.victims = victims;
    if enough { Ok(()) } else { Err(NoRoom::Frames(memory)) }
}
