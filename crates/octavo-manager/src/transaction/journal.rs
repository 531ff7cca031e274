//! Changes of a plan to frames, for finishing it or taking it back.

use crate::contract::ids::ProcessorId;
use crate::memories::content::Content;
use crate::pages::Pages;
use crate::transaction::kept::Kept;
use crate::transaction::physical::Physical;

/// Changes of frames and of the sizes of pages by one plan.
#[derive(Default)]
pub(crate) struct Journal {
    /// Base frames that were written, and what they held before.
    pub frames: Vec<(ProcessorId, u32, Content)>,
    /// Base frames that pages left; some may be in use again.
    pub spare: Vec<(ProcessorId, u32)>,
    /// Blocks in their own places whose pages changed in any way.
    pub touched: Vec<(ProcessorId, u32)>,
    /// Blocks that became large pages.
    pub coalesced: Vec<(ProcessorId, u32)>,
    /// Blocks that the plan splits.
    pub splintered: Vec<(ProcessorId, u32)>,
    /// The processor whose memory the plan compacts.
    pub compacts: Option<ProcessorId>,
}

impl Journal {
    pub fn reset(&mut self) {
        self.frames.clear();
        self.spare.clear();
        self.touched.clear();
        self.coalesced.clear();
        self.splintered.clear();
        self.compacts = None;
    }
}

impl Physical {
    /// The plan in `slot` begins.
    pub fn begin(&mut self, slot: u32, journal: &Journal) {
        for &(processor, block) in &journal.splintered {
            *self.store_mut(processor).splintering(block) += 1;
        }
        if let Some(processor) = journal.compacts {
            *self.compacting(processor) = Some(slot);
        }
    }

    /// It is done: what it took from pages and did not use again is free.
    pub fn complete(&mut self, slot: u32, journal: &Journal) {
        for &(processor, frame, _) in &journal.frames {
            let store = self.store_mut(processor);
            if store.content(frame) == Content::Leaving(slot) {
                store.replace(frame, Content::Free);
            }
        }
        self.end(slot, journal);
    }

    /// It was refused: frames hold what they held, except for what was done. Large pages stay splintered until it is
    /// seen that they need not.
    pub fn refuse(&mut self, slot: u32, journal: &Journal, kept: &Kept, pages: &Pages) {
        for &(processor, block) in &journal.coalesced {
            let store = self.store_mut(processor);
            if let Some(large) = store.coalesced(block) {
                store.set_coalesced(large, false);
            }
        }
        let mut planned = Vec::with_capacity(journal.frames.len());
        for &(processor, frame, before) in journal.frames.iter().rev() {
            let store = self.store_mut(processor);
            planned.push((processor, frame, before, store.content(frame)));
            store.replace(frame, before);
        }
        planned.into_iter().rev().for_each(|change| self.redo(change, kept, pages));
        self.end(slot, journal);
        journal.splintered.iter().for_each(|&(processor, block)| self.postpone(processor, block));
    }

    /// Changes a frame's content to what the plan put there, if that step was done.
    fn redo(
        &mut self,
        (processor, frame, before, planned): (ProcessorId, u32, Content, Content),
        kept: &Kept,
        pages: &Pages,
    ) {
        match (before, planned) {
            (Content::Page(page), Content::Leaving(_)) if kept.compacted || !kept.fills(processor.memory(), page) => {
                self.store_mut(processor).replace(frame, Content::Free);
            }
            (Content::Foreign, Content::Leaving(_)) if kept.compacted => {
                self.store_mut(processor).replace(frame, Content::Free);
            }
            (_, Content::Foreign) if kept.compacted => _ = self.store_mut(processor).put_foreign(frame),
            (_, Content::Page(page))
                if self.store(processor).place(page).is_none() && kept.fills(processor.memory(), page) =>
            {
                let space = pages.space(page);
                let whole = !kept.compacted && pages.all_of_space(self.block(self.block_of(page)), space);
                self.store_mut(processor).put(page, space, frame, whole);
            }
            _ => {}
        }
    }

    fn end(&mut self, slot: u32, journal: &Journal) {
        for &(processor, block) in &journal.splintered {
            *self.store_mut(processor).splintering(block) -= 1;
        }
        if let Some(compacting) = journal.compacts.map(|processor| self.compacting(processor))
            && *compacting == Some(slot)
        {
            *compacting = None;
        }
    }

    /// The block may become a large page later.
    pub fn postpone(&mut self, processor: ProcessorId, block: u32) {
        if !self.postponed.contains(&(processor, block)) {
            self.postponed.push((processor, block));
        }
    }
}
