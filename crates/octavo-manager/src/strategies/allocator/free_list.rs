//! `free-list`: the lowest free frame, for any requester.

use octavo_registry::{Entry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FrameAllocator, FrameRequest};
use crate::contract::geometry::Geometry;
use crate::memories::store::FrameStore;

/// `free-list` has no options.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {}

pub(super) static ENTRY: Entry<Box<dyn FrameAllocator>, Geometry> = Entry {
    name: "free-list",
    summary: "the lowest free frame, whichever application asks, so that large frames hold pages of several",
    source: "Mosaic (MICRO 2017): GPU-MMU",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, _| {
        typed::parse::<Options>(options)?;
        Ok(Box::new(FreeList))
    },
};

struct FreeList;

impl FrameAllocator for FreeList {
    fn choose(&mut self, memory: &FrameStore, request: &FrameRequest<'_>) -> Option<u32> {
        request.lowest(memory).or_else(|| request.taken_away(memory).next())
    }
}
