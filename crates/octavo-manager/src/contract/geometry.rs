//! Sizes of the node and its pages.

use octavo_units::Bytes;

/// Span of virtual memory that prefetch and block eviction work on, one page-table page of 4 KiB entries.
const BLOCK_BYTES: u64 = 2 << 20;
/// Address space that shares one hardware access counter.
const COUNTER_GROUP_BYTES: u64 = 64 << 10;
/// Sizes of pages that decisions can be taken on.
pub(crate) const PAGE_SIZES: [u64; 3] = [4 << 10, 64 << 10, BLOCK_BYTES];

/// Sizes that strategies are built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// GPUs in the node.
    pub gpus: usize,
    /// Bytes of a page.
    pub page_size: Bytes,
}

impl Geometry {
    /// The host and the GPUs.
    #[must_use]
    pub const fn processors(&self) -> usize {
        self.gpus + 1
    }

    /// Pages of a 2 MiB block.
    #[must_use]
    pub const fn block_pages(&self) -> u32 {
        (BLOCK_BYTES / self.page_size.0) as u32
    }

    /// Pages of 64 KiB, at least one: the unit of an access counter, and the driver's big page.
    #[must_use]
    pub const fn counter_group_pages(&self) -> u32 {
        let pages = COUNTER_GROUP_BYTES / self.page_size.0;
        if pages == 0 { 1 } else { pages as u32 }
    }
}
