//! `whole-blocks`: a block of 2 MiB whose pages are all on one GPU in order is one large page.

use octavo_registry::{Entry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Coalescing, LargeEntry, PageSizing};
use crate::contract::geometry::Geometry;

/// Options of `whole-blocks`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// Whether device memory alone has large pages, as on an MI300A (arXiv 2508.12743); default false.
    device_only: bool,
}

pub(super) static ENTRY: Entry<Box<dyn PageSizing>, Geometry> = Entry {
    name: "whole-blocks",
    summary: "base pages that fill a block of 2 MiB on a GPU in order become a large page in place; nothing is compacted; \
              device memory is large pages alone",
    source: "nvidia-uvm 595.45.04, uvm_va_block.c: entries of 2 MiB for blocks that are there whole and mapped alike",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, geometry| {
        let Options { device_only } = typed::parse(options)?;
        Ok(Box::new(WholeBlocks { pages: geometry.block_pages(), device_only }))
    },
};

struct WholeBlocks {
    pages: u32,
    device_only: bool,
}

impl PageSizing for WholeBlocks {
    /// Pages of 2 MiB are large already.
    fn coalescing(&self) -> Option<Coalescing> {
        let Self { pages, device_only } = *self;
        let entry = LargeEntry::Above;
        (pages > 1).then_some(Coalescing { pages, threshold: pages, compaction: None, entry, device_only })
    }
}
