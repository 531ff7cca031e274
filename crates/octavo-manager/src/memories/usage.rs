//! How full memories are, for callers that ask.

use crate::contract::ids::{MemoryId, PageId, SpaceId};
use crate::memories::large_frame::Holder;
use crate::memories::store::FrameStore;

/// How a memory is used, in frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// Base frames in use by applications, including those that unfinished plans will fill or have yet to give up, and
    /// those set aside for pages that have not come.
    pub base_frames: u32,
    /// Large frames with anything of an application in them.
    pub large_frames: u32,
    /// Base frames of those large frames that hold foreign data.
    pub foreign_frames: u32,
    /// Base frames with pages that are part of large pages.
    pub coalesced_frames: u32,
    /// Whole large frames that the memory has; `None` for a memory without a limit, and where the allocator has a frame
    /// for every block.
    pub large_frames_total: Option<u32>,
}

impl MemoryUse {
    pub(crate) fn of(store: &FrameStore, base_frames: u32) -> Self {
        let used = store.frames.iter().filter(|frame| matches!(frame.holder, Holder::Space(_) | Holder::Mixed));
        let foreign_frames = used.clone().map(|frame| u32::from(frame.foreign)).sum();
        let coalesced = used.clone().filter(|frame| frame.coalesced);
        let coalesced_frames = coalesced.map(|frame| u32::from(frame.matching)).sum();
        let awaited: u32 = used.clone().map(|frame| u32::from(frame.awaited())).sum();
        let base_frames = base_frames + awaited;
        let total = (store.total != u32::MAX).then_some(store.total / store.span);
        let large_frames = used.count() as u32;
        Self { base_frames, large_frames, foreign_frames, coalesced_frames, large_frames_total: total }
    }
}

/// A fault that can never be served: memory is full, and nothing leaves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    /// Which memory is full.
    pub memory: MemoryId,
    /// The requested page.
    pub page: PageId,
    /// The application that owns the page.
    pub space: SpaceId,
}

/// What waits for room. The same wait is equal even if it is requested later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wait {
    /// A page that stays where it belongs.
    Page(PageId),
    /// A fault, by a number that no other has.
    Fault(u64),
}

/// A page for which there is no room, when nothing under way could make some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Starving {
    /// The page and the memory that it should come to.
    pub out: OutOfMemory,
    /// Pages that this memory keeps for others, and cannot remove before the host has a copy of them.
    pub awaiting: u32,
}
