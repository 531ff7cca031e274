//! `sequential-local`: the rest of the 64 KiB around each fault.

use octavo_registry::{Entry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Prefetch, Service};
use crate::contract::block::BlockMap;
use crate::contract::geometry::Geometry;

/// `sequential-local` has no options.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {}

pub(super) static ENTRY: Entry<Box<dyn Prefetch>, Geometry> = Entry {
    name: "sequential-local",
    summary: "brings the 64 KiB around a fault",
    source: "UVMSmart (ISCA 2019), -hardware_prefetch 2",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, geometry| {
        typed::parse::<Options>(options)?;
        Ok(Box::new(SequentialLocal { leaf_pages: geometry.counter_group_pages() }))
    },
};

struct SequentialLocal {
    /// Pages of 64 KiB.
    leaf_pages: u32,
}

impl Prefetch for SequentialLocal {
    fn serves_blocks(&self) -> bool {
        true
    }

    fn pages(&mut self, service: &Service) -> BlockMap {
        let mut wanted = BlockMap::EMPTY;
        for page in service.faulted.iter() {
            let (first, end) = service.leaf(page / self.leaf_pages, self.leaf_pages);
            wanted.insert_range(first, end);
        }
        wanted.without(&service.resident)
    }
}
