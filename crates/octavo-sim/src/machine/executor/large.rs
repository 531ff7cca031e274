//! Steps that change the size of pages: coalescing, splintering, compaction.

use octavo_manager::{Compaction, PageRun, ProcessorId};

use crate::machine::hardware::Hardware;
use crate::machine::occurrence::Listen;

/// In-memory bulk copy of a 4 KiB page, in picoseconds: 80 ns (Mosaic, MICRO 2017, section 4.4, CAC-BC).
const BULK_COPY_OF_4_KIB: u64 = 80_000;

impl<L: Listen> Hardware<'_, L> {
    /// The large bit is set by one write; walks that read it from now on find one large page.
    pub(super) fn set_large(&mut self, processor: ProcessorId, block: PageRun) {
        if let Some(gpu) = processor.gpu_index() {
            self.gpus[gpu].coalesce(block);
        }
    }

    /// The time when a large page's translation can be removed. A drain that waits only for the units that hold a
    /// translation of the pages comes after it, so accesses in progress through the large one complete here.
    pub(super) fn quiet_large(&self, processor: ProcessorId, block: PageRun) -> u64 {
        let now = self.clock.now();
        let gpu = processor.gpu_index().filter(|_| self.drains_some());
        gpu.map_or(now, |gpu| self.gpus[gpu].quiet_time(now, Some(block)))
    }

    /// The large bit is cleared, and the one large translation goes from every TLB.
    pub(super) fn clear_large(&mut self, processor: ProcessorId, block: PageRun) {
        if let Some(gpu) = processor.gpu_index() {
            self.gpus[gpu].splinter(block);
        }
    }

    /// Base pages move inside a memory. Unless that costs nothing, the whole GPU stands still meanwhile: its accesses
    /// in flight complete, its first-level caches are emptied, and one page moves after another.
    pub(super) fn compact(&mut self, processor: ProcessorId, pages: u32, model: Compaction) -> u64 {
        let Some(gpu) = processor.gpu_index() else { return self.clock.now() };
        let page = match model {
            Compaction::WorstCase => self.costs.page_move,
            Compaction::BulkCopy => BULK_COPY_OF_4_KIB * (1 << self.page_line_shift) / 64,
            Compaction::Ideal => return self.clock.now(),
        };
        let gpu = &mut self.gpus[gpu];
        let over = gpu.quiet_time(self.clock.now(), None) + u64::from(pages) * page;
        gpu.pause(over, None);
        over
    }
}
