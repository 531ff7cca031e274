//! Changes in a GPU when pages move: entries, translations and lines go, units stop.

use std::ops::Range;

use octavo_manager::{PageId, PageRun};

use crate::gpu::caches::memory_traffic::MemoryTraffic;
use crate::gpu::state::Gpu;
use crate::gpu::translate::entry::Entry;

impl Gpu {
    /// Removes the entries of `pages`, and the translations made from them.
    pub fn invalidate(&mut self, pages: PageRun) {
        self.table.invalidate(pages);
        pages.iter().for_each(|page| self.shoot_down(page));
    }

    /// Write-protects the entries of `pages`; the translations made from them go.
    pub fn protect(&mut self, pages: PageRun) {
        self.table.protect(pages);
        pages.iter().for_each(|page| self.shoot_down(page));
    }

    /// Writes an entry. Shoots down translations that this makes wrong; returns whether there could be any.
    pub fn map(&mut self, page: PageId, entry: Entry) -> bool {
        let stale = self.table.set(page, entry);
        if stale {
            self.shoot_down(page);
        }
        stale
    }

    /// Removes the translation of `page` everywhere on this GPU.
    fn shoot_down(&mut self, page: PageId) {
        for tlb in [&mut self.l2_tlb, &mut self.l1_tlb, &mut self.scalar_tlb] {
            tlb.shoot_down(page.0);
        }
    }

    /// The large bit of a block is set, if there are any.
    pub fn coalesce(&mut self, block: PageRun) {
        if let Some(large) = &mut self.large {
            large.coalesce(block.first);
        }
    }

    /// The large bit of a block is cleared, and its one large translation goes from every TLB.
    pub fn splinter(&mut self, block: PageRun) {
        if let Some(large) = &mut self.large {
            large.splinter(block.first);
        }
    }

    /// One entry leads to each block of device memory, where several page sizes are used at once.
    pub fn lay_out(&mut self, device: &[bool]) {
        if let Some(large) = &mut self.large {
            large.lay_out(device);
        }
    }

    /// Translations of huge pages that hold one of these go, if there are any.
    pub fn forget_huge(&mut self, pages: PageRun) {
        if let Some(large) = &mut self.large {
            large.forget(pages);
        }
    }

    /// None of these lines stays in the second-level cache, and none is written back.
    pub fn drop_lines(&mut self, first: u64, count: u64) {
        self.l2.drop_lines(first, count, None);
    }

    /// None of these lines stays in the second-level cache; returns how many were dirty and are written back.
    pub fn give_up_lines(&mut self, now: u64, first: u64, count: u64) -> u64 {
        self.l2.drop_lines(first, count, Some(now))
    }

    /// None of these lines stays dirty in the second-level cache; returns how many were.
    pub fn clean_lines(&mut self, now: u64, first: u64, count: u64) -> u64 {
        self.l2.clean_lines(now, first, count)
    }

    /// Lines that pass between the second-level cache and memory, where single ones are simulated.
    pub fn memory_traffic(&mut self) -> Option<&mut MemoryTraffic> {
        self.l2.memory_traffic()
    }

    /// Whether the second-level cache has any of these lines.
    pub fn holds_any(&self, first: u64, count: u64) -> bool {
        self.l2.holds_any(first, count)
    }

    /// The second-level cache is written back and emptied; how many lines were dirty.
    pub fn flush(&mut self, now: u64) -> u64 {
        self.l2.flush(now)
    }

    /// Empties the first-level caches of `units`, and those for scalars that they share.
    pub fn discard_first_level(&mut self, units: &Range<usize>) {
        let shared = self.scalar_units;
        units.clone().for_each(|unit| self.l1.discard(unit));
        (units.start / shared..units.end.div_ceil(shared)).for_each(|cache| self.scalar.discard(cache));
    }

    /// The time when units have nothing in flight, `now` at the earliest: those with a translation of one of `pages`,
    /// or all.
    pub fn quiet_time(&self, now: u64, pages: Option<PageRun>) -> u64 {
        let units = self.units.iter().enumerate().filter(|&(unit, _)| self.concerns(unit, pages));
        units.map(|(_, unit)| unit.quiet()).max().unwrap_or(0).max(now)
    }

    /// Those units issue nothing until then, and their first-level caches are emptied.
    pub fn pause(&mut self, until: u64, pages: Option<PageRun>) {
        for unit in 0..self.units.len() {
            if self.concerns(unit, pages) {
                let paused = &mut self.units[unit].paused;
                *paused = until.max(*paused);
                self.l1.discard(unit);
            }
        }
    }

    /// Whether a unit holds a translation of one of `pages`; everything concerns it without any.
    #[inline]
    fn concerns(&self, unit: usize, pages: Option<PageRun>) -> bool {
        let scalar = unit / self.scalar_units;
        let large = |pages| self.large.as_ref().is_some_and(|large| large.any_held(unit, scalar, pages));
        let held = |page: PageId| self.l1_tlb.holds(unit, page.0) || self.scalar_tlb.holds(scalar, page.0);
        let small = |pages: PageRun| pages.iter().any(held);
        pages.is_none_or(|pages| large(pages) || small(pages))
    }
}
