//! The frames of one memory: the page in each base frame, and the resulting state of the large frames.

use crate::contract::ids::PageId;
use crate::memories::content::{Content, FREE};
use crate::memories::frame_set::FrameSet;
use crate::memories::large_frame::{Holder, LargeFrame, NONE};

/// The state of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// The large frame that it is at home in, or [`NONE`].
    pub home: u32,
    /// Frames that its pages hold.
    pub held: u16,
    /// Unfinished plans with a splinter of it.
    pub splintering: u16,
}

/// The frames of one memory. Large frames are created when they are needed, so that an empty memory takes no room.
#[derive(Clone)]
pub struct FrameStore {
    /// Base pages of a large frame, and of a block.
    pub(crate) span: u32,
    /// Base frames that the memory has.
    pub(crate) total: u32,
    pub(crate) frames: Vec<LargeFrame>,
    pub(super) contents: Vec<u32>,
    /// The frame of each page.
    pub(super) places: Vec<u32>,
    pub(super) blocks: Vec<Block>,
    /// Large frames with nothing in them that are not set aside.
    pub(crate) free: FrameSet,
    /// Large frames with a free base frame that are not set aside.
    pub(crate) holes: FrameSet,
    /// Large frames with a free base frame that are set aside.
    pub(crate) kept: FrameSet,
    /// By space: large frames of that space alone with a free base frame, except for those that are a block's home and
    /// hold nothing else.
    pub(crate) bases: Vec<FrameSet>,
    /// Coalesced frames with a free base frame.
    pub(crate) emergency: FrameSet,
}

impl FrameStore {
    pub(crate) fn new(span: u32, total: u32) -> Self {
        Self {
            span,
            total,
            frames: Vec::new(),
            contents: Vec::new(),
            places: Vec::new(),
            blocks: Vec::new(),
            free: FrameSet::default(),
            holes: FrameSet::default(),
            kept: FrameSet::default(),
            bases: Vec::new(),
            emergency: FrameSet::default(),
        }
    }

    /// Makes room for pages below `pages`.
    pub(crate) fn grow(&mut self, pages: usize) {
        if pages > self.places.len() {
            self.places.resize(pages, NONE);
            let unknown = Block { home: NONE, held: 0, splintering: 0 };
            self.blocks.resize(pages.div_ceil(self.span as usize), unknown);
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        let sets = [&self.free, &self.holes, &self.kept, &self.emergency].into_iter().chain(&self.bases);
        self.frames.capacity() * size_of::<LargeFrame>()
            + (self.contents.capacity() + self.places.capacity()) * size_of::<u32>()
            + self.blocks.capacity() * size_of::<Block>()
            + sets.map(FrameSet::bytes).sum::<usize>()
    }

    /// The memory has at least this many base frames from now on. Frames are never taken away: a memory that becomes
    /// smaller leaves more of them unused.
    pub(crate) fn enlarge(&mut self, total: u32) {
        if total <= self.total {
            return;
        }
        let before = std::mem::replace(&mut self.total, total);
        if !before.is_multiple_of(self.span) && self.frames.len() as u32 == before.div_ceil(self.span) {
            let end = total.min(before.next_multiple_of(self.span));
            (before..end).for_each(|frame| self.write(frame, Content::Free));
        }
    }

    /// Makes large frames until one is free, if the memory has one.
    pub(crate) fn make_free(&mut self) {
        while self.free.first().is_none() && self.add_large_frame() {}
    }

    /// Whole large frames with nothing in them that are not set aside, made or not.
    pub(crate) fn free_large_frames(&self) -> u32 {
        self.free.count() + (self.total / self.span).saturating_sub(self.frames.len() as u32)
    }

    /// Creates one more large frame; `false` if the memory has no more.
    pub(crate) fn add_large_frame(&mut self) -> bool {
        let first = self.frames.len() as u64 * u64::from(self.span);
        if first >= u64::from(self.total) {
            return false;
        }
        let number = self.frames.len() as u32;
        self.frames.push(LargeFrame::empty());
        self.contents.resize(self.contents.len() + self.span as usize, FREE);
        self.reindex(number, Holder::Nobody);
        for frame in u64::from(self.total)..first + u64::from(self.span) {
            self.write(frame as u32, Content::Absent);
        }
        true
    }

    pub(crate) fn content(&self, frame: u32) -> Content {
        Content::of(self.contents[frame as usize])
    }

    /// The base frame of `page`.
    pub(crate) fn place(&self, page: PageId) -> Option<u32> {
        self.places.get(page.index()).copied().filter(|&frame| frame != NONE)
    }

    /// Pages that have a frame.
    pub(super) fn placed(&self) -> usize {
        self.places.iter().filter(|&&frame| frame != NONE).count()
    }

    pub(crate) fn block_of(&self, page: PageId) -> u32 {
        page.0 / self.span
    }

    /// The large frame that `block` is at home in.
    pub(crate) fn home(&self, block: u32) -> Option<u32> {
        self.blocks.get(block as usize).map(|block| block.home).filter(|&home| home != NONE)
    }

    /// Frames that pages of `block` hold.
    pub(crate) fn held(&self, block: u32) -> u16 {
        self.blocks[block as usize].held
    }

    /// Unfinished plans with a splinter of `block`.
    pub(crate) fn splinters(&self, block: u32) -> u16 {
        self.blocks[block as usize].splintering
    }

    pub(crate) fn splintering(&mut self, block: u32) -> &mut u16 {
        &mut self.blocks[block as usize].splintering
    }

    /// Whether all pages of `block` are in their own places.
    pub(crate) fn full_home(&self, block: u32) -> bool {
        self.home(block).is_some_and(|home| u32::from(self.frames[home as usize].matching) == self.span)
    }

    /// Whether `page` is in its own place in its block's home.
    pub(crate) fn in_own_place(&self, page: PageId) -> bool {
        let home = self.home(self.block_of(page));
        home.is_some_and(|home| self.place(page) == Some(home * self.span + page.0 % self.span))
    }

    /// The large frame of `block` if it is one large page.
    pub(crate) fn coalesced(&self, block: u32) -> Option<u32> {
        self.home(block).filter(|&home| self.frames[home as usize].coalesced)
    }

    pub(crate) fn set_coalesced(&mut self, large: u32, coalesced: bool) {
        let frame = &mut self.frames[large as usize];
        frame.coalesced = coalesced;
        frame.kept *= u16::from(!coalesced);
        let holder = frame.holder;
        self.reindex(large, holder);
    }

    /// The lowest free base frame of a large frame.
    pub(crate) fn hole(&self, large: u32) -> Option<u32> {
        let hole = self.frames[large as usize].taken.first_missing(self.span);
        hole.map(|offset| large * self.span + offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::ids::SpaceId;

    /// The contents of the base frames of the last large frame.
    fn last(memory: &FrameStore) -> Vec<Content> {
        let end = memory.contents.len() as u32;
        (end - memory.span..end).map(|frame| memory.content(frame)).collect()
    }

    #[test]
    fn a_memory_that_grows_fills_its_last_large_frame_first() {
        let mut memory = FrameStore::new(4, 6);
        while memory.add_large_frame() {}
        assert_eq!(last(&memory), [Content::Free, Content::Free, Content::Absent, Content::Absent]);
        assert_eq!((memory.hole(1), memory.frames[1].used), (Some(4), 2));
        memory.enlarge(5);
        assert_eq!(memory.total, 6, "frames are never taken away");
        memory.enlarge(7);
        assert_eq!(last(&memory), [Content::Free, Content::Free, Content::Free, Content::Absent]);
        memory.enlarge(13);
        assert_eq!(last(&memory), [Content::Free; 4]);
        assert_eq!(memory.frames[1].used, 0);
        while memory.add_large_frame() {}
        assert_eq!((memory.frames.len(), memory.frames[3].used), (4, 3));
    }

    #[test]
    fn large_frames_that_are_not_made_yet_are_whole_when_they_are() {
        let mut memory = FrameStore::new(4, 6);
        assert!(memory.add_large_frame());
        memory.enlarge(8);
        assert!(memory.add_large_frame() && !memory.add_large_frame());
        assert_eq!(last(&memory), [Content::Free; 4]);
    }

    #[test]
    fn a_large_frame_that_is_set_aside_is_its_blocks_alone_until_that_is_freed() {
        let mut memory = FrameStore::new(4, 12);
        memory.grow(12);
        assert!(memory.set_aside(SpaceId(0), Some(1), 4) && memory.set_aside(SpaceId(0), None, 3));
        while memory.add_large_frame() {}
        assert_eq!((memory.home(1), memory.free.first(), memory.holes.first()), (Some(0), Some(2), Some(2)));
        assert_eq!((memory.bases[0].first(), memory.check()), (Some(1), Ok(())), "a base list of its own");
        memory.put(PageId(5), SpaceId(0), 1, true);
        assert_eq!((memory.full_home(1), memory.holes.first(), memory.check()), (false, Some(2), Ok(())));
        assert_eq!([0, 1].map(|large| memory.frames[large].awaited()), [3, 3]);
        memory.replace(1, Content::Free);
        memory.unsettle(1);
        memory.give_back(SpaceId(0));
        assert_eq!((memory.home(1), memory.kept.first(), memory.check()), (None, None, Ok(())));
        assert_eq!((0..3).filter(|&large| memory.free.contains(large)).count(), 3);
    }

    #[test]
    fn unfinished_splinters_are_counted_for_each_block() {
        let mut memory = FrameStore::new(4, 8);
        memory.grow(8);
        *memory.splintering(1) += 2;
        assert_eq!([memory.splinters(0), memory.splinters(1)], [0, 2]);
        *memory.splintering(1) -= 1;
        assert_eq!(memory.splinters(1), 1);
    }
}
