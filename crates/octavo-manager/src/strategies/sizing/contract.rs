//! The calls that a page sizing receives, and its answers.

use octavo_units::Bytes;

use crate::contract::plan::Compaction;

/// How base pages become large pages and are split again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coalescing {
    /// Base pages of a large page, at most 512.
    pub pages: u32,
    /// A large page of which fewer base pages stay allocated is emptied.
    pub threshold: u32,
    /// The cost of emptying a large frame; `None` if that is never done.
    pub compaction: Option<Compaction>,
    /// The page-table entry that leads to a large page.
    pub entry: LargeEntry,
    /// Whether device memory alone has large pages.
    pub device_only: bool,
}

/// The page-table entry that leads to a large page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LargeEntry {
    /// The entry of its first base page, in the last level; the entry above marks the page as large (Mosaic, MICRO
    /// 2017).
    FirstPage,
    /// The entry of 2 MiB above the last level, where walks end (nvidia-uvm 595.45.04: PDE0).
    Above,
}

/// Chooses the sizes of pages.
pub trait PageSizing: Send {
    /// Bytes of the pages that are the unit of all decisions, in a memory system whose base pages have `base` bytes.
    fn page_size(&self, base: Bytes) -> Bytes {
        base
    }

    /// How base pages become large ones; `None` if they never do.
    fn coalescing(&self) -> Option<Coalescing> {
        None
    }
}
