//! A set-associative TLB, or several side by side (one a compute unit). Misses merge by the time the entry is ready.

use crate::gpu::translate::entry::{Entry, TOLD_BITS};
use crate::gpu::translate::page_sets::PageSets;

/// A translation in the TLB and the time from which it can be used, in one word. Times after two minutes are equal:
/// from then on, translations can be used at once.
#[derive(Clone, Copy)]
struct Slot(u64);

const LAST_READY: u64 = u64::MAX >> TOLD_BITS;

impl Slot {
    #[inline]
    fn new(entry: Entry, ready: u64) -> Self {
        Self(ready.min(LAST_READY) << TOLD_BITS | u64::from(entry.told()))
    }

    #[inline]
    fn hit(self) -> TlbHit {
        TlbHit { entry: Entry::of_told(self.0 as u32 & ((1 << TOLD_BITS) - 1)), ready: self.0 >> TOLD_BITS }
    }
}

pub(crate) struct Tlb {
    /// [`Slot`] by page.
    slots: PageSets,
    units: usize,
}

/// What a lookup found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TlbHit {
    pub entry: Entry,
    pub ready: u64,
}

impl Tlb {
    /// `units` equal TLBs with this many entries and ways.
    pub fn new((entries, ways): (u32, u32), units: usize) -> Self {
        let (entries, ways) = (entries as usize, ways as usize);
        Self { slots: PageSets::new(units, entries / ways, ways), units }
    }

    #[inline(always)]
    pub fn lookup(&mut self, unit: usize, page: u32) -> Option<TlbHit> {
        let set = self.slots.set_of(unit, page);
        self.slots.lookup(set, page).map(|slot| Slot(slot).hit())
    }

    /// Enters a missing translation in place of the least recently used one of its set.
    #[inline]
    pub fn insert(&mut self, unit: usize, page: u32, entry: Entry, ready: u64) {
        debug_assert!(!self.holds(unit, page));
        let set = self.slots.set_of(unit, page);
        let way = self.slots.oldest(set);
        self.slots.enter(set, way, page, Slot::new(entry, ready).0);
    }

    /// Removes the translation of `page` from one unit; returns whether it was present.
    #[inline(always)]
    pub fn invalidate(&mut self, unit: usize, page: u32) -> bool {
        let set = self.slots.set_of(unit, page);
        let Some(way) = self.slots.find(set, page) else { return false };
        self.slots.clear(set, way);
        true
    }

    /// Removes the translation of `page` from all units.
    pub fn shoot_down(&mut self, page: u32) {
        for unit in 0..self.units {
            self.invalidate(unit, page);
        }
    }

    /// Whether `unit` holds a translation of `page`.
    pub fn holds(&self, unit: usize, page: u32) -> bool {
        self.slots.find(self.slots.set_of(unit, page), page).is_some()
    }
}

#[cfg(test)]
mod tests {
    use octavo_manager::HOST_MEMORY;
    use proptest::prelude::*;

    use super::*;

    fn tlb(entries: u32, ways: u32, units: usize) -> Tlb {
        Tlb::new((entries, ways), units)
    }

    proptest! {
        /// Against a list in order of use, for the published first-level TLB and a small set-associative one.
        #[test]
        fn behaves_as_lru(pages in prop::collection::vec(0u32..80, 1..400), wide in any::<bool>()) {
            let (entries, ways) = if wide { (32, 32) } else { (16, 4) };
            let sets = entries / ways;
            let mut tlb = tlb(entries, ways, 2);
            let mut reference: Vec<Vec<u32>> = vec![Vec::new(); sets as usize];
            for page in pages {
                let set = &mut reference[(page % sets) as usize];
                let expected = set.iter().position(|&other| other == page).map(|at| set.remove(at)).is_some();
                let found = tlb.lookup(1, page).is_some();
                prop_assert_eq!(found, expected);
                if !found {
                    set.truncate(ways as usize - 1);
                    tlb.insert(1, page, Entry::new(HOST_MEMORY, false, false), 0);
                }
                set.insert(0, page);
            }
        }
    }

    #[test]
    fn a_page_is_removed_from_one_unit_or_shot_down_in_all() {
        let mut tlb = tlb(32, 32, 3);
        for unit in 0..3 {
            for page in [5, 6] {
                tlb.insert(unit, page, Entry::new(HOST_MEMORY, true, false), 0);
            }
        }
        assert!(tlb.invalidate(0, 5));
        assert!(!tlb.invalidate(0, 5));
        assert!(!tlb.holds(0, 5) && tlb.holds(1, 5));
        tlb.shoot_down(5);
        assert!((0..3).all(|unit| !tlb.holds(unit, 5) && tlb.holds(unit, 6)));
    }
}
