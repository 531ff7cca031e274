//! `free-for-all`: an address space that needs room takes it from any other.

use octavo_registry::{Entry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Sharing, Shortage, Yield};
use crate::contract::geometry::Geometry;

/// `free-for-all` has no options.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {}

pub(super) static ENTRY: Entry<Box<dyn Sharing>, Geometry> = Entry {
    name: "free-for-all",
    summary: "evicts pages of all address spaces in one order",
    source: "nvidia-uvm 595.45.04, uvm_pmm_gpu.c: one list of chunks for each GPU",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, _| {
        typed::parse::<Options>(options)?;
        Ok(Box::new(FreeForAll))
    },
};

struct FreeForAll;

impl Sharing for FreeForAll {
    fn tells_apart(&self) -> bool {
        false
    }

    fn yields(&mut self, _shortage: &Shortage<'_>, _yields: &mut Vec<Yield>) {}
}
