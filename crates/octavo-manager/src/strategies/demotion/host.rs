//! `host`: what leaves goes to the host, when its frame is needed.

use octavo_registry::{Entry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Demotion;
use crate::contract::geometry::Geometry;

/// `host` has no options.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {}

pub(super) static ENTRY: Entry<Box<dyn Demotion>, Geometry> = Entry {
    name: "host",
    summary: "victims go to the host when their frames are needed",
    source: "nvidia-uvm 595.45.04, uvm_va_block.c: uvm_va_block_evict_chunks",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, _| {
        typed::parse::<Options>(options)?;
        Ok(Box::new(Host))
    },
};

pub(crate) struct Host;

impl Demotion for Host {}
