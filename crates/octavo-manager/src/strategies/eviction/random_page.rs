//! `random-page`: any page leaves.

use octavo_registry::{Entry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Eviction;
use crate::contract::geometry::Geometry;
use crate::contract::ids::{MemoryId, PageId};
use crate::pages::residency::Residency;
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

pub(super) static ENTRY: Entry<Box<dyn Eviction>, Geometry> = Entry {
    name: "random-page",
    summary: "evicts a page at random",
    source: "UVMSmart (ISCA 2019), -eviction_policy 3",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, geometry| {
        let Options { seed } = typed::parse(options)?;
        let gpus = (0..geometry.processors()).map(|_| Pages::default()).collect();
        Ok(Box::new(RandomPage { random: Random::new(seed), gpus }))
    },
};

struct RandomPage {
    random: Random,
    gpus: Vec<Pages>,
}

/// Pages of one memory, in no order, and some that left it.
#[derive(Default)]
struct Pages {
    list: Vec<u32>,
    /// Whether a page is in the list.
    listed: Vec<bool>,
}

impl Pages {
    fn add(&mut self, page: PageId) {
        if !std::mem::replace(&mut self.listed[page.index()], true) {
            self.list.push(page.0);
        }
    }

    fn remove(&mut self, index: usize) {
        let page = self.list.swap_remove(index);
        self.listed[page as usize] = false;
    }
}

impl Eviction for RandomPage {
    fn grow(&mut self, pages: usize) {
        for memory in self.gpus.iter_mut().skip(1) {
            memory.listed.resize(pages.max(memory.listed.len()), false);
        }
    }

    fn used(&mut self, holder: MemoryId, page: PageId, _memory: &Residency<'_>) {
        self.gpus[holder.index()].add(page);
    }

    fn restored(&mut self, holder: MemoryId, page: PageId) {
        self.gpus[holder.index()].add(page);
    }

    /// Draws without replacement: those drawn lie behind the others until the end.
    fn victims(&mut self, holder: MemoryId, wanted: u32, all: bool, memory: &Residency<'_>, victims: &mut Vec<PageId>) {
        let pages = &mut self.gpus[holder.index()];
        victims.clear();
        let mut left = pages.list.len();
        while left > 0 && victims.len() < wanted as usize {
            let index = self.random.below(left as u32) as usize;
            let page = PageId(pages.list[index]);
            left -= 1;
            pages.list.swap(index, left);
            if memory.evictable(holder, page) {
                victims.push(page);
            } else if !memory.may_return(holder, page) {
                pages.remove(left);
            }
        }
        if all && victims.len() < wanted as usize {
            victims.clear();
        }
    }

    fn knows(&self, holder: MemoryId, page: PageId) -> bool {
        self.gpus[holder.index()].listed[page.index()]
    }

    fn bytes(&self) -> usize {
        let bytes = |pages: &Pages| pages.list.capacity() * size_of::<u32>() + pages.listed.capacity();
        self.gpus.iter().map(bytes).sum()
    }
}
