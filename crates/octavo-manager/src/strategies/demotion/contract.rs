//! The calls that a demotion strategy receives, and its answers.

use crate::contract::failure::Failure;
use crate::contract::ids::{HOST_MEMORY, MAX_MEMORIES, MemoryId};
use crate::memories::frames::{Change, Frames};
use crate::pages::Pages;

/// Decides where sole copies go that leave a GPU's memory, and how many frames are kept free for pages that come. Which
/// pages leave, [`Eviction`](crate::Eviction) decides.
///
/// A GPU's memory that gets them *keeps* them for others. No processor maps them; a processor that touches one fetches
/// it back from there, not from the host. In the background the host gets a copy of each block, first come, first
/// served, one block of each address space at a time. From then on its keeper can remove it without a copy, and does so
/// before any of its own pages leaves. Until then it stays.
pub trait Demotion: Send {
    /// The memory that the victims of one 2 MiB block go to, of which `pages` are sole copies: one of the host's, which
    /// stands for all of them, or another GPU's. They go to the host instead if pages of the block stay behind, or if
    /// that GPU has not enough frames that are free or [removable](Occupancy::removable).
    fn destination(&mut self, _from: MemoryId, _pages: u32, _memories: &Occupancy<'_>) -> MemoryId {
        HOST_MEMORY
    }

    /// Frames of each GPU's memory that should be free, or hold what is kept for others. When there are fewer, even
    /// after the plans under way, victims leave ahead of need, by plans of their own; but never for more than half of a
    /// memory.
    fn reserve(&self) -> u32 {
        0
    }

    /// The option for the number of frames of each GPU's memory to keep free or removable, and its value, if there is
    /// such an option. Callers that know the memories' sizes can [refuse](crate::Manager::check_reserve) more than
    /// half.
    fn asked_for(&self) -> Option<(&'static str, u32)> {
        None
    }

    /// Why it can no longer decide, if so. Until the run ends it may answer anything that the contract allows.
    fn failure(&self) -> Option<Box<Failure>> {
        None
    }

    /// Victims leave `from` for this memory, the [destination](Demotion::destination) if they found room there.
    fn left(&mut self, _from: MemoryId, _to: MemoryId) {}

    /// The GPU whose idle memory takes `pages` of the host on their way to `to`, so that they come over the links of
    /// that GPU; `None` if they should come straight.
    fn lender(&mut self, _to: MemoryId, _pages: u32, _memories: &Occupancy<'_>) -> Option<MemoryId> {
        None
    }

    /// Whether half of the blocks of a batch of faults come by way of [lenders](Demotion::lender).
    fn fetches_in_parallel(&self) -> bool {
        false
    }

    /// Whether the GPU that a page leaves for the host maps it there.
    fn stays_mapped(&self) -> bool {
        false
    }

    /// Whether more GPUs use idle memory of others than lend theirs: then nothing is prefetched by way of lenders.
    fn crowded(&self) -> bool {
        false
    }
}

/// How full memories are.
pub struct Occupancy<'a> {
    pub(crate) frames: &'a Frames,
    pub(crate) pages: &'a Pages,
    pub(crate) change: &'a Change,
    /// Of the removable pages, those whose room others need already.
    pub(crate) gone: &'a [u32; MAX_MEMORIES],
    /// Memories that take nothing, whatever is free there.
    pub(crate) closed: &'a [bool; MAX_MEMORIES],
    /// The block that seeks room. Pages that a GPU already keeps of it do not count as removable there.
    pub(crate) arriving: Option<u32>,
}

impl Occupancy<'_> {
    /// Frames of a memory that are free now, without those that plans in progress will take or release. Zero for a
    /// memory that cannot take anything in this plan.
    #[must_use]
    pub fn spare(&self, memory: MemoryId) -> u32 {
        if self.closed[memory.index()] { 0 } else { self.frames.spare(memory, self.change) }
    }

    /// Frames of a GPU's memory that hold blocks that it keeps for others and that the host has a copy of, without the
    /// block that seeks room.
    #[must_use]
    pub fn removable(&self, memory: MemoryId) -> u32 {
        if self.closed[memory.index()] {
            return 0;
        }
        let arriving = self.arriving.map_or(0, |block| self.pages.spare().removable_of(memory, block));
        self.pages.spare().removable_pages(memory).saturating_sub(self.gone[memory.index()] + arriving)
    }

    /// Blocks that a GPU's memory keeps for others and that the host has yet to get a copy of.
    #[must_use]
    pub fn awaiting(&self, memory: MemoryId) -> u32 {
        self.pages.spare().awaiting(memory)
    }

    /// Frames that a memory has.
    #[must_use]
    pub fn capacity(&self, memory: MemoryId) -> u32 {
        self.frames.capacity(memory)
    }
}
