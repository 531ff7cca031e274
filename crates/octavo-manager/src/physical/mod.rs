//! Which frames of a memory hold what.

use crate::{PageId, ProcessorId, SpaceId};

/// How a memory is used, in frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// Base frames in use by applications, including those that unfinished plans will fill or have yet to give up.
    pub base_frames: u32,
    /// Large frames with anything of an application in them.
    pub large_frames: u32,
    /// Large frames that the memory has.
    pub large_frames_total: u32,
}

/// A fault that can never be served: memory is full, and nothing leaves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    /// Whose memory is full.
    pub processor: ProcessorId,
    /// The page that was asked for.
    pub page: PageId,
    /// The application whose page that is.
    pub space: SpaceId,
}
