//! `reserve`: some of each GPU's memory is kept free, so that faults need not wait for evictions.

use octavo_registry::{Entry, typed};
use octavo_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Demotion;
use crate::contract::geometry::Geometry;

/// Options of `reserve`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// Bytes of each GPU's memory that are kept free, rounded up to pages. Together with what nothing evicts, they are
    /// at most half of the memory; default 100MiB (memHarvester, USENIX ATC 2022: 50 chunks of 2 MiB).
    free: Bytes,
}

impl Default for Options {
    fn default() -> Self {
        Self { free: Bytes(100 << 20) }
    }
}

pub(super) static ENTRY: Entry<Box<dyn Demotion>, Geometry> = Entry {
    name: "reserve",
    summary: "keeps frames free: victims leave for the host ahead of need",
    source: "memHarvester (USENIX ATC 2022): pre-eviction",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, geometry| {
        let Options { free } = typed::parse(options)?;
        let frames = u32::try_from(free.0.div_ceil(geometry.page_size.0)).unwrap_or(u32::MAX);
        Ok(Box::new(Reserve { frames }))
    },
};

struct Reserve {
    frames: u32,
}

impl Demotion for Reserve {
    fn reserve(&self) -> u32 {
        self.frames
    }

    fn asked_for(&self) -> Option<(&'static str, u32)> {
        Some(("free", self.frames))
    }
}
