//! `host`: victims go to the host when their frames are needed.

use octavo_registry::{Entry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Demotion;
use crate::contract::geometry::Geometry;

/// Options of `host`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// Whether the GPU that a page leaves maps it on the host, so that its next access is no fault but a remote line;
    /// default false. The driver does so where it moves pages by access counters (`uvm_va_block_evict_chunks`, by a work
    /// queue), which is on Grace Hopper.
    #[serde(skip_serializing_if = "is_false")]
    stays_mapped: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_false(value: &bool) -> bool {
    !value
}

pub(super) static ENTRY: Entry<Box<dyn Demotion>, Geometry> = Entry {
    name: "host",
    summary: "victims go to the host when their frames are needed",
    source: "nvidia-uvm 595.45.04, uvm_va_block.c: uvm_va_block_evict_chunks",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, _| {
        let Options { stays_mapped } = typed::parse(options)?;
        Ok(Box::new(Host { stays_mapped }))
    },
};

#[derive(Default)]
pub(crate) struct Host {
    stays_mapped: bool,
}

impl Demotion for Host {
    fn stays_mapped(&self) -> bool {
        self.stays_mapped
    }
}
