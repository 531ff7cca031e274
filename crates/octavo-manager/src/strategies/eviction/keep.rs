//! `none`: nothing leaves. A memory that is full is out of memory.

use octavo_registry::{Entry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Eviction;
use crate::contract::geometry::Geometry;
use crate::contract::ids::{MemoryId, PageId};
use crate::pages::residency::Residency;

/// `none` has no options.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {}

pub(super) static ENTRY: Entry<Box<dyn Eviction>, Geometry> = Entry {
    name: "none",
    summary: "evicts nothing: a fault without room ends the run",
    source: "Mosaic (MICRO 2017): memory is never oversubscribed",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, _| {
        typed::parse::<Options>(options)?;
        Ok(Box::new(Keep))
    },
};

struct Keep;

impl Eviction for Keep {
    fn grow(&mut self, _pages: usize) {}

    fn used(&mut self, _holder: MemoryId, _page: PageId, _memory: &Residency<'_>) {}

    fn restored(&mut self, _holder: MemoryId, _page: PageId) {}

    fn victims(
        &mut self,
        _holder: MemoryId,
        _wanted: u32,
        _all: bool,
        _memory: &Residency<'_>,
        victims: &mut Vec<PageId>,
    ) {
        victims.clear();
    }

    fn evicts(&self) -> bool {
        false
    }

    fn knows(&self, _holder: MemoryId, _page: PageId) -> bool {
        true
    }

    fn bytes(&self) -> usize {
        0
    }
}
