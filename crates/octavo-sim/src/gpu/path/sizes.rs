//! Translation with more than one page size, ports and page tables in memory: what the plain path of `access` leaves
//! out.

use crate::gpu::caches::line_access::LineAccess;
use crate::gpu::translate::entry::Entry;
use crate::gpu::translate::first_level::FirstLevel;
use crate::gpu::translate::tlb::TlbHit;
use crate::gpu::translate::translation::Translation;
use crate::gpu::translate::walker::Walk;
use crate::machine::hardware::Hardware;

impl Hardware<'_> {
    /// When a unit's TLB takes a lookup that comes at `time`.
    pub fn first_level_port(&mut self, gpu: usize, first: FirstLevel, time: u64) -> u64 {
        match first {
            FirstLevel::Vector(unit) => self.gpus[gpu].ports.first(unit, time),
            FirstLevel::Scalar(_) => time,
        }
    }

    /// When the second-level TLB takes a lookup that comes at `time`.
    pub fn second_level_port(&mut self, gpu: usize, time: u64) -> u64 {
        self.gpus[gpu].ports.second(self.now, time)
    }

    /// What a first level has among its entries for large pages, looked up until `time`.
    #[inline(never)]
    pub fn first_level_large(
        &mut self,
        gpu: usize,
        first: FirstLevel,
        page: u32,
        write: bool,
        time: u64,
    ) -> Option<Translation> {
        let state = &mut self.gpus[gpu];
        let hit = state.large.as_mut()?.first_level_hit(first, page)?;
        let entry = state.table.get(page);
        if !entry.allows(write) {
            return None;
        }
        self.accesses.l1_tlb_hits += 1;
        self.accesses.l1_tlb_large_hits += 1;
        Some(Translation::ready(entry, hit.ready.max(time)))
    }

    /// A hit in the second level's entries for large pages, looked up until `time`.
    pub fn large_second_level(
        &mut self,
        gpu: usize,
        first: FirstLevel,
        page: u32,
        write: bool,
        time: u64,
    ) -> Option<Translation> {
        let state = &mut self.gpus[gpu];
        let hit = state.large.as_mut()?.second_level(page)?;
        let entry = state.table.get(page);
        if !entry.allows(write) {
            return None;
        }
        self.accesses.l2_tlb_hits += 1;
        self.accesses.l2_tlb_large_hits += 1;
        let ready = hit.ready.max(time);
        self.enter_large(gpu, first, page, entry, ready);
        Some(Translation::ready(entry, ready))
    }

    /// Enters the translation of a coalesced block that a walk has found; `false` if the page's block is not coalesced.
    pub fn enter_walked_large(&mut self, gpu: usize, first: FirstLevel, page: u32, entry: Entry, ready: u64) -> bool {
        let Some(large) = self.gpus[gpu].large.as_mut().filter(|large| large.is_coalesced(page)) else { return false };
        if large.second_level(page).is_none() {
            large.enter_second_level(page, TlbHit { entry, ready });
        }
        self.enter_large(gpu, first, page, entry, ready);
        true
    }

    /// Enters the translation of a block in a first level; where that has no entries for large pages, of one page.
    fn enter_large(&mut self, gpu: usize, first: FirstLevel, page: u32, entry: Entry, ready: u64) {
        let state = &mut self.gpus[gpu];
        let entered =
            state.large.as_mut().is_some_and(|large| large.enter_first_level(first, page, TlbHit { entry, ready }));
        if !entered {
            let (tlb, index) = self.first_level(gpu, first);
            tlb.insert(index, page, entry, ready);
        }
    }

    /// Walks a page table that lies in memory: one read after another through the second-level cache. The entry above
    /// the last tells whether the block is coalesced; then the block's first page is read in place of this one.
    pub fn walk_in_memory(&mut self, gpu: usize, page: u32, time: u64) -> Walk {
        let begun = self.shared_walker.as_mut().unwrap_or(&mut self.gpus[gpu].walker).begin(time, page);
        let first = self.gpus[gpu].large.as_ref().and_then(|large| large.first_of_coalesced(page));
        let mut walked = begun.start;
        for level in begun.first_level..begun.levels {
            let last = level + 1 == begun.levels;
            let entry = first.filter(|_| last).unwrap_or(page);
            let line = self.table_lines.line(level, entry);
            walked = self.l2_line(gpu, line, LineAccess::Load, walked);
        }
        let walker = self.shared_walker.as_mut().unwrap_or(&mut self.gpus[gpu].walker);
        Walk { done: walker.end(begun, walked), levels: begun.levels - begun.first_level }
    }
}
