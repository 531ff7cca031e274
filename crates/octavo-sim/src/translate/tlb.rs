//! A set-associative TLB, or several side by side (one a compute unit). Misses merge by the time the entry is ready.

use super::Entry;
use crate::config::TlbConfig;
use crate::ways::{self, EMPTY};

pub(crate) struct Tlb {
    /// By (unit, set, way).
    pages: Vec<u32>,
    used: Vec<u32>,
    ready: Vec<u64>,
    entries: Vec<Entry>,
    /// The way that hit last in each set: most accesses find their page there.
    recent: Vec<u8>,
    clock: u32,
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
            pages: vec![EMPTY; all],
            used: vec![0; all],
            ready: vec![0; all],
            entries: vec![Entry::INVALID; all],
            recent: vec![0; units * sets],
            clock: 0,
            sets,
            ways,
        }
    }

    #[inline]
    pub fn lookup(&mut self, unit: usize, page: u32) -> Option<TlbHit> {
        let set = self.set(unit, page);
        let start = set * self.ways;
        self.tick();
        let recent = start + self.recent[set] as usize;
        let at = if self.pages[recent] == page {
            recent
        } else {
            let way = ways::find(&self.pages[start..start + self.ways], page)?;
            self.recent[set] = way as u8;
            start + way
        };
        self.used[at] = self.clock;
        Some(TlbHit { entry: self.entries[at], ready: self.ready[at] })
    }

    /// Enters a translation in place of an older one of the same page, or of the least recently used one of its set.
    #[inline]
    pub fn insert(&mut self, unit: usize, page: u32, entry: Entry, ready: u64) {
        let set = self.set(unit, page);
        let start = set * self.ways;
        let way = ways::find(&self.pages[start..start + self.ways], page)
            .unwrap_or_else(|| ways::oldest(&self.used[start..start + self.ways]));
        self.pages[start + way] = page;
        self.used[start + way] = self.clock;
        self.ready[start + way] = ready;
        self.entries[start + way] = entry;
        self.recent[set] = way as u8;
    }

    /// Removes the translation of `page` from one unit; returns whether it was there.
    pub fn invalidate(&mut self, unit: usize, page: u32) -> bool {
        let start = self.set(unit, page) * self.ways;
        let Some(way) = ways::find(&self.pages[start..start + self.ways], page) else { return false };
        self.pages[start + way] = EMPTY;
        self.used[start + way] = 0;
        true
    }

    /// Whether `unit` holds a translation of `page`.
    pub fn holds(&self, unit: usize, page: u32) -> bool {
        let start = self.set(unit, page) * self.ways;
        ways::find(&self.pages[start..start + self.ways], page).is_some()
    }

    #[inline]
    fn set(&self, unit: usize, page: u32) -> usize {
        unit * self.sets + (page as usize & (self.sets - 1))
    }

    #[inline]
    fn tick(&mut self) {
        self.clock = self.clock.wrapping_add(1);
        if self.clock == 0 {
            self.used.fill(0);
            self.clock = 1;
        }
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
