//! First-level caches of all compute units of a GPU: write-through, no allocation on stores.
//!
//! A line is entered when its miss is sent, with the time its data will be there: a later access finds it and waits
//! for that time, which is how misses merge.

use crate::config::CacheConfig;
use crate::ways;

const LINE_BITS: u32 = 40;

pub(crate) struct L1Caches {
    /// By (unit, set, way); a discarded epoch makes an entry invalid.
    tags: Vec<u64>,
    /// Last use of each way, for LRU. Entries of discarded epochs are older than all others, so they go first.
    used: Vec<u32>,
    /// When the data is there, parallel to `tags`.
    ready: Vec<u64>,
    /// Epoch of each unit; raised to discard its whole cache. Starts at 1 so that empty tags never match.
    epochs: Vec<u64>,
    clock: u32,
    sets: usize,
    ways: usize,
}

impl L1Caches {
    pub fn new(config: &CacheConfig, units: usize) -> Self {
        let ways = config.ways as usize;
        let sets = config.size.0 as usize / 64 / ways;
        let entries = units * sets * ways;
        Self {
            tags: vec![0; entries],
            used: vec![0; entries],
            ready: vec![0; entries],
            epochs: vec![1; units],
            clock: 0,
            sets,
            ways,
        }
    }

    /// When the data of `line` is (or will be) in `unit`'s cache; `None` on a miss.
    #[inline]
    pub fn lookup(&mut self, unit: usize, line: u64) -> Option<u64> {
        let tag = self.tag(unit, line);
        let (start, ways) = (self.set_start(unit, line), self.ways);
        let way = self.tags[start..start + ways].iter().position(|&other| other == tag)?;
        self.tick();
        self.used[start + way] = self.clock;
        Some(self.ready[start + way])
    }

    /// Enters a line in place of the least recently used one of its set.
    #[inline]
    pub fn insert(&mut self, unit: usize, line: u64, ready: u64) {
        let tag = self.tag(unit, line);
        let start = self.set_start(unit, line);
        let way = ways::oldest(&self.used[start..start + self.ways]);
        self.tick();
        self.tags[start + way] = tag;
        self.used[start + way] = self.clock;
        self.ready[start + way] = ready;
    }

    /// Discards everything `unit` holds.
    #[inline]
    pub fn discard(&mut self, unit: usize) {
        self.epochs[unit] += 1;
    }

    /// Discards everything.
    pub fn discard_all(&mut self) {
        for epoch in &mut self.epochs {
            *epoch += 1;
        }
    }

    #[inline]
    fn tag(&self, unit: usize, line: u64) -> u64 {
        self.epochs[unit] << LINE_BITS | line
    }

    #[inline]
    fn set_start(&self, unit: usize, line: u64) -> usize {
        (unit * self.sets + (line as usize & (self.sets - 1))) * self.ways
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
    use octavo_units::{Bytes, Cycles};

    use super::*;

    fn small() -> L1Caches {
        let config = CacheConfig { size: Bytes(1024), ways: 4, latency: Cycles(1), miss_registers: 8 };
        L1Caches::new(&config, 2)
    }

    #[test]
    fn evicts_the_least_recently_used_way_of_the_set() {
        let mut l1 = small();
        for line in [0, 4, 8, 12] {
            l1.insert(0, line, line);
        }
        assert_eq!(l1.lookup(0, 0), Some(0));
        l1.insert(0, 16, 16);
        assert_eq!(l1.lookup(0, 4), None, "line 4 was the oldest");
        assert_eq!(l1.lookup(0, 0), Some(0));
        assert_eq!(l1.lookup(1, 0), None, "caches are private to their unit");
    }

    #[test]
    fn a_discard_empties_one_unit_only() {
        let mut l1 = small();
        l1.insert(0, 3, 7);
        l1.insert(1, 3, 7);
        l1.discard(0);
        assert_eq!((l1.lookup(0, 3), l1.lookup(1, 3)), (None, Some(7)));
    }
}
