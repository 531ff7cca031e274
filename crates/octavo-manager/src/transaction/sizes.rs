//! Effects of a change of pages on large pages around them.

use crate::contract::ids::{HOST, PageRun, ProcessorId};
use crate::contract::masks::ProcessorMask;
use crate::transaction::Transaction;

impl Transaction<'_> {
    /// Before pages change on these processors: the large and huge pages that contain them are split.
    pub fn splinter(&mut self, processors: ProcessorMask, pages: PageRun) {
        self.memory.pages.split(pages);
        self.splinter_large(processors, pages);
    }

    /// Before processors map pages differently: the same, except for huge pages that the host maps as before.
    pub fn splinter_unlike(&mut self, processors: ProcessorMask, pages: PageRun) {
        if processors.contains(HOST) {
            self.memory.pages.split(pages);
        }
        self.splinter_large(processors, pages);
    }

    fn splinter_large(&mut self, processors: ProcessorMask, pages: PageRun) {
        let Some(physical) = self.memory.physical.as_ref().filter(|physical| physical.coalescing.is_some()) else {
            return;
        };
        let blocks = physical.blocks(pages);
        for processor in processors.without(HOST).iter() {
            blocks.clone().for_each(|block| self.splinter_block(processor, block));
        }
    }

    pub fn splinter_block(&mut self, processor: ProcessorId, block: u32) {
        let Some(physical) = &mut self.memory.physical else { return };
        let store = physical.store_mut(processor);
        if let Some(large) = store.coalesced(block) {
            store.set_coalesced(large, false);
            self.memory.statistics.splintered += 1;
        } else if store.splinters(block) == 0 {
            return;
        }
        // If another plan's splinter is unfinished, it is unknown whether it will be done before this plan's steps.
        let splintered = &mut self.draft.flight.journal.splintered;
        if !splintered.contains(&(processor, block)) {
            splintered.push((processor, block));
        }
    }

    /// The pages of a large page were all freed.
    pub fn splinter_empty(&mut self, processor: ProcessorId, block: u32) {
        self.draft.flight.journal.splintered.push((processor, block));
        self.memory.statistics.splintered += 1;
    }

    /// Notes that these pages changed in blocks whose pages are all in their own places.
    pub fn touch(&mut self, processors: ProcessorMask, pages: PageRun) {
        let Some(physical) = self.memory.physical.as_ref().filter(|physical| physical.coalescing.is_some()) else {
            return;
        };
        let touched = &mut self.draft.flight.journal.touched;
        for processor in processors.without(HOST).iter() {
            let store = physical.store(processor);
            let full = physical.blocks(pages).filter(|&block| store.full_home(block));
            full.for_each(|block| {
                if touched.last() != Some(&(processor, block)) {
                    touched.push((processor, block));
                }
            });
        }
    }
}
