//! Least frequently used 2 MiB blocks of each memory: how often each was accessed, and when last.

use std::collections::BTreeMap;

use octavo_manager::ProcessorId;

use super::leaving::Look;

/// Accesses to blocks since they last left.
#[derive(Debug)]
pub struct Lfu {
    block: u32,
    now: i64,
    known: BTreeMap<(ProcessorId, u32), Use>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Use {
    times: u64,
    last: i64,
    /// Its pages that were resident at the first eviction after its last use.
    there: Option<u64>,
}

impl Lfu {
    pub fn new(block: u32) -> Self {
        Self { block, now: 0, known: BTreeMap::new() }
    }

    /// A page was accessed this many times, or brought or served (0).
    pub fn used(&mut self, processor: ProcessorId, page: u32, times: u32) {
        self.now += 1;
        let known = self.known.entry((processor, page / self.block)).or_default();
        *known = Use { times: known.times + u64::from(times), last: self.now, there: None };
    }

    /// At least `wanted` pages, block by block, from blocks without busy pages; fewer if there are no more. Blocks that
    /// come up and are gone are forgotten.
    pub fn victims(&mut self, processor: ProcessorId, wanted: usize, look: &Look<'_>) -> Vec<u32> {
        let mut order = Vec::new();
        for ((_, block), Use { times, last, there }) in
            self.known.iter_mut().filter(|((other, _), _)| *other == processor)
        {
            // What is back leaves first. A page that is there was brought, which counts as an access.
            let pages = block * self.block..(block + 1) * self.block;
            let there = *there.get_or_insert_with(|| pages.filter(|page| (look.here)(*page)).count() as u64);
            order.push(if *last < 0 { (0, *last, *block) } else { (*times + there, *last, *block) });
        }
        order.sort_unstable();
        let mut victims = Vec::new();
        for (_, _, block) in order {
            if victims.len() >= wanted {
                break;
            }
            let all = || block * self.block..(block + 1) * self.block;
            let pages: Vec<u32> = all().filter(|page| (look.here)(*page)).collect();
            if pages.is_empty() && !all().any(|page| (look.busy)(page)) {
                self.known.remove(&(processor, block));
            } else if !pages.iter().any(|page| (look.busy)(*page)) {
                victims.extend(pages);
            }
        }
        victims
    }

    /// When a page leaves, its block's count starts again.
    pub fn left(&mut self, processor: ProcessorId, page: u32) {
        self.known.remove(&(processor, page / self.block));
    }

    /// A page is back. If its block was forgotten and not used since, it is the next to leave: without an access, and
    /// before all others that are back.
    pub fn restored(&mut self, processor: ProcessorId, page: u32) {
        let first = self.known.values().map(|known| known.last).min().unwrap_or(0).min(0) - 1;
        self.known.entry((processor, page / self.block)).or_insert(Use { last: first, ..Use::default() });
    }
}
