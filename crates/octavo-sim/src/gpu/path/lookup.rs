//! Looking a page up: first-level TLB, second-level TLB, page table. A lookup that needs the driver only says so.

use crate::gpu::caches::line_access::LineAccess;
use crate::gpu::counts::Accesses;
use crate::gpu::state::Gpu;
use crate::gpu::translate::entry::Entry;
use crate::gpu::translate::first_level::FirstLevel;
use crate::gpu::translate::table_lines::TableLines;
use crate::gpu::translate::tlb::{Tlb, TlbHit};
use crate::gpu::translate::translation::Translation;
use crate::gpu::translate::walker::{Walk, Walker};

/// The resources for walks, apart from the GPU's own walkers.
pub(crate) struct Walks {
    /// Page tables lie in memory, and walks read them through the second-level cache.
    pub in_memory: bool,
    /// Where they lie.
    pub tables: TableLines,
    /// Walkers that all GPUs share, if they do.
    pub shared: Option<Walker>,
}

impl Gpu {
    /// The time when a first-level TLB takes a lookup that arrives at `time`.
    pub fn first_level_port(&mut self, first: FirstLevel, time: u64) -> u64 {
        match first {
            FirstLevel::Vector(unit) => self.ports.first(unit, time),
            FirstLevel::Scalar(_) => time,
        }
    }

    /// The time when the second-level TLB takes a lookup that arrives at `time`.
    pub fn second_level_port(&mut self, now: u64, time: u64) -> u64 {
        self.ports.second(now, time)
    }

    /// Looks a page up in a first-level TLB until `time`. Removes an entry that does not allow the access.
    #[inline(always)]
    pub fn look_up_first(
        &mut self,
        first: FirstLevel,
        page: u32,
        write: bool,
        time: u64,
        accesses: &mut Accesses,
    ) -> Option<Translation> {
        let (tlb, index) = self.first_level(first);
        let hit = tlb.lookup(index, page)?;
        if hit.entry.allows(write) {
            accesses.l1_tlb_hits += 1;
            return Some(Translation::ready(hit.entry, hit.ready.max(time)));
        }
        tlb.invalidate(index, page);
        None
    }

    /// The state of a page in the first-level TLB of a unit.
    #[inline(always)]
    pub fn first_level_hit(&mut self, unit: usize, page: u32) -> Option<TlbHit> {
        self.l1_tlb.lookup(unit, page)
    }

    #[inline(always)]
    fn first_level(&mut self, first: FirstLevel) -> (&mut Tlb, usize) {
        match first {
            FirstLevel::Vector(unit) => (&mut self.l1_tlb, unit),
            FirstLevel::Scalar(cache) => (&mut self.scalar_tlb, cache),
        }
    }

    /// Looks a page up in a first level's entries for large pages until `time`.
    #[inline(never)]
    pub fn look_up_first_large(
        &mut self,
        first: FirstLevel,
        page: u32,
        write: bool,
        time: u64,
        accesses: &mut Accesses,
    ) -> Option<Translation> {
        let hit = self.large.as_mut()?.first_level_hit(first, page)?;
        let entry = self.table.get(page);
        if !entry.allows(write) {
            return None;
        }
        accesses.l1_tlb_hits += 1;
        accesses.l1_tlb_large_hits += 1;
        Some(Translation::ready(entry, hit.ready.max(time)))
    }

    /// Looks a page up in the second-level TLB until `time`; a hit is entered in the first level.
    #[inline(always)]
    pub fn look_up_second(
        &mut self,
        first: FirstLevel,
        page: u32,
        write: bool,
        time: u64,
        accesses: &mut Accesses,
    ) -> Option<Translation> {
        if self.large.is_some()
            && let Some(found) = self.look_up_second_large(first, page, write, time, accesses)
        {
            return Some(found);
        }
        let hit = self.l2_tlb.lookup(0, page)?;
        if hit.entry.allows(write) {
            accesses.l2_tlb_hits += 1;
            let ready = hit.ready.max(time);
            let (tlb, index) = self.first_level(first);
            tlb.insert(index, page, hit.entry, ready);
            return Some(Translation::ready(hit.entry, ready));
        }
        self.l2_tlb.invalidate(0, page);
        None
    }

    /// A hit in the second level's entries for large pages, looked up until `time`.
    #[inline(never)]
    fn look_up_second_large(
        &mut self,
        first: FirstLevel,
        page: u32,
        write: bool,
        time: u64,
        accesses: &mut Accesses,
    ) -> Option<Translation> {
        let hit = self.large.as_mut()?.second_level(page)?;
        let entry = self.table.get(page);
        if !entry.allows(write) {
            return None;
        }
        accesses.l2_tlb_hits += 1;
        accesses.l2_tlb_large_hits += 1;
        let ready = hit.ready.max(time);
        self.enter_large(first, page, entry, ready);
        Some(Translation::ready(entry, ready))
    }

    /// Walks the page table; the result is entered in both levels.
    pub fn walk(
        &mut self,
        first: FirstLevel,
        page: u32,
        write: bool,
        (now, time): (u64, u64),
        walks: &mut Walks,
        accesses: &mut Accesses,
    ) -> Translation {
        let asked = self.l2_tlb_misses.available(now, time);
        let walk = self.walk_table(page, (now, asked), walks, accesses);
        self.l2_tlb_misses.take(now, asked, walk.done);
        accesses.walks += 1;
        accesses.walk_levels += u64::from(walk.levels);
        let entry = self.table.get(page);
        if !entry.allows(write) {
            return Translation::fault(walk.done);
        }
        if !self.enter_walked_large(first, page, entry, walk.done) {
            self.enter(first, page, entry, walk.done);
        }
        Translation::ready(entry, walk.done)
    }

    /// Walks the page table, from `time` on.
    pub fn walk_table(&mut self, page: u32, at: (u64, u64), walks: &mut Walks, accesses: &mut Accesses) -> Walk {
        if walks.in_memory {
            return self.walk_in_memory(page, at, walks, accesses);
        }
        let large = self.large.as_ref().is_some_and(|large| large.ends_walk(page));
        walks.shared.as_mut().unwrap_or(&mut self.walker).walk(at, page, large)
    }

    /// Enters a translation that another processor's walk has found, if it allows the access.
    pub fn enter_answer(&mut self, first: FirstLevel, page: u32, write: bool, ready: u64) -> Translation {
        let entry = self.table.get(page);
        if !entry.allows(write) {
            return Translation::fault(ready);
        }
        self.enter(first, page, entry, ready);
        Translation::ready(entry, ready)
    }

    /// The same for the block of a huge page, where the GPU has entries for it.
    pub fn enter_large_answer(&mut self, first: FirstLevel, page: u32, write: bool, ready: u64) -> Translation {
        let entry = self.table.get(page);
        if self.large.is_none() || !entry.allows(write) {
            return self.enter_answer(first, page, write, ready);
        }
        self.enter_block(first, page, entry, ready);
        Translation::ready(entry, ready)
    }

    /// Enters a translation of one page in both levels.
    fn enter(&mut self, first: FirstLevel, page: u32, entry: Entry, ready: u64) {
        self.l2_tlb.insert(0, page, entry, ready);
        let (tlb, index) = self.first_level(first);
        tlb.insert(index, page, entry, ready);
    }

    /// Walks a page table that lies in memory: one read after another through the second-level cache. The entry above
    /// the last shows whether the block is large; then it is the last, or the block's first page is read instead.
    fn walk_in_memory(
        &mut self,
        page: u32,
        (now, time): (u64, u64),
        walks: &mut Walks,
        accesses: &mut Accesses,
    ) -> Walk {
        let walker = walks.shared.as_mut().unwrap_or(&mut self.walker);
        let large = self.large.as_ref().is_some_and(|large| large.ends_walk(page));
        let begun = walker.begin((now, time), page, large);
        let first = self.large.as_ref().and_then(|large| large.first_of_large(page));
        let mut walked = begun.start;
        for level in begun.first_level..begun.levels {
            let last = level + 1 == begun.levels;
            let line = walks.tables.line(level, first.filter(|_| last).unwrap_or(page));
            walked = self.l2_line(now, line, LineAccess::Load, walked, accesses);
        }
        let walker = walks.shared.as_mut().unwrap_or(&mut self.walker);
        Walk { done: walker.end(now, begun, walked), levels: begun.levels - begun.first_level }
    }

    /// Enters the translation of a large block that a walk has found; `false` if the page's block is not large.
    fn enter_walked_large(&mut self, first: FirstLevel, page: u32, entry: Entry, ready: u64) -> bool {
        let is_large = self.large.as_ref().is_some_and(|large| large.is_large(page));
        if is_large {
            self.enter_block(first, page, entry, ready);
        }
        is_large
    }

    /// Enters the translation of a block in both levels.
    fn enter_block(&mut self, first: FirstLevel, page: u32, entry: Entry, ready: u64) {
        if let Some(large) = &mut self.large
            && large.second_level(page).is_none()
        {
            large.enter_second_level(page, TlbHit { entry, ready });
        }
        self.enter_large(first, page, entry, ready);
    }

    /// Enters the translation of a block in a first level; where that has no entries for large pages, of one page.
    fn enter_large(&mut self, first: FirstLevel, page: u32, entry: Entry, ready: u64) {
        let entered =
            self.large.as_mut().is_some_and(|large| large.enter_first_level(first, page, TlbHit { entry, ready }));
        if !entered {
            let (tlb, index) = self.first_level(first);
            tlb.insert(index, page, entry, ready);
        }
    }
}
