//! Groups of pages, and the counts of each.

use octavo_manager::MemoryMask;

use super::timeline::EventKind;

/// Address space summed up in one row of the `page_groups` table.
pub(crate) const GROUP_BYTES: u64 = 64 << 10;

/// Counts of one group of pages. Copies are counted in pages, by [`EventKind`].
#[derive(Clone, Copy, Default)]
pub(crate) struct GroupCounts {
    pub kinds: [u64; EventKind::COUNTED],
    pub remote_lines: u64,
    /// The GPUs whose memory the pages came to.
    pub gpus: MemoryMask,
}
