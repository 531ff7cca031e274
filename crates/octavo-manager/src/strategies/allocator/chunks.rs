//! `chunks`: every block has a large frame to itself, with each page in its own place, however few of its pages are
//! resident. Chunks have 2 MiB, unless the sizing has smaller large pages.

use octavo_registry::{Entry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FrameAllocator, FrameRequest};
use crate::contract::geometry::Geometry;
use crate::memories::store::FrameStore;

/// `chunks` has no options.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {}

pub(super) static ENTRY: Entry<Box<dyn FrameAllocator>, Geometry> = Entry {
    name: "chunks",
    summary: "a frame of 2 MiB, or of a large page, for each block, each page in its own place; how full memory is, is counted by pages",
    source: "nvidia-uvm 595.45.04, uvm_va_block_gpu_chunk_index_range: a block is backed by one chunk",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, _| {
        typed::parse::<Options>(options)?;
        Ok(Box::new(Chunks))
    },
};

struct Chunks;

impl FrameAllocator for Chunks {
    fn needs_frames(&self) -> bool {
        true
    }

    fn numbers_end(&self) -> bool {
        false
    }

    /// The page's own place in its block's frame, or in one that becomes this.
    fn choose(&mut self, memory: &FrameStore, request: &FrameRequest<'_>) -> Option<u32> {
        let large = memory.home(memory.block_of(request.page)).or_else(|| memory.free.first())?;
        Some(large * memory.span + request.page.0 % memory.span)
    }
}
