//! Room is made in a full memory.

use crate::contract::ids::{HOST_MEMORY, MemoryId, PageId, PageRun};
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

/// Where pages go, and how many of them: the others go elsewhere.
pub(crate) type Room = (MemoryId, u32);

/// Frees frames until `pages` fit into `memory`. One of the host's stands for all of them: nothing leaves these, and
/// what does not fit into one goes to the next. Nothing changes if not all pages fit.
pub(crate) fn make_room(tx: &mut Transaction<'_>, memory: MemoryId, pages: PageRun) -> Result<Room, NoRoom> {
    if memory.on_host() {
        return room_on_host(tx, memory, pages.count);
    }
    if tx.draft.may_compact && tx.wants_large_frame(memory.processor(), pages.first) {
        return Err(NoRoom::LargeFrame(memory));
    }
    let change = &tx.draft.flight.change;
    match tx.memory.frames.missing(memory, pages.count, change).ok_or(NoRoom::Frames(memory))? {
        0 => {}
        missing => evict(tx, memory, missing, true)?,
    }
    Ok((memory, pages.count))
}

fn room_on_host(tx: &Transaction<'_>, wanted: MemoryId, count: u32) -> Result<Room, NoRoom> {
    let (frames, change) = (&tx.memory.frames, &tx.draft.flight.change);
    let room = frames.room_on_host(wanted, count, change).filter(|_| frames.host_holds(count, change));
    room.ok_or(NoRoom::Frames(wanted))
}

/// Whether the host has room for those victims that are sole copies.
fn host_takes(tx: &Transaction<'_>, victims: &[PageId]) -> bool {
    let frames = &tx.memory.frames;
    if !frames.counts(HOST_MEMORY) {
        return true;
    }
    let sole = victims.iter().filter(|&&page| !tx.state(page).replicated()).count();
    frames.host_holds(sole as u32, &tx.draft.flight.change)
}

/// Evicts `count` pages from `memory`: all of them, or as many as can be found unless `all`.
pub(crate) fn evict(tx: &mut Transaction<'_>, memory: MemoryId, count: u32, all: bool) -> Result<(), NoRoom> {
    let mut victims = std::mem::take(&mut tx.memory.victims);
    let residency = Residency { pages: &tx.memory.pages };
    tx.memory.eviction.victims(memory, count, all, &residency, &mut victims);
    let enough = victims.len() >= count as usize;
    if !host_takes(tx, &victims) {
        victims.iter().rev().for_each(|&page| tx.memory.eviction.restored(memory, page));
        tx.memory.victims = victims;
        return Err(NoRoom::Frames(HOST_MEMORY));
    }
    std::mem::swap(&mut tx.draft.steps, &mut tx.draft.room);
    // In the order of the victims, so that a failure restores them in the reverse of it.
    tx.each_uniform_run(&victims, |tx, run| leave(tx, run, memory));
    std::mem::swap(&mut tx.draft.steps, &mut tx.draft.room);
    tx.memory.victims = victims;
    if enough { Ok(()) } else { Err(NoRoom::Frames(memory)) }
}
