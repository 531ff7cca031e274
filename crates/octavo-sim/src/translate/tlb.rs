//! A set-associative TLB, or several side by side (one a compute unit). Misses merge by the time the entry is ready.

use super::Entry;
use crate::aligned::Aligned;
use crate::config::TlbConfig;
use crate::ways::{self, EMPTY, Stamps};

/// Hints a set.
const HINTS: usize = 32;

/// A translation in the TLB.
#[derive(Clone, Copy)]
struct Slot {
    ready: u64,
    entry: Entry,
}

pub(crate) struct Tlb {
    /// By (unit, set, way).
    pages: Aligned<u32>,
    /// Last use of each way, for LRU. Apart from the rest, so that a set is searched in few cache lines.
    used: Stamps,
    slots: Aligned<Slot>,
    /// By (unit, set, low bits of what is above the set in the page's number): the way where such a page was last
    /// seen. Most accesses find their page there without a search.
    hints: Vec<u8>,
    sets: usize,
    ways: usize,
}

/// What a lookup found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TlbHit {
    pub entry: Entry,
    pub ready: u64,
}

impl Tlb {
    /// `units` equal TLBs.
    pub fn new(config: &TlbConfig, units: usize) -> Self {
        let ways = config.ways as usize;
        let sets = config.entries as usize / ways;
        let all = units * sets * ways;
        Self {
            pages: Aligned::new(EMPTY, all),
            used: Stamps::new(all),
            slots: Aligned::new(Slot { ready: 0, entry: Entry::INVALID }, all),
            hints: vec![0; units * sets * HINTS],
            sets,
            ways,
        }
    }

    #[inline]
    pub fn lookup(&mut self, unit: usize, page: u32) -> Option<TlbHit> {
        let set = self.set(unit, page);
        let start = set * self.ways;
        let hint = self.hint(set, page);
        let hinted = start + self.hints[hint] as usize;
        let at = if self.pages[hinted] == page {
            hinted
        } else {
            let way = ways::find(&self.pages[start..start + self.ways], page)?;
            self.hints[hint] = way as u8;
            start + way
        };
        self.used.touch(at);
        let slot = &self.slots[at];
        Some(TlbHit { entry: slot.entry, ready: slot.ready })
    }

    /// Enters a translation that is not there in place of the least recently used one of its set.
    #[inline]
    pub fn insert(&mut self, unit: usize, page: u32, entry: Entry, ready: u64) {
        let set = self.set(unit, page);
        let start = set * self.ways;
        debug_assert!(!self.holds(unit, page));
        let way = self.used.oldest(start, self.ways);
        self.pages[start + way] = page;
        self.slots[start + way] = Slot { ready, entry };
        self.used.touch(start + way);
        let hint = self.hint(set, page);
        self.hints[hint] = way as u8;
    }

    /// Removes the translation of `page` from one unit; returns whether it was there.
    pub fn invalidate(&mut self, unit: usize, page: u32) -> bool {
        let start = self.set(unit, page) * self.ways;
        let Some(way) = ways::find(&self.pages[start..start + self.ways], page) else { return false };
        self.pages[start + way] = EMPTY;
        self.used.forget(start + way);
        true
    }

    /// Whether `unit` holds a translation of `page`.
    pub fn holds(&self, unit: usize, page: u32) -> bool {
        let start = self.set(unit, page) * self.ways;
        ways::find(&self.pages[start..start + self.ways], page).is_some()
    }

    /// How many TLBs these are.
    pub fn units(&self) -> usize {
        self.pages.len() / (self.sets * self.ways)
    }

    #[inline]
    fn hint(&self, set: usize, page: u32) -> usize {
        set * HINTS + (page as usize >> self.sets.trailing_zeros()) % HINTS
    }

    #[inline]
    fn set(&self, unit: usize, page: u32) -> usize {
        unit * self.sets + (page as usize & (self.sets - 1))
    }
}

#[cfg(test)]
mod tests {
    use octavo_manager::HOST;
    use octavo_units::Cycles;
    use proptest::prelude::*;

    use super::*;

    fn tlb(entries: u32, ways: u32, units: usize) -> Tlb {
        let config = TlbConfig { entries, ways, latency: Cycles(1), miss_registers: 1, invalidation: Cycles(1) };
        Tlb::new(&config, units)
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
                    tlb.insert(1, page, Entry::new(HOST, false, false), 0);
                }
                set.insert(0, page);
            }
        }
    }

    #[test]
    fn a_shootdown_removes_one_page_from_one_unit() {
        let mut tlb = tlb(32, 32, 2);
        for unit in 0..2 {
            tlb.insert(unit, 5, Entry::new(HOST, true, false), 0);
        }
        assert!(tlb.invalidate(0, 5));
        assert!(!tlb.invalidate(0, 5));
        assert!(!tlb.holds(0, 5) && tlb.holds(1, 5));
    }
}
