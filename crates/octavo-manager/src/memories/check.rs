//! Checks for tests that counts about frames agree with the frames' contents.

use crate::memories::content::Content;
use crate::memories::large_frame::{Holder, LargeFrame};
use crate::memories::store::FrameStore;

impl FrameStore {
    /// # Errors
    /// The first disagreement found.
    pub(crate) fn check(&self) -> Result<(), String> {
        (0..self.frames.len() as u32).try_for_each(|large| self.check_large(large))?;
        let mut pages = 0;
        for frame in 0..self.frames.len() as u32 * self.span {
            if let Content::Page(page) = self.content(frame) {
                pages += 1;
                let place = self.place(page);
                ensure(place == Some(frame), || format!("page {} is in frame {frame} and in {place:?}", page.0))?;
            }
        }
        let placed = self.placed();
        ensure(pages == placed, || format!("{placed} pages have frames, {pages} frames have pages"))
    }

    /// Base frames that a plan or an application uses.
    pub(crate) fn in_use(&self) -> u32 {
        let used = |large: u32| {
            let contents = self.contents_of(large);
            contents.filter(|(_, content)| matches!(content, Content::Page(_) | Content::Leaving(_))).count() as u32
        };
        (0..self.frames.len() as u32).map(used).sum()
    }

    fn check_large(&self, large: u32) -> Result<(), String> {
        let frame = &self.frames[large as usize];
        let count = |what: &dyn Fn(u32, Content) -> bool| {
            self.contents_of(large).filter(|&(frame, content)| what(frame, content)).count() as u16
        };
        let used = count(&|_, content| content != Content::Free);
        let leaving = count(&|_, content| matches!(content, Content::Leaving(_)));
        let foreign = count(&|_, content| content == Content::Foreign);
        let own_place = |base: u32, content: Content| {
            let Content::Page(page) = content else { return false };
            frame.home() == Some(self.block_of(page)) && page.0 % self.span == base % self.span
        };
        let matching = count(&own_place);
        let counted = [frame.used, frame.leaving, frame.foreign, frame.matching];
        let found = [used, leaving, foreign, matching];
        ensure(counted == found, || format!("large frame {large}: counted {counted:?}, found {found:?}"))?;
        let home = frame.home();
        ensure(home.is_none_or(|block| self.home(block) == Some(large)), || format!("{large} is no home of {home:?}"))?;
        let pure = u32::from(matching) + u32::from(leaving) == u32::from(used);
        ensure(!frame.coalesced || home.is_some() && pure, || format!("large page {large} holds something else"))?;
        self.check_sets(large, frame)
    }

    fn check_sets(&self, large: u32, frame: &LargeFrame) -> Result<(), String> {
        let hole = u32::from(frame.used) < self.span;
        let base = hole && !frame.pure() && !frame.coalesced;
        for (index, bases) in self.bases.iter().enumerate() {
            let own = matches!(frame.holder, Holder::Space(space) if usize::from(space.0) == index);
            ensure(bases.contains(large) == (own && base), || format!("{large} in the base list of space {index}"))?;
        }
        let sets = [
            (&self.free, frame.used == 0 && frame.kept == 0),
            (&self.holes, hole && frame.kept == 0),
            (&self.kept, hole && frame.kept > 0),
            (&self.emergency, frame.coalesced && hole),
        ];
        let listed = sets.iter().all(|(set, member)| set.contains(large) == *member);
        ensure(listed, || format!("large frame {large} is in the wrong sets"))
    }
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}
