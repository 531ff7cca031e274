//! First-level caches of all compute units of a GPU: write-through, no allocation on stores.
//!
//! A line is entered when its miss is sent, with the time its data will be there: a later access finds it and waits
//! for that time, which is how misses merge.

use crate::aligned::Aligned;
use crate::config::CacheConfig;

/// A tag is the line's number, the version of its page's translation, and the epoch in which it was entered.
const VERSION_SHIFT: u32 = 32;
const EPOCH_SHIFT: u32 = 40;
const LAST_EPOCH: u64 = (1 << (64 - EPOCH_SHIFT)) - 1;

/// One way of a set. Four of them, the usual associativity, share a cache line of the simulating machine.
#[derive(Clone, Copy, Default)]
struct Way {
    tag: u64,
    /// When the data is there.
    ready: u64,
}

pub(crate) struct L1Caches {
    /// By (unit, set), the most recently used way first.
    ways: Aligned<Way>,
    /// Epoch of each unit; raised to discard its whole cache. Starts at 1 so that empty tags never match.
    epochs: Vec<u64>,
    sets: usize,
    associativity: usize,
}

impl L1Caches {
    pub fn new(config: &CacheConfig, units: usize) -> Self {
        let associativity = config.ways as usize;
        let sets = config.size.0 as usize / 64 / associativity;
        let ways = Aligned::new(Way::default(), units * sets * associativity);
        Self { ways, epochs: vec![1; units], sets, associativity }
    }

    /// When the data of `line` is (or will be) in `unit`'s cache; `None` on a miss.
    #[inline]
    pub fn lookup(&mut self, unit: usize, line: u64, version: u8) -> Option<u64> {
        let tag = self.tag(unit, line, version);
        let set = self.set(unit, line);
        let way = set.iter().position(|way| way.tag == tag)?;
        let found = set[way];
        to_front(set, way, found);
        Some(found.ready)
    }

    /// Enters a line in place of the least recently used one of its set.
    #[inline]
    pub fn insert(&mut self, unit: usize, line: u64, version: u8, ready: u64) {
        let tag = self.tag(unit, line, version);
        let set = self.set(unit, line);
        to_front(set, set.len() - 1, Way { tag, ready });
    }

    /// Discards everything `unit` holds.
    #[inline]
    pub fn discard(&mut self, unit: usize) {
        if self.epochs[unit] < LAST_EPOCH {
            self.epochs[unit] += 1;
            return;
        }
        let ways = self.sets * self.associativity;
        self.ways[unit * ways..(unit + 1) * ways].fill(Way::default());
        self.epochs[unit] = 1;
    }

    /// Discards everything.
    pub fn discard_all(&mut self) {
        for unit in 0..self.epochs.len() {
            self.discard(unit);
        }
    }

    #[inline]
    fn tag(&self, unit: usize, line: u64, version: u8) -> u64 {
        self.epochs[unit] << EPOCH_SHIFT | u64::from(version) << VERSION_SHIFT | line
    }

    #[inline]
    fn set(&mut self, unit: usize, line: u64) -> &mut [Way] {
        let start = (unit * self.sets + (line as usize & (self.sets - 1))) * self.associativity;
        &mut self.ways[start..start + self.associativity]
    }
}

/// Puts `way` first; those before position `from` move down by one. Swapping along the way keeps the compiler from
/// calling a library's memory move for a handful of bytes.
#[inline]
fn to_front(set: &mut [Way], from: usize, mut way: Way) {
    for place in &mut set[..=from] {
        std::mem::swap(place, &mut way);
    }
}

#[cfg(test)]
mod tests {
    use octavo_units::{Bytes, Cycles};

    use super::*;

    fn small() -> L1Caches {
        let config = CacheConfig {
            size: Bytes(1024),
            ways: 4,
            latency: Cycles(1),
            lookup: Cycles(1),
            fill: Cycles(0),
            miss_registers: 8,
        };
        L1Caches::new(&config, 2)
    }

    #[test]
    fn evicts_the_least_recently_used_way_of_the_set() {
        let mut l1 = small();
        for line in [0, 4, 8, 12] {
            l1.insert(0, line, 0, line);
        }
        assert_eq!(l1.lookup(0, 0, 0), Some(0));
        l1.insert(0, 16, 0, 16);
        assert_eq!(l1.lookup(0, 4, 0), None, "line 4 was the oldest");
        assert_eq!(l1.lookup(0, 0, 0), Some(0));
        assert_eq!(l1.lookup(1, 0, 0), None, "caches are private to their unit");
    }

    #[test]
    fn a_discard_empties_one_unit_only() {
        let mut l1 = small();
        l1.insert(0, 3, 0, 7);
        l1.insert(1, 3, 0, 7);
        l1.discard(0);
        assert_eq!((l1.lookup(0, 3, 0), l1.lookup(1, 3, 0)), (None, Some(7)));
    }

    #[test]
    fn lines_of_another_version_do_not_hit_and_epochs_can_run_out() {
        let mut l1 = small();
        l1.insert(0, 3, 1, 7);
        assert_eq!((l1.lookup(0, 3, 2), l1.lookup(0, 3, 1)), (None, Some(7)));
        l1.epochs[0] = LAST_EPOCH;
        l1.insert(0, 3, 1, 7);
        l1.discard(0);
        assert_eq!((l1.epochs[0], l1.lookup(0, 3, 1)), (1, None));
    }
}
