//! Room is made in a full memory.

use crate::contract::ids::{HOST_MEMORY, MemoryId, PageRun, SpaceId};
use crate::mechanism::evict::leave_all;
use crate::mechanism::removal;
use crate::mechanism::victims::{Need, choose};
use crate::mechanism::ways::ways;
use crate::transaction::Transaction;
use crate::transaction::state::Memory;

/// Why a page cannot come to a memory now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRoom {
    /// No frame can be freed: every page there is busy.
    Frames(MemoryId),
    /// The page should have a large frame, and memory can perhaps be compacted for it.
    LargeFrame(MemoryId),
}

/// The destination of pages, and how many of them fit: the others go elsewhere.
pub(crate) type Room = (MemoryId, u32);

/// Frees frames until `pages` fit into `memory`. One of the host's memories stands for all of them: nothing leaves
/// these, and pages that do not fit into one go to the next. Changes nothing if not all pages fit.
pub(crate) fn make_room(tx: &mut Transaction<'_>, memory: MemoryId, pages: PageRun) -> Result<Room, NoRoom> {
    if memory.on_host() {
        return room_on_host(tx, memory, pages);
    }
    if tx.memory.system_wide(pages.first) {
        let spare = tx.memory.frames.spare(memory, &tx.draft.flight.change);
        let fits = tx.memory.may_lie_in(memory) && spare >= pages.count;
        return if fits { Ok((memory, pages.count)) } else { Err(NoRoom::Frames(memory)) };
    }
    if tx.draft.may_compact && tx.wants_large_frame(memory.processor(), pages.first) {
        return Err(NoRoom::LargeFrame(memory));
    }
    let change = &tx.draft.flight.change;
    match tx.memory.frames.missing(memory, pages.count, change).ok_or(NoRoom::Frames(memory))? {
        0 => {}
        missing => evict(tx, memory, Wanted { frames: missing, all: true, yields: missing }, Some(pages))?,
    }
    Ok((memory, pages.count))
}

fn room_on_host(tx: &Transaction<'_>, wanted: MemoryId, pages: PageRun) -> Result<Room, NoRoom> {
    let (frames, change) = (&tx.memory.frames, &tx.draft.flight.change);
    let holds = match tx.memory.bound(pages.first) {
        Some(nodes) => frames.hold_together(nodes.iter().filter(|node| node.on_host()), pages.count, change),
        None => frames.host_holds(pages.count, change),
    };
    let room = tx.memory.room_on_host(wanted, pages, change).filter(|_| holds);
    room.ok_or(NoRoom::Frames(wanted))
}

/// The address space that needs room for these pages. Memory that stays takes frames from all: it is not shared.
fn asking(tx: &Transaction<'_>, pages: PageRun) -> Option<SpaceId> {
    let known = &tx.memory.pages;
    (!known.kind(pages.first).stays()).then(|| known.space(pages.first))
}

/// Frames that should be freed.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    /// How many.
    pub frames: u32,
    /// Whether fewer are of no use.
    pub all: bool,
    /// How many of them may hold pages for others.
    pub yields: u32,
}

/// Frees frames of `memory` for some pages. Pages that it keeps for others leave before its own if they can be removed
/// without a copy, and stay while they await their copy on the host. Kept pages of the blocks that need the room leave
/// last.
pub(crate) fn evict(
    tx: &mut Transaction<'_>,
    memory: MemoryId,
    wanted: Wanted,
    room_for: Option<PageRun>,
) -> Result<(), NoRoom> {
    let made = free_frames(tx, memory, wanted, (room_for, room_for));
    if made != Err(NoRoom::Frames(memory)) || room_for.is_none() || tx.memory.pages.spare().backed(memory) == 0 {
        return made;
    }
    free_frames(tx, memory, wanted, (room_for, None))
}

/// The same, except for the blocks that pages `near` are in.
fn free_frames(
    tx: &mut Transaction<'_>,
    memory: MemoryId,
    wanted: Wanted,
    (room_for, near): (Option<PageRun>, Option<PageRun>),
) -> Result<(), NoRoom> {
    let (blocks, yielded) = removal::Removable { memory, near, removed: &[] }.until(tx, wanted.yields);
    let count = wanted.frames.saturating_sub(yielded);
    let mut victims = std::mem::take(&mut tx.memory.victims);
    victims.clear();
    let need = Need { pages: count, all: wanted.all, asking: room_for.and_then(|pages| asking(tx, pages)) };
    let for_others = if count > 0 { choose(tx.memory, memory, &need, &mut victims) } else { 0 };
    let enough = victims.len() >= count as usize;
    let Some(ways) = ways(tx, &victims, memory, room_for) else {
        let Memory { pages, evictors, .. } = &mut *tx.memory;
        victims.iter().rev().for_each(|&page| evictors.restored(memory, page, pages));
        tx.memory.victims = victims;
        return Err(NoRoom::Frames(HOST_MEMORY));
    };
    if enough || !wanted.all {
        tx.memory.statistics.evictions_for_others += u64::from(for_others);
        if !victims.is_empty() {
            tx.memory.was_full = tx.memory.was_full.with(memory);
        }
        std::mem::swap(&mut tx.draft.steps, &mut tx.draft.room);
        blocks.into_iter().for_each(|block| removal::remove(tx, memory, block));
        // In the order of the victims, so that a failure restores them in the reverse of it.
        leave_all(tx, &victims, memory, &ways);
        std::mem::swap(&mut tx.draft.steps, &mut tx.draft.room);
    }
    tx.memory.victims = victims;
    if enough { Ok(()) } else { Err(NoRoom::Frames(memory)) }
}
