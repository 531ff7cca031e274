//! `random-page`: with each demanded page, one random page of its block.

use octavo_registry::{Entry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Prefetch, Service};
use crate::contract::block::BlockMap;
use crate::contract::geometry::Geometry;
use crate::random::Random;

/// Options of `random-page`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// Seed of the choice, any number; default 1 (ours: UVMSmart takes the C library's default).
    seed: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { seed: 1 }
    }
}

pub(super) static ENTRY: Entry<Box<dyn Prefetch>, Geometry> = Entry {
    name: "random-page",
    summary: "brings one more page of the 2 MiB block, at random, for each fault",
    source: "UVMSmart (ISCA 2019), -hardware_prefetch 3",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, _| {
        let Options { seed } = typed::parse(options)?;
        Ok(Box::new(RandomPage { random: Random::new(seed) }))
    },
};

struct RandomPage {
    random: Random,
}

impl Prefetch for RandomPage {
    fn serves_blocks(&self) -> bool {
        true
    }

    /// A draw that hits a page that is already resident or requested brings nothing.
    fn pages(&mut self, service: &Service) -> BlockMap {
        let first = service.extent.first.0 - service.block.first.0;
        let mut wanted = BlockMap::EMPTY;
        for _ in service.faulted.iter() {
            wanted.insert(first + self.random.below(service.extent.count));
        }
        wanted.without(&service.resident)
    }
}
