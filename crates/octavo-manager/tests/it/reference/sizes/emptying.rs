//! Which large frame is emptied, and where its contents go.

use super::store::{Content, Holder, Store};

/// A memory as compaction sees it.
pub struct Emptying<'a> {
    pub store: &'a Store,
    pub channels: u32,
    /// Free frames that can be had.
    pub spare: u32,
    /// Whether a page may move.
    pub movable: &'a dyn Fn(u32) -> bool,
}

/// The source and target frame of each move.
pub type Moves = Vec<(u32, u32)>;

impl Emptying<'_> {
    /// The large frame with the fewest frames in use, the lowest first. Homes that hold nothing but their block take part
    /// only if nothing is found without them.
    pub fn emptiest(&self) -> Option<Moves> {
        [false, true].into_iter().find_map(|homes| {
            let mut numbers: Vec<u32> = self.store.numbers().collect();
            numbers.sort_by_key(|&number| self.store.used(number));
            numbers.into_iter().find_map(|number| self.empty(number, homes, homes))
        })
    }

    /// The rest of a block that was a large page, moved to wherever there is room for it.
    pub fn of(&self, number: u32) -> Option<Moves> {
        [false, true].into_iter().find_map(|homes| self.empty(number, true, homes))
    }

    /// Empties a large frame, which may be a home or not, into others, which may be homes or not.
    fn empty(&self, number: u32, home: bool, into_homes: bool) -> Option<Moves> {
        let store = self.store;
        let whole = (number + 1) * store.span <= store.total;
        let known = matches!(store.large(number).holder, Holder::Space(_) | Holder::Foreign);
        let moves = |(_, content)| if let Content::Page(page) = content { (self.movable)(page) } else { true };
        let used = store.used(number);
        let can = self.takes_part(number, home) && whole && known && used > 0 && store.leaving(number) == 0;
        if !can || used > self.spare || !store.contents(number).all(moves) {
            return None;
        }
        let full = store.contents(number).filter(|(_, content)| *content != Content::Free);
        let moves: Moves = full.map(|(frame, _)| frame).zip(self.holes_for(number, into_homes)).collect();
        Some(moves).filter(|moves| moves.len() == used as usize)
    }

    fn takes_part(&self, number: u32, homes: bool) -> bool {
        !self.store.large(number).coalesced && (homes || !self.store.pure(number))
    }

    /// Free frames of other large frames of the same holder in the same channel: those that are no homes in their
    /// order, then homes, the emptiest first.
    fn holes_for(&self, number: u32, homes: bool) -> Vec<u32> {
        let store = self.store;
        let alike = |&other: &u32| {
            let same = store.large(other).holder == store.large(number).holder;
            other != number && same && other % self.channels == number % self.channels && self.takes_part(other, homes)
        };
        let mut others: Vec<u32> = store.numbers().filter(alike).collect();
        others.sort_by_key(|&other| if store.pure(other) { (1, store.used(other)) } else { (0, 0) });
        let contents = others.into_iter().flat_map(|other| store.contents(other));
        contents.filter(|(_, content)| *content == Content::Free).map(|(frame, _)| frame).collect()
    }
}
