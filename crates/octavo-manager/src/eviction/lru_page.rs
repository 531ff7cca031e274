//! `lru-page`: the page that was serviced least recently leaves.

use octavo_registry::{Entry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::queue::UseQueue;
use super::{Eviction, Residency};
use crate::{Geometry, PageId, ProcessorId};

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
    /// Pages that came up but are busy; kept for its capacity.
    busy: Vec<u32>,
}

impl LruPage {
    fn new(geometry: &Geometry) -> Self {
        Self { queues: (0..geometry.processors()).map(|_| UseQueue::default()).collect(), busy: Vec::new() }
    }
}

impl Eviction for LruPage {
    fn grow(&mut self, pages: usize) {
        // The host's queue stays empty: its memory has no limit.
        self.queues.iter_mut().skip(1).for_each(|queue| queue.grow(pages));
    }

    fn used(&mut self, processor: ProcessorId, page: PageId, memory: &Residency<'_>) {
        self.queues[processor.index()].push(page.0, |key| memory.resident(processor, PageId(key)));
    }

    fn restored(&mut self, processor: ProcessorId, page: PageId) {
        self.queues[processor.index()].put_back(page.0);
    }

    fn victims(&mut self, processor: ProcessorId, wanted: u32, memory: &Residency<'_>, victims: &mut Vec<PageId>) {
        let queue = &mut self.queues[processor.index()];
        let enough = victims.len() + wanted as usize;
        while victims.len() < enough {
            let Some(key) = queue.pop() else { break };
            if memory.evictable(processor, PageId(key)) {
                victims.push(PageId(key));
            } else if memory.resident(processor, PageId(key)) {
                self.busy.push(key);
            }
        }
        self.busy.drain(..).rev().for_each(|key| queue.put_back(key));
    }

    fn knows(&self, processor: ProcessorId, page: PageId) -> bool {
        self.queues[processor.index()].contains(page.0)
    }

    fn bytes(&self) -> usize {
        self.queues.iter().map(UseQueue::bytes).sum()
    }
}
