//! Base frames get another content, and all that is known of their large frames follows.

use crate::contract::ids::{PageId, SpaceId};
use crate::memories::content::{Content, FREE};
use crate::memories::frame_set::FrameSet;
use crate::memories::large_frame::{Holder, LargeFrame, NONE};
use crate::memories::store::FrameStore;

impl FrameStore {
    /// Puts a page of `space` into a base frame. A page in its own place makes the large frame its block's home, if it
    /// `settles`, and if that and the block's home up to now have no other such page. Returns the previous content of
    /// the frame.
    pub(crate) fn put(&mut self, page: PageId, space: SpaceId, frame: u32, settles: bool) -> Content {
        let large = frame / self.span;
        let before = self.content(frame);
        if settles {
            self.settle(page, frame);
        }
        let record = &mut self.frames[large as usize];
        let holder = record.holder;
        record.holder = match holder {
            Holder::Nobody => Holder::Space(space),
            Holder::Space(own) if own == space => holder,
            _ => Holder::Mixed,
        };
        self.place_page(page, frame);
        self.reindex(large, holder);
        before
    }

    fn settle(&mut self, page: PageId, frame: u32) {
        let (large, block) = (frame / self.span, self.block_of(page));
        let (own, old) = (self.frames[large as usize].home(), self.home(block));
        let in_place = |home: Option<u32>| home.is_some_and(|home| self.frames[home as usize].matching > 0);
        if frame % self.span != page.0 % self.span || own == Some(block) || in_place(Some(large)) || in_place(old) {
            return;
        }
        if let Some(old) = old {
            self.frames[old as usize].home = NONE;
            self.reindex(old, self.frames[old as usize].holder);
        }
        if let Some(own) = own {
            self.blocks[own as usize].home = NONE;
        }
        let own_place = |(base, content): (u32, Content)| matches!(content, Content::Page(other) if self.block_of(other) == block && other.0 % self.span == base % self.span);
        let matching = self.contents_of(large).filter(|&content| own_place(content)).count() as u16;
        self.blocks[block as usize].home = large;
        let record = &mut self.frames[large as usize];
        (record.home, record.matching) = (block, matching);
    }

    /// A block that is no large page loses its home; its pages stay where they are.
    pub(crate) fn unsettle(&mut self, block: u32) {
        if let Some(home) = self.home(block).filter(|_| self.coalesced(block).is_none()) {
            self.blocks[block as usize].home = NONE;
            let frame = &mut self.frames[home as usize];
            (frame.home, frame.matching, frame.kept) = (NONE, 0, 0);
            self.empty_if_unused(home);
        }
    }

    /// Sets a free large frame aside for this many pages of `space`: a block, or parts of incomplete ones. Whether there
    /// is one.
    pub(crate) fn set_aside(&mut self, space: SpaceId, block: Option<u32>, pages: u32) -> bool {
        self.make_free();
        let Some(large) = self.free.first() else { return false };
        let frame = &mut self.frames[large as usize];
        (frame.holder, frame.kept) = (Holder::Space(space), pages as u16);
        if let Some(block) = block {
            frame.home = block;
            self.blocks[block as usize].home = large;
        }
        self.reindex(large, Holder::Nobody);
        true
    }

    /// Nothing is set aside any more for incomplete blocks of `space`.
    pub(crate) fn give_back(&mut self, space: SpaceId) {
        let own = |frame: &LargeFrame| frame.kept > 0 && frame.home == NONE && frame.holder == Holder::Space(space);
        let given: Vec<u32> = self.kept.iter().filter(|&large| own(&self.frames[large as usize])).collect();
        for large in given {
            self.frames[large as usize].kept = 0;
            self.empty_if_unused(large);
        }
    }

    /// Puts foreign data into a base frame. Answers what the frame held.
    pub(crate) fn put_foreign(&mut self, frame: u32) -> Content {
        let before = self.content(frame);
        let record = &mut self.frames[(frame / self.span) as usize];
        let holder = record.holder;
        record.holder =
            if matches!(holder, Holder::Nobody | Holder::Foreign) { Holder::Foreign } else { Holder::Mixed };
        self.write(frame, Content::Foreign);
        self.reindex(frame / self.span, holder);
        before
    }

    /// Replaces the content of a base frame, a page or foreign data. A plan that fails brings the old content back.
    pub(crate) fn replace(&mut self, frame: u32, content: Content) {
        if let Content::Page(page) = self.content(frame) {
            self.places[page.index()] = NONE;
            let block = self.block_of(page);
            self.blocks[block as usize].held -= 1;
        }
        match content {
            Content::Page(page) => {
                if self.home(self.block_of(page)).is_none() && self.frames[(frame / self.span) as usize].home != NONE {
                    self.settle(page, frame);
                }
                self.place_page(page, frame);
            }
            other => self.write(frame, other),
        }
        self.empty_if_unused(frame / self.span);
    }

    fn place_page(&mut self, page: PageId, frame: u32) {
        self.write(frame, Content::Page(page));
        self.places[page.index()] = frame;
        let block = self.block_of(page);
        self.blocks[block as usize].held += 1;
    }

    /// An empty large frame has no owner, and is no page's home.
    fn empty_if_unused(&mut self, large: u32) {
        let absent = self.absent(large);
        let record = &mut self.frames[large as usize];
        let holder = record.holder;
        if record.used == absent && record.kept == 0 {
            if record.home != NONE {
                self.blocks[record.home as usize].home = NONE;
            }
            let taken = record.taken;
            *record = LargeFrame { used: absent, taken, ..LargeFrame::empty() };
        }
        self.reindex(large, holder);
    }

    /// Base frames of a large frame that lie beyond the memory.
    fn absent(&self, large: u32) -> u16 {
        let end = (u64::from(large) + 1) * u64::from(self.span);
        end.saturating_sub(u64::from(self.total)).min(u64::from(self.span)) as u16
    }

    /// Sets the content of a base frame, and counts it.
    pub(super) fn write(&mut self, frame: u32, content: Content) {
        let before = std::mem::replace(&mut self.contents[frame as usize], content.raw());
        let (span, offset) = (self.span, frame % self.span);
        let record = &mut self.frames[(frame / span) as usize];
        let home = record.home;
        let count = |record: &mut LargeFrame, content: Content, sign: u16| match content {
            Content::Leaving(_) => record.leaving = record.leaving.wrapping_add(sign),
            Content::Foreign => record.foreign = record.foreign.wrapping_add(sign),
            Content::Page(page) if page.0 / span == home && page.0 % span == offset => {
                record.matching = record.matching.wrapping_add(sign);
            }
            Content::Page(_) | Content::Free | Content::Absent => {}
        };
        count(record, Content::of(before), u16::MAX);
        count(record, content, 1);
        record.used -= u16::from(before != FREE);
        record.used += u16::from(content != Content::Free);
        if content == Content::Free {
            record.taken.remove(offset)
        } else {
            record.taken.insert(offset)
        }
        let holder = record.holder;
        self.reindex(frame / span, holder);
    }

    /// Puts a large frame into the sets it belongs to, after its holder was `before`.
    pub(super) fn reindex(&mut self, large: u32, before: Holder) {
        let frame = &self.frames[large as usize];
        let (has_hole, kept) = (u32::from(frame.used) < self.span, frame.kept > 0);
        let base = has_hole && !frame.pure() && !frame.coalesced;
        let (used, coalesced, holder) = (frame.used, frame.coalesced, frame.holder);
        self.free.set(large, used == 0 && !kept);
        self.holes.set(large, has_hole && !kept);
        self.kept.set(large, has_hole && kept);
        self.emergency.set(large, coalesced && has_hole);
        if let Holder::Space(space) = before {
            self.base_set(space).set(large, false);
        }
        if let Holder::Space(space) = holder {
            self.base_set(space).set(large, base);
        }
    }

    fn base_set(&mut self, space: SpaceId) -> &mut FrameSet {
        let index = usize::from(space.0);
        if index >= self.bases.len() {
            self.bases.resize_with(index + 1, FrameSet::default);
        }
        &mut self.bases[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_comes_back_takes_over_a_home_without_pages_in_their_places() {
        let mut memory = memory(12);
        let space = SpaceId(0);
        memory.put(PageId(1), space, 1, true);
        memory.put(PageId(6), space, 2, true);
        assert_eq!((memory.home(0), memory.home(1)), (Some(0), None));
        memory.replace(1, Content::Free);
        memory.replace(3, Content::Page(PageId(7)));
        assert_eq!((memory.home(0), memory.home(1)), (None, Some(0)));
        assert_eq!(memory.frames[0].matching, 2, "pages 6 and 7");
        memory.replace(8, Content::Page(PageId(0)));
        assert_eq!(memory.home(0), None, "a large frame that is no home does not become one");
    }

    /// Large frames of four base frames.
    fn memory(frames: u32) -> FrameStore {
        let mut memory = FrameStore::new(4, frames);
        memory.grow(16);
        while memory.add_large_frame() {}
        memory
    }

    #[test]
    fn a_page_of_another_space_makes_a_large_frame_mixed() {
        let mut memory = memory(4);
        let holders = [(0, 0, 0), (1, 0, 1), (8, 1, 2), (2, 0, 3)].map(|(page, space, frame)| {
            memory.put(PageId(page), SpaceId(space), frame, true);
            memory.frames[0].holder
        });
        let own = Holder::Space(SpaceId(0));
        assert_eq!(holders, [own, own, Holder::Mixed, Holder::Mixed]);
        assert!(!memory.frames[0].may_hold(SpaceId(0)) && !memory.frames[0].may_hold(SpaceId(1)));
    }

    #[test]
    fn only_a_page_in_its_own_place_settles() {
        let mut memory = memory(8);
        memory.put(PageId(5), SpaceId(0), 0, true);
        assert_eq!(memory.home(1), None);
        memory.put(PageId(6), SpaceId(0), 6, true);
        assert_eq!(memory.home(1), Some(1));
    }

    #[test]
    fn a_block_holds_as_many_frames_as_it_has_pages_there() {
        let mut memory = memory(8);
        [(4, 4), (5, 5), (6, 0)]
            .into_iter()
            .for_each(|(page, frame)| _ = memory.put(PageId(page), SpaceId(0), frame, true));
        assert_eq!([memory.held(0), memory.held(1)], [0, 3]);
        memory.replace(5, Content::Free);
        memory.replace(0, Content::Leaving(7));
        assert_eq!(memory.held(1), 1);
    }

    #[test]
    fn a_last_large_frame_that_is_not_whole_is_empty_without_what_it_lacks() {
        let mut memory = memory(6);
        memory.put(PageId(8), SpaceId(0), 4, true);
        assert_eq!((memory.frames[1].holder, memory.home(2)), (Holder::Space(SpaceId(0)), Some(1)));
        memory.replace(4, Content::Free);
        assert_eq!((memory.frames[1].holder, memory.home(2)), (Holder::Nobody, None));
        [4, 5].into_iter().for_each(|frame| _ = memory.put(PageId(frame), SpaceId(1), frame, false));
        assert_eq!(memory.hole(1), None, "two base frames are all that it has");
    }
}
