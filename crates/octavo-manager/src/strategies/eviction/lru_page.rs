//! `lru-page`: the page that was serviced, or accessed, least recently leaves.

use octavo_registry::{Entry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Eviction;
use super::queue::UseQueue;
use super::recency::Recency;
use crate::contract::geometry::Geometry;
use crate::contract::ids::{MemoryId, PageId};
use crate::pages::residency::Residency;

/// Options of `lru-page`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// What counts as a use: `service` (default; pages being brought, or faults) or `access` (also every access:
    /// UVMSmart, `refresh_valid_pages`, which a TLB hit calls as well).
    #[serde(skip_serializing_if = "Recency::is_service")]
    recency: Recency,
}

pub(super) static ENTRY: Entry<Box<dyn Eviction>, Geometry> = Entry {
    name: "lru-page",
    summary: "evicts the page used least recently",
    source: "GRIT (HPCA 2024), section 3: LRU, 4 KiB",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, geometry| {
        let Options { recency } = typed::parse(options)?;
        Ok(Box::new(LruPage::new(geometry, recency)))
    },
};

/// One queue of pages for each GPU.
struct LruPage {
    recency: Recency,
    queues: Vec<UseQueue>,
    /// Pages that came up, and whether they leave; kept for its capacity.
    seen: Vec<(u32, bool)>,
}

impl LruPage {
    fn new(geometry: &Geometry, recency: Recency) -> Self {
        Self { recency, queues: (0..geometry.processors()).map(|_| UseQueue::default()).collect(), seen: Vec::new() }
    }
}

impl Eviction for LruPage {
    fn grow(&mut self, pages: usize) {
        // The host's queue stays empty: its memory has no limit.
        self.queues.iter_mut().skip(1).for_each(|queue| queue.grow(pages));
    }

    fn used(&mut self, holder: MemoryId, page: PageId, memory: &Residency<'_>) {
        self.queues[holder.index()].push(page.0, |key| memory.may_return(holder, PageId(key)));
    }

    fn wants_accesses(&self) -> bool {
        self.recency.is_access()
    }

    fn restored(&mut self, holder: MemoryId, page: PageId) {
        self.queues[holder.index()].put_back(page.0);
    }

    fn victims(&mut self, holder: MemoryId, wanted: u32, all: bool, memory: &Residency<'_>, victims: &mut Vec<PageId>) {
        let queue = &mut self.queues[holder.index()];
        victims.clear();
        while victims.len() < wanted as usize {
            let Some(key) = queue.pop() else { break };
            let leaves = memory.evictable(holder, PageId(key));
            if leaves {
                victims.push(PageId(key));
            }
            if memory.may_return(holder, PageId(key)) {
                self.seen.push((key, leaves));
            }
        }
        if all && victims.len() < wanted as usize {
            victims.clear();
        }
        let stays = |leaves: bool| !leaves || victims.is_empty();
        self.seen.drain(..).rev().filter(|seen| stays(seen.1)).for_each(|(key, _)| queue.put_back(key));
    }

    fn knows(&self, holder: MemoryId, page: PageId) -> bool {
        self.queues[holder.index()].contains(page.0)
    }

    fn bytes(&self) -> usize {
        self.queues.iter().map(UseQueue::bytes).sum()
    }
}
