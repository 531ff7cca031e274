//! `sequential-local`: 64 KiB leave, the ones used longest ago of the 2 MiB block whose newest use is oldest.

use octavo_registry::{Entry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Eviction;
use super::leaf_order::{LeafOrder, reserve_in_range};
use super::recency::{Recency, is_off};
use crate::contract::geometry::Geometry;
use crate::contract::ids::{MemoryId, PageId};
use crate::pages::residency::Residency;

/// Options of `sequential-local`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// Percent of the leaves, 0 to 99, that stay as long as others can leave, although it is their turn; default
    /// 0 (`-reserve_accessed_page_percent`; the publication also tries 10 and 20).
    reserved_percent: u32,
    /// What counts as a use: `service` (default; pages being brought, or faults) or `access` (also every access:
    /// UVMSmart, `refresh_valid_pages`, which a TLB hit calls as well).
    #[serde(skip_serializing_if = "Recency::is_service")]
    recency: Recency,
    /// Whether 64 KiB leave only if all their allocated pages are resident; default false (UVMSmart:
    /// `is_block_evictable` asks for every page of the basic block).
    #[serde(skip_serializing_if = "is_off")]
    whole: bool,
}

pub(super) static ENTRY: Entry<Box<dyn Eviction>, Geometry> = Entry {
    name: "sequential-local",
    summary: "evicts 64 KiB, used least recently within the 2 MiB block used least recently",
    source: "UVMSmart (ISCA 2019), -eviction_policy 2",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, geometry| {
        let Options { reserved_percent, recency, whole } = typed::parse(options)?;
        reserve_in_range(reserved_percent)?;
        Ok(Box::new(SequentialLocal { order: LeafOrder::new(geometry, reserved_percent), recency, whole }))
    },
};

struct SequentialLocal {
    order: LeafOrder,
    recency: Recency,
    whole: bool,
}

impl Eviction for SequentialLocal {
    fn grow(&mut self, pages: usize) {
        self.order.grow(pages);
    }

    fn used(&mut self, holder: MemoryId, page: PageId, memory: &Residency<'_>) {
        self.order.used(holder, page, memory);
    }

    fn wants_accesses(&self) -> bool {
        self.recency.is_access()
    }

    fn restored(&mut self, holder: MemoryId, page: PageId) {
        self.order.restored(holder, page);
    }

    fn victims(&mut self, holder: MemoryId, wanted: u32, all: bool, memory: &Residency<'_>, victims: &mut Vec<PageId>) {
        victims.clear();
        self.order.each(holder, memory, |leaf| {
            if leaf.evictable(holder, memory, self.whole) {
                victims.extend(leaf.resident(holder, memory));
            }
            victims.len() >= wanted as usize
        });
        if all && victims.len() < wanted as usize {
            victims.clear();
        }
    }

    fn knows(&self, holder: MemoryId, page: PageId) -> bool {
        self.order.knows(holder, page)
    }

    fn bytes(&self) -> usize {
        self.order.bytes()
    }
}
