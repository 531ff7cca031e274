//! Which sizes pages have.

mod base;
mod large;
mod mosaic;
mod whole_blocks;

use octavo_registry::Registry;
use octavo_units::Bytes;

use crate::contract::geometry::Geometry;
use crate::contract::plan::Compaction;

/// Every page sizing, by name.
pub static SIZINGS: Registry<Box<dyn PageSizing>, Geometry> =
    Registry::new("sizing", &[&base::ENTRY, &large::ENTRY, &mosaic::ENTRY, &whole_blocks::ENTRY]);

/// How base pages become large pages and are split again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coalescing {
    /// Base pages of a large page, at most 512.
    pub pages: u32,
    /// A large page of which fewer base pages stay allocated is emptied.
    pub threshold: u32,
    /// The cost of emptying a large frame; `None` if that is never done.
    pub compaction: Option<Compaction>,
    /// Which entry of the page table leads to a large page.
    pub entry: LargeEntry,
}

/// Which entry of a page table leads to a large page.
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
    /// Bytes of the pages that all decisions are taken on, in a memory system whose base pages have `base` bytes.
    fn page_size(&self, base: Bytes) -> Bytes {
        base
    }

    /// How base pages become large ones; `None` if they never do.
    fn coalescing(&self) -> Option<Coalescing> {
        None
    }
}

#[cfg(test)]
mod tests {
    use octavo_registry::{Choice, OptionError};

    use super::*;

    fn coalescing(name: &str, options: &str, page: u64) -> Result<Option<Coalescing>, OptionError> {
        let choice = Choice { name: name.to_owned(), options: serde_json::from_str(options).unwrap() };
        SIZINGS.build(&choice, &Geometry { gpus: 1, page_size: Bytes(page) }).map(|sizing| sizing.coalescing())
    }

    #[test]
    fn a_large_page_may_need_all_of_its_pages_and_no_more() {
        let of = |threshold: u32| {
            let options = format!(r#"{{"large_page": "16KiB", "threshold": {threshold}}}"#);
            coalescing("mosaic", &options, 4 << 10)
        };
        assert_eq!(of(4).unwrap().unwrap().threshold, 4);
        assert!(of(0).is_err() && of(5).is_err());
    }

    #[test]
    fn a_block_of_one_page_is_large_already() {
        let pages = |page| coalescing("whole-blocks", "{}", page).unwrap().map(|coalescing| coalescing.pages);
        assert_eq!([4 << 10, 64 << 10, 2 << 20].map(pages), [Some(512), Some(32), None]);
    }
}
