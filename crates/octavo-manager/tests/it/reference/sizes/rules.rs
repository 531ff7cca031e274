//! Which sizes pages have, and who deals out frames.

use octavo_manager::Fragmentation;
use octavo_registry::Choice;
use octavo_units::Bytes;
use serde_json::json;

use crate::reference::rules::choice;

/// A memory system whose frames have numbers.
#[derive(Clone, Debug)]
pub struct Sizes {
    pub sizing: Sizing,
    pub allocator: Allocator,
    pub fragmentation: Fragmentation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizing {
    Base,
    Mosaic(Mosaic),
    WholeBlocks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mosaic {
    /// Base pages of a large page.
    pub pages: u32,
    /// The fewest of them that stay a large page.
    pub threshold: u32,
    /// What compaction costs (which changes no decision), if the memory is compacted.
    pub compaction: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocator {
    FreeList,
    /// With this many memory channels.
    Cocoa(u32),
    Chunks,
}

impl Sizes {
    /// Base pages of a large frame, in a memory system with blocks of this many pages.
    pub fn span(&self, block_pages: u32) -> u32 {
        match self.sizing {
            Sizing::Mosaic(mosaic) => mosaic.pages,
            Sizing::Base | Sizing::WholeBlocks => block_pages,
        }
    }

    pub fn channels(&self) -> u32 {
        if let Allocator::Cocoa(channels) = self.allocator { channels } else { 1 }
    }

    pub fn compacts(&self) -> bool {
        matches!(self.sizing, Sizing::Mosaic(Mosaic { compaction: Some(_), .. }))
    }
}

impl Sizing {
    pub(in crate::reference) fn choice(self, page_size: u64) -> Choice {
        match self {
            Self::Base => choice("base", json!({})),
            Self::WholeBlocks => choice("whole-blocks", json!({})),
            Self::Mosaic(Mosaic { pages, threshold, compaction }) => {
                let large_page = Bytes(page_size * u64::from(pages)).to_string();
                let compaction = compaction.unwrap_or("none");
                choice("mosaic", json!({ "large_page": large_page, "threshold": threshold, "compaction": compaction }))
            }
        }
    }
}

impl Allocator {
    pub(in crate::reference) fn choice(self) -> Choice {
        match self {
            Self::FreeList => choice("free-list", json!({})),
            Self::Cocoa(channels) => choice("cocoa", json!({ "channels": channels })),
            Self::Chunks => choice("chunks", json!({})),
        }
    }
}
