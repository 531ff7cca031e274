//! The frames of one GPU's memory: the contents of each, and the state of each large frame.

use octavo_manager::{Fragmentation, Random};

/// The contents of a base frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    Free,
    Foreign,
    Page(u32),
    /// Nothing needed any more, but the plan with this number is not done yet.
    Leaving(u64),
}

/// Whose pages a large frame holds, or has held since it was last empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    Nobody,
    Space(u16),
    Foreign,
    Mixed,
}

#[derive(Clone, Debug)]
pub struct Large {
    pub holder: Holder,
    /// The block whose pages have their own places here.
    pub home: Option<u32>,
    /// The block is one large page.
    pub coalesced: bool,
    contents: Vec<Content>,
}

/// A memory. Large frames come into being one by one, when no free one is left.
pub struct Store {
    pub span: u32,
    /// Base frames that there are. The last large frame may extend beyond these.
    pub total: u32,
    pub larges: Vec<Large>,
}

impl Store {
    pub fn new(span: u32, total: u32) -> Self {
        Self { span, total, larges: Vec::new() }
    }

    pub fn numbers(&self) -> std::ops::Range<u32> {
        0..self.larges.len() as u32
    }

    pub fn large(&self, number: u32) -> &Large {
        &self.larges[number as usize]
    }

    pub fn large_mut(&mut self, number: u32) -> &mut Large {
        &mut self.larges[number as usize]
    }

    /// The base frames that exist in a large frame, with their contents.
    pub fn contents(&self, number: u32) -> impl Iterator<Item = (u32, Content)> + '_ {
        let frames = number * self.span..((number + 1) * self.span).min(self.total);
        frames.zip(&self.large(number).contents).map(|(frame, content)| (frame, *content))
    }

    pub fn content(&self, frame: u32) -> Content {
        self.large(frame / self.span).contents[(frame % self.span) as usize]
    }

    fn set(&mut self, frame: u32, content: Content) {
        let offset = (frame % self.span) as usize;
        self.large_mut(frame / self.span).contents[offset] = content;
    }

    fn count(&self, number: u32, what: impl Fn(u32, Content) -> bool) -> u32 {
        self.contents(number).filter(|&(frame, content)| what(frame, content)).count() as u32
    }

    /// Free base frames of a large frame.
    pub fn holes(&self, number: u32) -> u32 {
        self.count(number, |_, content| content == Content::Free)
    }

    /// Base frames of it that are not free, those that are not there among them.
    pub fn used(&self, number: u32) -> u32 {
        self.span - self.holes(number)
    }

    pub fn leaving(&self, number: u32) -> u32 {
        self.count(number, |_, content| matches!(content, Content::Leaving(_)))
    }

    /// Pages of the home block in their own places.
    pub fn matching(&self, number: u32) -> u32 {
        let Some(block) = self.large(number).home else { return 0 };
        self.count(number, |frame, content| self.own_place(block, frame, content))
    }

    fn own_place(&self, block: u32, frame: u32, content: Content) -> bool {
        let Content::Page(page) = content else { return false };
        page / self.span == block && page % self.span == frame % self.span
    }

    /// Whether a large frame is a home and holds nothing but its block.
    pub fn pure(&self, number: u32) -> bool {
        self.large(number).home.is_some() && self.used(number) == self.matching(number) + self.leaving(number)
    }

    /// The lowest free base frame of a large frame.
    pub fn hole(&self, number: u32) -> Option<u32> {
        self.contents(number).find(|(_, content)| *content == Content::Free).map(|(frame, _)| frame)
    }

    /// The lowest large frame with nothing in it.
    pub fn empty(&self) -> Option<u32> {
        self.numbers().find(|&number| self.used(number) == 0)
    }

    pub fn home(&self, block: u32) -> Option<u32> {
        self.numbers().find(|&number| self.large(number).home == Some(block))
    }

    /// The large frame of a block that is one large page.
    pub fn coalesced(&self, block: u32) -> Option<u32> {
        self.home(block).filter(|&home| self.large(home).coalesced)
    }

    /// Where a page is.
    pub fn place(&self, page: u32) -> Option<u32> {
        let all = self.numbers().flat_map(|number| self.contents(number));
        all.filter(|(_, content)| *content == Content::Page(page)).map(|(frame, _)| frame).next()
    }

    pub fn in_own_place(&self, page: u32) -> bool {
        let home = self.home(page / self.span);
        home.is_some_and(|home| self.place(page) == Some(home * self.span + page % self.span))
    }

    /// Frames that hold pages of a block.
    pub fn held(&self, block: u32) -> u32 {
        let own = |_, content| matches!(content, Content::Page(page) if page / self.span == block);
        self.numbers().map(|number| self.count(number, own)).sum()
    }

    /// Frames with pages, or what plans other than this one have yet to give up.
    pub fn filled(&self, but: Option<u64>) -> u32 {
        let counts = |_, content| match content {
            Content::Page(_) => true,
            Content::Leaving(flight) => Some(flight) != but,
            Content::Free | Content::Foreign => false,
        };
        self.numbers().map(|number| self.count(number, counts)).sum()
    }

    /// Adds large frames until one is empty or all exist.
    pub fn make_empty(&mut self) {
        while self.empty().is_none() && self.add() {}
    }

    fn add(&mut self) -> bool {
        let fits = self.larges.len() as u64 * u64::from(self.span) < u64::from(self.total);
        if fits {
            let contents = vec![Content::Free; self.span as usize];
            self.larges.push(Large { holder: Holder::Nobody, home: None, coalesced: false, contents });
        }
        fits
    }

    /// A page comes to a frame. In its own place it can claim the large frame for its block.
    pub fn put(&mut self, page: u32, space: u16, frame: u32, claims: bool) {
        if claims {
            self.claim(page, frame);
        }
        let large = self.large_mut(frame / self.span);
        large.holder = match large.holder {
            Holder::Nobody => Holder::Space(space),
            Holder::Space(own) if own == space => large.holder,
            _ => Holder::Mixed,
        };
        self.set(frame, Content::Page(page));
    }

    /// The large frame becomes the block's home, unless a page of its block or of the frame's lies in its own place.
    fn claim(&mut self, page: u32, frame: u32) {
        let (number, block) = (frame / self.span, page / self.span);
        let old = self.home(block);
        let taken = self.matching(number) > 0 || old.is_some_and(|old| self.matching(old) > 0);
        if frame % self.span == page % self.span && !taken {
            old.into_iter().for_each(|old| self.large_mut(old).home = None);
            self.large_mut(number).home = Some(block);
        }
    }

    pub fn put_foreign(&mut self, frame: u32) {
        let large = self.large_mut(frame / self.span);
        let foreign = matches!(large.holder, Holder::Nobody | Holder::Foreign);
        large.holder = if foreign { Holder::Foreign } else { Holder::Mixed };
        self.set(frame, Content::Foreign);
    }

    /// A frame's contents leave it: at the end of a plan, or at once.
    pub fn leave(&mut self, frame: u32, until: Option<u64>) {
        self.set(frame, until.map_or(Content::Free, Content::Leaving));
        let number = frame / self.span;
        if self.contents(number).all(|(_, content)| content == Content::Free) {
            let large = self.large_mut(number);
            (large.holder, large.home, large.coalesced) = (Holder::Nobody, None, false);
        }
    }

    /// A plan is done.
    pub fn done(&mut self, flight: u64) {
        let all = self.numbers().flat_map(|number| self.contents(number));
        let left: Vec<u32> =
            all.filter(|(_, content)| *content == Content::Leaving(flight)).map(|(frame, _)| frame).collect();
        left.into_iter().for_each(|frame| self.leave(frame, None));
    }

    /// Places foreign data at random from the start. How many frames it takes.
    pub fn fill(&mut self, fragmentation: &Fragmentation, gpu: u32) -> u32 {
        if fragmentation.index == 0 || fragmentation.occupancy == 0 {
            return 0;
        }
        while self.add() {}
        let mut random = Random::new(fragmentation.seed.wrapping_add(gpu));
        let percent = |of: u32, percent: u32| of * percent / 100;
        let mut numbers: Vec<u32> = (0..self.total / self.span).collect();
        let mut offsets: Vec<u32> = (0..self.span).collect();
        let frames = percent(numbers.len() as u32, fragmentation.index);
        let pages = percent(self.span, fragmentation.occupancy).max(1);
        for number in draw(&mut numbers, frames, &mut random) {
            draw(&mut offsets, pages, &mut random)
                .into_iter()
                .for_each(|offset| self.put_foreign(number * self.span + offset));
        }
        frames * pages
    }
}

/// The first `count`, after each changed places with a random one of those from it onwards.
fn draw(from: &mut [u32], count: u32, random: &mut Random) -> Vec<u32> {
    for index in 0..count as usize {
        let other = index + random.below((from.len() - index) as u32) as usize;
        from.swap(index, other);
    }
    from[..count as usize].to_vec()
}
