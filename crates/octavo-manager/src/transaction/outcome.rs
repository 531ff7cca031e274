//! Frames when a plan begins, and when it is done or refused.

use crate::contract::ids::ProcessorId;
use crate::memories::content::Content;
use crate::pages::Pages;
use crate::transaction::journal::Journal;
use crate::transaction::physical::Physical;
use crate::transaction::remainder::Kept;

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

    /// It is done: frames that it took from pages and did not use again are free.
    pub fn complete(&mut self, slot: u32, journal: &Journal) {
        for &(processor, frame, _) in &journal.frames {
            let store = self.store_mut(processor);
            if store.content(frame) == Content::Leaving(slot) {
                store.replace(frame, Content::Free);
            }
        }
        self.end(slot, journal);
    }

    /// It was refused: frames have their previous content, except for the done part. Large pages stay splintered until
    /// it is seen that they need not.
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

    /// Changes a frame's content to that of the plan, if that step was done.
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use octavo_registry::Choice;
    use octavo_units::Bytes;

    use super::*;
    use crate::contract::geometry::Geometry;
    use crate::contract::ids::{HOST_MEMORY, MemoryId, PageId, PageRun, SpaceId};
    use crate::contract::masks::{MemoryMask, ProcessorMask};
    use crate::contract::page::Mode;
    use crate::contract::topology::Topology;
    use crate::memories::fragmentation::Fragmentation;
    use crate::pages::state::PageState;
    use crate::strategies::allocator::ALLOCATORS;
    use crate::strategies::sizing::{Coalescing, LargeEntry};
    use crate::transaction::remainder::KeptPage;

    const GPU: ProcessorId = ProcessorId::gpu(0);
    const SPACE: SpaceId = SpaceId(0);
    /// The plan's slot.
    const SLOT: u32 = 5;

    /// A GPU of four large frames of four, of which nothing is used; and pages: three of block 1, and all of block 2.
    fn node() -> (Physical, Pages) {
        let geometry = Geometry { gpus: 1, page_size: Bytes(4 << 10) };
        let allocator = ALLOCATORS.build(&Choice::named("cocoa"), &geometry).unwrap();
        let entry = LargeEntry::FirstPage;
        let coalescing = Coalescing { pages: 4, threshold: 2, compaction: None, entry, device_only: false };
        let (topology, whole) = (Topology::of(vec![16]), Fragmentation::default());
        let mut physical = Physical::new(&geometry, &topology, allocator, Some(coalescing), &whole).unwrap().unwrap();
        let mut pages = Pages::new(geometry, 2);
        for (first, count) in [(4, 3), (8, 4)] {
            pages.allocate(&PageRun { first: PageId(first), count }.into());
        }
        physical.grow(pages.len());
        while physical.store_mut(GPU).add_large_frame() {}
        (physical, pages)
    }

    /// A refused plan with one page, which is in this memory then.
    fn kept(page: PageId, memory: MemoryId, compacted: bool) -> Kept {
        let (mapped, writable) = (ProcessorMask::EMPTY, ProcessorMask::EMPTY);
        let resident = MemoryMask::only(memory);
        let now = PageState { owner: memory, mode: Mode::Plain, resident, mapped, writable };
        let page = (page, KeptPage { before: now, now, owed: None });
        Kept { pages: BTreeMap::from([page]), coalesced: Vec::new(), compacted }
    }

    fn journal<const N: usize>(frames: [(u32, Content); N]) -> Journal {
        Journal { frames: frames.map(|(frame, before)| (GPU, frame, before)).to_vec(), ..Journal::default() }
    }

    /// Whether a block has a large frame to itself after a page of it came to its place there and the plan was refused.
    fn arrives(page: PageId) -> Option<u32> {
        let (mut physical, pages) = node();
        let block = physical.store(GPU).block_of(page);
        let before = physical.put(GPU, page, SPACE, 1, true);
        physical.refuse(SLOT, &journal([(1, before)]), &kept(page, GPU.memory(), false), &pages);
        assert_eq!(physical.store(GPU).content(1), Content::Page(page));
        physical.store(GPU).home(block)
    }

    #[test]
    fn a_page_that_came_makes_its_place_its_blocks_home_if_the_block_is_whole() {
        assert_eq!(arrives(PageId(9)), Some(0));
        assert_eq!(arrives(PageId(5)), None, "the block has a page that is not allocated");
    }

    /// Frames 2 and 5, and the home of the page's block, after a plan that should have moved page 9 from one to the
    /// other.
    fn moves(memory: MemoryId, compacted: bool) -> (Content, Content, Option<u32>) {
        let (mut physical, pages) = node();
        let page = PageId(9);
        physical.put(GPU, page, SPACE, 2, false);
        let store = physical.store_mut(GPU);
        store.replace(2, Content::Leaving(SLOT));
        let before = store.put(page, SPACE, 5, false);
        let journal = journal([(2, Content::Page(page)), (5, before)]);
        physical.refuse(SLOT, &journal, &kept(page, memory, compacted), &pages);
        let store = physical.store(GPU);
        (store.content(2), store.content(5), store.home(2))
    }

    #[test]
    fn a_page_is_where_compaction_moved_it_if_that_was_done() {
        let page = Content::Page(PageId(9));
        assert_eq!(moves(GPU.memory(), true), (Content::Free, page, None));
        assert_eq!(moves(GPU.memory(), false), (page, Content::Free, None));
        assert_eq!(moves(HOST_MEMORY, false), (Content::Free, Content::Free, None), "it has left");
    }

    #[test]
    fn foreign_data_is_where_compaction_moved_it_if_that_was_done() {
        let found = [true, false].map(|compacted| {
            let (mut physical, pages) = node();
            let store = physical.store_mut(GPU);
            store.put_foreign(0);
            store.replace(0, Content::Leaving(SLOT));
            let before = store.put_foreign(4);
            let journal = journal([(0, Content::Foreign), (4, before)]);
            physical.refuse(SLOT, &journal, &kept(PageId(9), HOST_MEMORY, compacted), &pages);
            [0, 4].map(|frame| physical.store(GPU).content(frame))
        });
        assert_eq!(found, [[Content::Free, Content::Foreign], [Content::Foreign, Content::Free]]);
    }

    #[test]
    fn a_block_is_postponed_once() {
        let (mut physical, _) = node();
        [3, 4, 3].into_iter().for_each(|block| physical.postpone(GPU, block));
        assert_eq!(physical.postponed, [(GPU, 3), (GPU, 4)]);
    }
}
