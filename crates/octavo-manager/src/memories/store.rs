//! The frames of one memory: which page each base frame holds, and what that makes of the large frames.

use crate::contract::block::BlockMap;
use crate::contract::ids::{PageId, SpaceId};
use crate::memories::frame_set::FrameSet;

/// No frame, no block.
pub(super) const NONE: u32 = u32::MAX;

/// What a base frame holds, in 32 bits: a page by its number, or one of these.
const FREE: u32 = u32::MAX;
const FOREIGN: u32 = u32::MAX - 1;
/// The last large frame may end beyond the memory.
const ABSENT: u32 = u32::MAX - 2;
/// A page that an unfinished plan took away, with the plan's slot in the lower bits.
const LEAVING: u32 = 1 << 31;

/// What a base frame holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Free,
    /// Data that no application here knows.
    Foreign,
    Absent,
    /// What the unfinished plan in this slot took away; it alone can use the frame again.
    Leaving(u32),
    Page(PageId),
}

impl Content {
    fn of(raw: u32) -> Self {
        match raw {
            FREE => Self::Free,
            FOREIGN => Self::Foreign,
            ABSENT => Self::Absent,
            _ if raw & LEAVING != 0 => Self::Leaving(raw & !LEAVING),
            page => Self::Page(PageId(page)),
        }
    }

    fn raw(self) -> u32 {
        match self {
            Self::Free => FREE,
            Self::Foreign => FOREIGN,
            Self::Absent => ABSENT,
            Self::Leaving(slot) => LEAVING | slot,
            Self::Page(page) => page.0,
        }
    }
}

/// Whose base pages a large frame holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    Nobody,
    Space(SpaceId),
    Foreign,
    /// Pages of several spaces, or beside foreign data.
    Mixed,
}

/// A large frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LargeFrame {
    pub holder: Holder,
    /// The block whose pages have their own places here, or [`NONE`].
    home: u32,
    /// Base frames that are not free.
    pub used: u16,
    /// Of these, what unfinished plans took away.
    pub leaving: u16,
    /// Of these, foreign data.
    pub foreign: u16,
    /// Pages of the home block in their own places.
    pub matching: u16,
    /// The home block is one large page.
    pub coalesced: bool,
    /// The base frames that are not free.
    taken: BlockMap,
}

impl LargeFrame {
    fn empty() -> Self {
        let (holder, taken) = (Holder::Nobody, BlockMap::EMPTY);
        Self { holder, home: NONE, used: 0, leaving: 0, foreign: 0, matching: 0, coalesced: false, taken }
    }

    pub fn home(&self) -> Option<u32> {
        (self.home != NONE).then_some(self.home)
    }

    /// Whether a page of `space` keeps the pages of different spaces apart here.
    pub fn may_hold(&self, space: SpaceId) -> bool {
        self.holder == Holder::Nobody || self.holder == Holder::Space(space)
    }

    /// Whether it holds nothing but pages of its home block in their own places.
    pub fn pure(&self) -> bool {
        self.home != NONE && self.used == self.matching + self.leaving
    }
}

/// What is known of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block {
    /// The large frame that it is at home in, or [`NONE`].
    home: u32,
    /// Frames that its pages hold.
    held: u16,
    /// Unfinished plans with a splinter of it.
    splintering: u16,
}

/// The frames of one memory. Large frames are made as they are needed, so that an empty memory takes no room.
#[derive(Clone)]
pub struct FrameStore {
    /// Base pages of a large frame, and of a block.
    pub(crate) span: u32,
    /// Base frames that the memory has.
    pub(crate) total: u32,
    pub(crate) frames: Vec<LargeFrame>,
    contents: Vec<u32>,
    /// The frame of each page.
    places: Vec<u32>,
    blocks: Vec<Block>,
    /// Large frames with nothing in them.
    pub(crate) free: FrameSet,
    /// Large frames with a free base frame.
    pub(crate) holes: FrameSet,
    /// By space: large frames of that space alone with a free base frame, but for those that are a block's home and
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
        let sets = [&self.free, &self.holes, &self.emergency].into_iter().chain(&self.bases);
        self.frames.capacity() * size_of::<LargeFrame>()
            + (self.contents.capacity() + self.places.capacity()) * size_of::<u32>()
            + self.blocks.capacity() * size_of::<Block>()
            + sets.map(FrameSet::bytes).sum::<usize>()
    }

    /// The memory has at least this many base frames from now on. Frames are never taken away: a memory that becomes
    /// smaller leaves more of them unused, whichever these are.
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

    /// Makes one more large frame; `false` if the memory has no more.
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
        let holder = frame.holder;
        self.reindex(large, holder);
    }

    /// The lowest free base frame of a large frame.
    pub(crate) fn hole(&self, large: u32) -> Option<u32> {
        let hole = self.frames[large as usize].taken.first_missing(self.span);
        hole.map(|offset| large * self.span + offset)
    }

    /// Puts a page of `space` into a base frame. A page in its own place makes the large frame its block's home, if it
    /// `settles`, and if that and the block's home up to now have no other such page. Answers what the frame held.
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
            (frame.home, frame.matching) = (NONE, 0);
            let holder = frame.holder;
            self.reindex(home, holder);
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

    /// What a base frame held, page or foreign, leaves it, or, in case of a plan's failure, comes back to it.
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

    /// A large frame with nothing left in it is nobody's, and nobody's home.
    fn empty_if_unused(&mut self, large: u32) {
        let absent = self.absent(large);
        let record = &mut self.frames[large as usize];
        let holder = record.holder;
        if record.used == absent {
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

    /// Writes what a base frame holds, and counts it.
    fn write(&mut self, frame: u32, content: Content) {
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
    fn reindex(&mut self, large: u32, before: Holder) {
        let frame = &self.frames[large as usize];
        let has_hole = u32::from(frame.used) < self.span;
        let base = has_hole && !frame.pure() && !frame.coalesced;
        let (used, coalesced, holder) = (frame.used, frame.coalesced, frame.holder);
        self.free.set(large, used == 0);
        self.holes.set(large, has_hole);
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
