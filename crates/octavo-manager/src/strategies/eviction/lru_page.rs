//! `lru-page`: the page that was serviced least recently leaves.

use octavo_registry::{Entry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Eviction;
use super::queue::UseQueue;
use crate::contract::geometry::Geometry;
use crate::contract::ids::{MemoryId, PageId};
use crate::pages::residency::Residency;

/// `lru-page` has no options.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {}

pub(super) static ENTRY: Entry<Box<dyn Eviction>, Geometry> = Entry {
    name: "lru-page",
    summary: "evicts the page serviced least recently",
    source: "GRIT (HPCA 2024), section 3: LRU, 4 KiB",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, geometry| {
        typed::parse::<Options>(options)?;
        Ok(Box::new(LruPage::new(geometry)))
    },
};

/// One queue of pages for each GPU.
struct LruPage {
    queues: Vec<UseQueue>,
    /// Pages that came up, and whether they leave; kept for its capacity.
    seen: Vec<(u32, bool)>,
}

impl LruPage {
    fn new(geometry: &Geometry) -> Self {
        Self { queues: (0..geometry.processors()).map(|_| UseQueue::default()).collect(), seen: Vec::new() }
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
