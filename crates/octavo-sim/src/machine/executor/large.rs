//! Steps that change the size of pages: coalescing, splintering, compaction.

use octavo_manager::{Compaction, PageRun, ProcessorId};

use crate::machine::hardware::Hardware;

/// In-memory bulk copy of a 4 KiB page, in picoseconds: 80 ns (Mosaic, MICRO 2017, section 4.4, CAC-BC).
const BULK_COPY_OF_4_KIB: u64 = 80_000;

impl Hardware<'_> {
    /// The large bit is set by one write; walks that read it from now on find one large page.
    pub(super) fn set_large(&mut self, processor: ProcessorId, block: PageRun) {
        if let Some(large) = processor.gpu_index().and_then(|gpu| self.gpus[gpu].large.as_mut()) {
            large.coalesce(block.first);
        }
    }

    /// The large bit is cleared, and the one large translation goes from every TLB.
    pub(super) fn clear_large(&mut self, processor: ProcessorId, block: PageRun) {
        if let Some(large) = processor.gpu_index().and_then(|gpu| self.gpus[gpu].large.as_mut()) {
            large.splinter(block.first);
        }
    }

    /// Base pages move inside a memory. Unless that costs nothing, the whole GPU stands still meanwhile: what it has in
    /// flight completes, its first-level caches are emptied, and one page moves after another.
    pub(super) fn compact(&mut self, processor: ProcessorId, pages: u32, model: Compaction) -> u64 {
        let Some(gpu) = processor.gpu_index() else { return self.now };
        let page = match model {
            Compaction::WorstCase => self.costs.page_move,
            Compaction::BulkCopy => BULK_COPY_OF_4_KIB * (1 << self.page_line_shift) / 64,
            Compaction::Ideal => return self.now,
        };
        let state = &mut self.gpus[gpu];
        let quiet = state.units.iter().map(|unit| unit.in_flight).max().unwrap_or(0).max(self.now);
        let over = quiet + u64::from(pages) * page;
        (0..state.units.len()).for_each(|unit| state.pause(unit, over));
        over
    }
}
