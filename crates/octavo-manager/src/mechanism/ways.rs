//! The destinations of victims, found before any of them leaves: if they do not all find room, all stay.

use crate::contract::ids::{HOST_MEMORY, MAX_MEMORIES, MemoryId, PageId, PageRun};
use crate::contract::plan::Step;
use crate::mechanism::removal;
use crate::memories::frames::{Change, Frames};
use crate::pages::Pages;
use crate::strategies::demotion::Occupancy;
use crate::transaction::Transaction;
use crate::transaction::state::Memory;

/// Victims that leave together.
pub(super) struct Way {
    pub to: MemoryId,
    /// How many victims leave in this and the previous ways.
    pub end: usize,
    /// Blocks that are kept there for others and make room for them.
    pub removes: Vec<u32>,
    /// Frames that the plan gives up there, but only after the victims have come.
    pub late: u32,
}

/// The state of memories once the present victims have left.
pub(super) struct Outlook {
    change: Change,
    /// Pages that were kept for others and make room, by memory.
    gone: [u32; MAX_MEMORIES],
    /// Their blocks.
    removed: Vec<(MemoryId, u32)>,
    /// Frames of each memory that steps of the plan give up, which come behind those that make room.
    late: [u32; MAX_MEMORIES],
    /// Memories that take nothing, whatever is free there.
    closed: [bool; MAX_MEMORIES],
}

/// The ways of victims that leave `from`, block by block; of those that go to the host one after another, one way.
/// `None` if the host has no room for all of these.
pub(super) fn ways(
    tx: &mut Transaction<'_>,
    victims: &[PageId],
    from: MemoryId,
    room_for: Option<PageRun>,
) -> Option<Vec<Way>> {
    let span = tx.memory.pages.geometry().block_pages();
    let mut outlook = Outlook::now(tx);
    outlook.look_at_sources(tx);
    let mut ways: Vec<Way> = Vec::new();
    let (mut end, mut written) = (0, 0);
    for block in victims.chunk_by(|one, next| one.0 / span == next.0 / span) {
        end += block.len();
        let sole = block.iter().filter(|&&page| !tx.state(page).replicated()).count() as u32;
        let to = destination(tx, block, sole, from, &outlook);
        let late = outlook.late[to.index()];
        let removes = outlook.room_beside(tx, to, (sole, late), room_for);
        let (to, removes, late) = removes.map_or((HOST_MEMORY, Vec::new(), 0), |removes| (to, removes, late));
        written += if to.on_host() { sole } else { 0 };
        match ways.last_mut().filter(|last| to.on_host() && last.to == to) {
            Some(last) => last.end = end,
            None => ways.push(Way { to, end, removes, late }),
        }
    }
    let frames = &tx.memory.frames;
    let fits = !frames.counts(HOST_MEMORY) || frames.host_holds(written, &tx.draft.flight.change);
    if !fits {
        return None;
    }
    ways.iter().for_each(|way| tx.memory.demotion.left(from, way.to));
    Some(ways)
}

/// The memory that the victims of one block should go to. A block that leaves only in part goes to the host.
fn destination(tx: &mut Transaction<'_>, block: &[PageId], sole: u32, from: MemoryId, outlook: &Outlook) -> MemoryId {
    let Memory { frames, demotion, pages, .. } = &mut *tx.memory;
    let arriving = Some(block[0].0 / pages.geometry().block_pages());
    let chosen = demotion.destination(from, sole, &Occupancy { arriving, ..outlook.occupancy(frames, pages) });
    let there = chosen.on_host() || chosen != from && removal::whole(tx, from, block);
    if there { chosen } else { HOST_MEMORY }
}

impl Outlook {
    /// Before any victim leaves.
    pub(super) fn now(tx: &Transaction<'_>) -> Self {
        Self {
            change: tx.draft.flight.change.clone(),
            gone: [0; MAX_MEMORIES],
            removed: Vec::new(),
            late: [0; MAX_MEMORIES],
            closed: [false; MAX_MEMORIES],
        }
    }

    /// Memories from which the plan fetches give frames up late. If frames have numbers, nothing distinguishes these
    /// from free frames, so these memories take nothing: another neighbour is asked instead.
    fn look_at_sources(&mut self, tx: &Transaction<'_>) {
        for step in &tx.draft.steps {
            if let Step::Release { memory, pages } = *step {
                self.late[memory.index()] += pages.count;
                self.closed[memory.index()] = !memory.on_host() && tx.memory.physical.is_some();
            }
        }
    }

    /// The same, as a demotion sees it.
    pub(super) fn occupancy<'a>(&'a self, frames: &'a Frames, pages: &'a Pages) -> Occupancy<'a> {
        Occupancy { frames, pages, change: &self.change, gone: &self.gone, closed: &self.closed, arriving: None }
    }

    /// Finds room for this many pages in another GPU's memory, from free frames and removable blocks. Returns the
    /// blocks to remove, or `None` if there is not enough room, or the memory is the host's or closed. Of the frames
    /// that will be free once the plan is done, `late` are not free yet.
    fn room_beside(
        &mut self,
        tx: &Transaction<'_>,
        memory: MemoryId,
        (pages, late): (u32, u32),
        room_for: Option<PageRun>,
    ) -> Option<Vec<u32>> {
        if memory.on_host() || self.closed[memory.index()] {
            return None;
        }
        let blocks = self.room_for(tx, memory, (pages, pages + late), room_for)?;
        self.change.precede(memory, late);
        Some(blocks)
    }

    /// The same for pages that come there behind all other steps of the plan.
    pub(super) fn room_after(
        &mut self,
        tx: &Transaction<'_>,
        memory: MemoryId,
        pages: u32,
        room_for: Option<PageRun>,
    ) -> Option<Vec<u32>> {
        self.room_for(tx, memory, (pages, pages), room_for)
    }

    /// The same for pages that need more free frames than they take.
    fn room_for(
        &mut self,
        tx: &Transaction<'_>,
        memory: MemoryId,
        (pages, needed): (u32, u32),
        room_for: Option<PageRun>,
    ) -> Option<Vec<u32>> {
        let missing = tx.memory.frames.missing(memory, needed, &self.change)?;
        let blocks = removal::Removable { memory, near: room_for, removed: &self.removed };
        let (blocks, frames) = blocks.until(tx, missing);
        if frames < missing {
            return None;
        }
        self.removed.extend(blocks.iter().map(|&block| (memory, block)));
        self.gone[memory.index()] += frames;
        self.change.lose(memory, frames);
        self.change.gain(memory, pages);
        Some(blocks)
    }
}
