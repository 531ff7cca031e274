//! The calls that a frame allocator receives, and its answers.

use crate::contract::counts::NamedCounts;
use crate::contract::ids::{PageId, ProcessorId, SpaceId};
use crate::memories::content::Content;
use crate::memories::store::FrameStore;

/// Chooses the base frame of a page that becomes resident in a memory. Whether there is room was decided before, so
/// that one of the frames that the request may have exists.
pub trait FrameAllocator: Send {
    /// Whether frames have to be numbered for its sake.
    fn needs_frames(&self) -> bool {
        false
    }

    /// Whether a memory has as many numbered frames as pages fit into it. If not, each block has a large frame to
    /// itself, and how full the memory is, is counted by pages alone: nothing foreign lies there, and nothing is
    /// compacted.
    fn numbers_end(&self) -> bool {
        true
    }

    /// Whether it sets large frames aside for blocks that are allocated, before their pages come.
    fn sets_aside(&self) -> bool {
        false
    }

    /// Memory channels; large frame *n* lies in channel *n* modulo this. Pages move within one.
    fn channels(&self) -> u32 {
        1
    }

    /// Whether this page should have a large frame for itself or others of its space, and none is free.
    fn wants_large_frame(&self, _memory: &FrameStore, _request: &FrameRequest<'_>) -> bool {
        false
    }

    /// The base frame of the page. If it lies in a coalesced large frame, that is splintered.
    fn choose(&mut self, memory: &FrameStore, request: &FrameRequest<'_>) -> Option<u32>;

    /// The page has its frame. `whole`: its whole block is allocated, all of it by its space.
    fn placed(&mut self, _memory: &FrameStore, _page: PageId, _whole: bool) {}

    /// Its counts by name, for summaries. Counts of registered allocators are listed with 0 under all others.
    fn counters(&self) -> NamedCounts {
        NamedCounts::default()
    }
}

/// A page that becomes resident.
pub struct FrameRequest<'a> {
    pub(crate) page: PageId,
    pub(crate) space: SpaceId,
    /// Whether the page's whole block is allocated, all of it by this space.
    pub(crate) whole: bool,
    /// Whether a free frame is available, without those that the same plan took from other pages.
    pub(crate) may_take: bool,
    pub(crate) processor: ProcessorId,
    pub(crate) slot: u32,
    /// Frames that the plan in that slot took from other pages, and may have used again.
    pub(crate) spare: &'a [(ProcessorId, u32)],
}

impl FrameRequest<'_> {
    /// Whether the page may have this base frame.
    pub(super) fn may_have(&self, memory: &FrameStore, frame: u32) -> bool {
        match memory.content(frame) {
            Content::Free => self.may_take,
            Content::Leaving(slot) => slot == self.slot,
            Content::Foreign | Content::Absent | Content::Page(_) => false,
        }
    }

    /// Base frames that the same plan took from other pages, the latest first.
    pub(super) fn taken_away<'b>(&'b self, memory: &'b FrameStore) -> impl Iterator<Item = u32> + 'b {
        let here = self.spare.iter().rev().filter(|(processor, _)| *processor == self.processor);
        here.map(|(_, frame)| *frame).filter(|&frame| memory.content(frame) == Content::Leaving(self.slot))
    }

    /// The lowest free base frame, if there is one; large pages are spared for as long as possible.
    pub(super) fn lowest(&self, memory: &FrameStore) -> Option<u32> {
        if !self.may_take {
            return None;
        }
        let coalesced = |large: u32| memory.frames[large as usize].coalesced;
        let spared = memory.holes.iter().find(|&large| !coalesced(large));
        memory.hole(spared.or_else(|| memory.holes.first())?)
    }
}
