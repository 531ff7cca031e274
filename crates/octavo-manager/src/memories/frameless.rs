//! What waits for frames from its allocation on.

use crate::contract::ids::{MemoryId, PageRun};

/// Pages that wait for frames.
#[derive(Clone, Copy)]
pub(crate) struct Frameless {
    pub run: PageRun,
    /// Where the frames should be.
    pub memory: MemoryId,
    /// Whether they wait until memory is compacted for their large frames, as far as that can be.
    pub compacts: bool,
}
