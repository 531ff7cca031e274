//! Blocks that come by way of another GPU.

use crate::contract::ids::{MemoryId, ProcessorId};

/// A block on the host that comes to a GPU by way of another.
pub(super) struct Detour {
    pub to: ProcessorId,
    pub block: u32,
    /// The GPU that lends its memory and link, once that has been looked up; the inner `None` if no GPU does.
    pub by: Option<Option<MemoryId>>,
}
