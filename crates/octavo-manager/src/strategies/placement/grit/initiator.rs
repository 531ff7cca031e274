//! The fault-aware initiator: counts faults of a page and, at the threshold, decides its scheme.

use super::bits::Scheme;
use super::counts::Counts;
use super::options::Options;
use super::pa_cache::PaCache;
use super::pa_table::PaTable;
use crate::contract::event::Fault;
use crate::contract::ids::{PageId, PageRun};
use crate::strategies::context::Context;

pub(super) struct Initiator {
    threshold: u32,
    visible: bool,
    table: PaTable,
    cache: Option<PaCache>,
}

/// Accesses to the PA-Table in host memory.
#[derive(Default)]
struct Accesses {
    reads: u32,
    writes: u32,
}

impl Initiator {
    pub fn new(options: &Options) -> Self {
        let cache = options.pa_cache.then(|| PaCache::new(options.pa_cache_entries, options.pa_cache_ways));
        let (threshold, visible) = (options.fault_threshold, options.pa_visible);
        Self { threshold, visible, table: PaTable::default(), cache }
    }

    pub fn grow(&mut self, pages: PageRun) {
        self.table.grow(pages.first.index() + pages.count as usize);
    }

    /// A page is freed. Removing its entry is charged to no fault.
    pub fn forget(&mut self, page: PageId) {
        self.table.delete(page);
        if let Some(cache) = &mut self.cache {
            cache.remove(page);
        }
    }

    /// Counts a fault. At the threshold, the scheme that fits the faults since the last decision: a page that got there
    /// is shared, so only whether it was written matters.
    pub fn count(&mut self, fault: &Fault, counts: &mut Counts, context: &mut Context<'_>) -> Option<Scheme> {
        let mut accesses = Accesses::default();
        self.look_up(fault.page, &mut accesses, counts);
        let decided = self.table.count(fault.page, fault.access) >= self.threshold;
        let written = self.table.written(fault.page);
        if decided {
            self.delete(fault.page, &mut accesses);
        } else if self.cache.is_none() {
            self.table.write_back(fault.page);
            accesses.writes += 1;
        }
        self.charge(&accesses, counts, context);
        decided.then_some(if written { Scheme::AccessCounter } else { Scheme::Duplication })
    }

    /// A miss reads the table, whether or not it has the entry; the entry is then in the cache, and the entry that it
    /// replaces is written to the table.
    fn look_up(&mut self, page: PageId, accesses: &mut Accesses, counts: &mut Counts) {
        let looked_up = self.cache.as_mut().map_or(Err(None), |cache| cache.access(page));
        let Err(evicted) = looked_up else {
            counts.pa_cache_hits += 1;
            return;
        };
        counts.pa_cache_misses += 1;
        accesses.reads += 1;
        if let Some(evicted) = evicted {
            self.table.write_back(evicted);
            accesses.writes += 1;
        }
    }

    /// The scheme is decided. An entry that never left the cache costs nothing to delete.
    fn delete(&mut self, page: PageId, accesses: &mut Accesses) {
        accesses.writes += u32::from(self.table.in_memory(page));
        self.forget(page);
    }

    fn charge(&self, accesses: &Accesses, counts: &mut Counts, context: &mut Context<'_>) {
        counts.pa_table_reads += u64::from(accesses.reads);
        counts.pa_table_writes += u64::from(accesses.writes);
        let all = accesses.reads + accesses.writes;
        if self.visible { context.charge_metadata(all) } else { context.charge_overlapped(all) }
    }

    /// Every entry is in the cache or in memory.
    pub fn check(&self, context: &Context<'_>) -> Result<(), String> {
        let pages = context.allocations().iter().flat_map(|run| run.iter());
        for page in pages.filter(|&page| self.table.exists(page)) {
            let cached = self.cache.as_ref().is_some_and(|cache| cache.contains(page));
            if !cached && !self.table.in_memory(page) {
                return Err(format!("the PA-Table entry of page {} is nowhere", page.0));
            }
        }
        Ok(())
    }

    pub fn bytes(&self) -> usize {
        self.table.bytes()
    }
}
