//! Pages get frames and give them up.

use crate::contract::ids::{PageId, ProcessorId};
use crate::memories::content::Content;
use crate::transaction::Transaction;
use crate::transaction::draft::Draft;

impl Transaction<'_> {
    /// Whether a page on its way to `processor` should have a large frame, and none is free.
    pub fn wants_large_frame(&mut self, processor: ProcessorId, page: PageId) -> bool {
        let Some(physical) = &mut self.memory.physical else { return false };
        if physical.coalescing.is_none_or(|coalescing| coalescing.compaction.is_none()) {
            return false;
        }
        physical.store_mut(processor).make_free();
        let may_take = self.memory.frames.spare(processor.memory(), &self.draft.flight.change) > 0;
        let request = physical.request(&self.memory.pages, page, processor, may_take, plan_of(self.draft));
        physical.allocator.wants_large_frame(physical.store(processor), &request)
    }

    /// A page that becomes resident gets a frame. Whether there is one was made sure of before.
    pub fn take_frame(&mut self, processor: ProcessorId, page: PageId) {
        let Some(physical) = &mut self.memory.physical else { return };
        physical.store_mut(processor).make_free();
        let may_take = self.memory.frames.spare(processor.memory(), &self.draft.flight.change) > 0;
        let request = physical.request(&self.memory.pages, page, processor, may_take, plan_of(self.draft));
        let frame = physical.choose(&request).expect("a page that was let in finds a frame");
        let whole = request.whole;
        let store = physical.store(processor);
        let large = &store.frames[(frame / store.span) as usize];
        if let Some(block) = large.home().filter(|_| large.coalesced) {
            self.splinter_block(processor, block);
            self.memory.statistics.emergency_splinters += 1;
        }
        self.put_page(processor, page, frame, whole);
    }

    fn put_page(&mut self, processor: ProcessorId, page: PageId, frame: u32, whole: bool) {
        let Some(physical) = &mut self.memory.physical else { return };
        let space = self.memory.pages.space(page);
        let before = physical.put(processor, page, space, frame, whole);
        let flight = &mut self.draft.flight;
        flight.journal.frames.push((processor, frame, before));
        match before {
            _ if !physical.allocator.numbers_end() => flight.change.gain(processor.memory(), 1),
            Content::Free => flight.change.take(processor.memory(), 1),
            _ => flight.change.reuse(processor.memory()),
        }
    }

    /// A page leaves its frame, which becomes free with the plan's acknowledgement.
    pub fn leave_frame(&mut self, processor: ProcessorId, page: PageId) {
        let Some(physical) = &mut self.memory.physical else { return };
        let store = physical.store_mut(processor);
        let frame = store.place(page).expect("a resident page has a frame");
        store.replace(frame, Content::Leaving(self.draft.slot));
        let journal = &mut self.draft.flight.journal;
        journal.frames.push((processor, frame, Content::Page(page)));
        journal.spare.push((processor, frame));
    }

    /// Pages that lie in these base frames.
    pub fn pages_in(&self, processor: ProcessorId, frames: impl Iterator<Item = u32>) -> Vec<PageId> {
        let Some(physical) = &self.memory.physical else { return Vec::new() };
        let contents = frames.map(|frame| physical.store(processor).content(frame));
        contents.filter_map(|content| if let Content::Page(page) = content { Some(page) } else { None }).collect()
    }

    /// The content of one base frame goes to another, which is free.
    pub fn relocate_frame(&mut self, processor: ProcessorId, from: u32, to: u32) {
        let Some(physical) = &mut self.memory.physical else { return };
        let store = physical.store_mut(processor);
        let (moved, free) = (store.content(from), store.content(to));
        store.replace(from, Content::Leaving(self.draft.slot));
        match moved {
            Content::Page(page) => _ = store.put(page, self.memory.pages.space(page), to, false),
            _ => _ = store.put_foreign(to),
        }
        let flight = &mut self.draft.flight;
        flight.journal.frames.extend([(processor, from, moved), (processor, to, free)]);
        flight.change.take(processor.memory(), 1);
        flight.change.lose(processor.memory(), 1);
    }
}

/// The plan under construction, as an allocator has to know it: its slot, and the frames that it took from pages.
fn plan_of(draft: &Draft) -> (u32, &[(ProcessorId, u32)]) {
    (draft.slot, draft.flight.journal.spare.as_slice())
}
