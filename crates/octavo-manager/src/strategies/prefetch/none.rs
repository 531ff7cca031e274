//! `none`: only demanded pages move.

use octavo_registry::{Entry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Prefetch, Service};
use crate::contract::block::BlockMap;
use crate::contract::geometry::Geometry;

/// `none` has no options.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {}

pub(super) static ENTRY: Entry<Box<dyn Prefetch>, Geometry> = Entry {
    name: "none",
    summary: "brings only the pages that faulted",
    source: "GRIT (HPCA 2024), section 3",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, _| {
        typed::parse::<Options>(options)?;
        Ok(Box::new(Nothing))
    },
};

struct Nothing;

impl Prefetch for Nothing {
    fn serves_blocks(&self) -> bool {
        false
    }

    fn pages(&mut self, _service: &Service) -> BlockMap {
        BlockMap::EMPTY
    }
}
