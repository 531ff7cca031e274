//! Least frequently used 2 MiB blocks of each memory: how often each was accessed, and when last.

use std::collections::BTreeMap;

use octavo_manager::ProcessorId;

use super::leaving::Look;

/// Accesses to blocks since they last left.
#[derive(Debug)]
pub struct Lfu {
    block: u32,
    now: i64,
    known: BTreeMap<(ProcessorId, u32), (u64, i64)>,
}

impl Lfu {
    pub fn new(block: u32) -> Self {
        Self { block, now: 0, known: BTreeMap::new() }
    }

    /// A page was accessed so many times, or brought or served (0).
    pub fn used(&mut self, processor: ProcessorId, page: u32, times: u32) {
        self.now += 1;
        let known = self.known.entry((processor, page / self.block)).or_default();
        *known = (known.0 + u64::from(times), self.now);
    }

    /// At least `wanted` pages, block by block, of blocks of which nothing is busy; fewer if there are no more.
    pub fn victims(&self, processor: ProcessorId, wanted: usize, look: &Look<'_>) -> Vec<u32> {
        let own = self.known.iter().filter(|((other, _), _)| *other == processor);
        let here = |block: u32| -> Vec<u32> {
            (block * self.block..(block + 1) * self.block).filter(|page| (look.here)(*page)).collect()
        };
        // What is back leaves first. A page that is there was brought, which counts as an access.
        let key = |block: u32, (times, last): (u64, i64)| (last > 0, times + here(block).len() as u64, last);
        let mut order: Vec<_> = own.map(|((_, block), uses)| (key(*block, *uses), *block)).collect();
        order.sort_unstable();
        let mut victims = Vec::new();
        for (_, block) in order {
            let pages = here(block);
            if victims.len() < wanted && !pages.iter().any(|page| (look.busy)(*page)) {
                victims.extend(pages);
            }
        }
        victims
    }

    /// The block of a page that leaves begins anew.
    pub fn left(&mut self, processor: ProcessorId, page: u32) {
        self.known.remove(&(processor, page / self.block));
    }

    /// A page is back. If its block was forgotten and not used since, it is the next to leave.
    pub fn restored(&mut self, processor: ProcessorId, page: u32) {
        let first = self.known.values().map(|(_, last)| *last).min().unwrap_or(0).min(0) - 1;
        self.known.entry((processor, page / self.block)).or_insert((0, first));
    }
}
