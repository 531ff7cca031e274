//! The state of a large frame.

use crate::contract::block::BlockMap;
use crate::contract::ids::SpaceId;

/// No frame, no block.
pub(super) const NONE: u32 = u32::MAX;

/// The owner of the base pages in a large frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    Nobody,
    Space(SpaceId),
    Foreign,
    /// Pages of several spaces, or with foreign data among them.
    Mixed,
}

/// A large frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LargeFrame {
    pub holder: Holder,
    /// The block whose pages have their own places here, or [`NONE`].
    pub(super) home: u32,
    /// Base frames that are not free.
    pub used: u16,
    /// Pages among these that unfinished plans took away.
    pub leaving: u16,
    /// Pages among these that are foreign data.
    pub foreign: u16,
    /// Pages of the home block in their own places.
    pub matching: u16,
    /// The home block is one large page.
    pub coalesced: bool,
    /// Pages that it is set aside for, of its home block or of incomplete blocks of its space; 0 if it is not.
    pub(super) kept: u16,
    /// The base frames that are not free.
    pub(super) taken: BlockMap,
}

impl LargeFrame {
    pub(super) fn empty() -> Self {
        let (holder, taken) = (Holder::Nobody, BlockMap::EMPTY);
        let (coalesced, kept) = (false, 0);
        Self { holder, home: NONE, used: 0, leaving: 0, foreign: 0, matching: 0, coalesced, kept, taken }
    }

    pub fn home(&self) -> Option<u32> {
        (self.home != NONE).then_some(self.home)
    }

    /// Whether a page of `space` keeps the pages of different spaces apart here.
    pub fn may_hold(&self, space: SpaceId) -> bool {
        self.holder == Holder::Nobody || self.holder == Holder::Space(space)
    }

    /// Pages that it is set aside for and that have not come.
    pub fn awaited(&self) -> u16 {
        self.kept.saturating_sub(self.used)
    }

    /// Whether it holds nothing but pages of its home block in their own places.
    pub fn pure(&self) -> bool {
        self.home != NONE && self.used == self.matching + self.leaving
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_is_pure_while_it_holds_nothing_but_its_block() {
        let home = LargeFrame { home: 3, used: 4, matching: 3, leaving: 1, ..LargeFrame::empty() };
        assert!(home.pure(), "a page that leaves was the block's");
        assert!(!LargeFrame { used: 5, foreign: 1, ..home }.pure());
        assert!(!LargeFrame::empty().pure(), "it is no home");
    }
}
