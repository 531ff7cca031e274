//! Room is made in a full memory.

use crate::contract::ids::{HOST, PageRun, ProcessorId};
use crate::mechanism::evict::leave;
use crate::pages::residency::Residency;
use crate::transaction::Transaction;

/// Why a page cannot come to a memory now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRoom {
    /// No frame can be freed: every page there is busy.
    Frames(ProcessorId),
    /// The page should have a large frame, and memory can perhaps be compacted for it.
    LargeFrame(ProcessorId),
}

/// Frees frames until `pages` fit into `processor`'s memory. Nothing changes if they cannot.
pub(crate) fn make_room(tx: &mut Transaction<'_>, processor: ProcessorId, pages: PageRun) -> Result<(), NoRoom> {
    if processor == HOST {
        return Ok(());
    }
    if tx.draft.may_compact && tx.wants_large_frame(processor, pages.first) {
        return Err(NoRoom::LargeFrame(processor));
    }
    let change = &tx.draft.flight.change;
    match tx.memory.frames.missing(processor, pages.count, change).ok_or(NoRoom::Frames(processor))? {
        0 => Ok(()),
        missing => evict(tx, processor, missing, true),
    }
}

/// Evicts `count` pages from `processor`: all of them, or as many as can be found unless `all`.
pub(crate) fn evict(tx: &mut Transaction<'_>, processor: ProcessorId, count: u32, all: bool) -> Result<(), NoRoom> {
    let mut victims = std::mem::take(&mut tx.memory.victims);
    let residency = Residency { pages: &tx.memory.pages };
    tx.memory.eviction.victims(processor, count, all, &residency, &mut victims);
    let enough = victims.len() >= count as usize;
    std::mem::swap(&mut tx.draft.steps, &mut tx.draft.room);
    // In the order of the victims, so that a failure restores them in the reverse of it.
    tx.each_uniform_run(&victims, |tx, run| leave(tx, run, processor));
    std::mem::swap(&mut tx.draft.steps, &mut tx.draft.room);
    tx.memory.victims = victims;
    if enough { Ok(()) } else { Err(NoRoom::Frames(processor)) }
}
