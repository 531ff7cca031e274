//! The times when data on its way to a second-level cache arrives.
//!
//! Mostly few ways of a cache wait for data. They are in a small table, by the way's number, which forgets past
//! arrivals: an arrival before the simulation's clock cannot change any answer. If memory is so busy that many ways
//! wait, and in small caches, a list of all ways is kept instead: it needs no search.

use prefetch_index::prefetch_index;

const WAYS: usize = 4;
/// log2 of the sets to begin with: 4 KiB.
const FIRST_BITS: u32 = 6;

/// One way of the cache, and when its data arrives.
#[derive(Clone, Copy, Default)]
struct Coming {
    ready: u64,
    way: u32,
}

/// Four share a cache line of the simulating machine.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Set([Coming; WAYS]);

pub(crate) struct Arrivals {
    /// Numbers of ways.
    ways: usize,
    sets: Vec<Set>,
    /// log2 of the number of sets.
    bits: u32,
    /// By way, instead of a table that would take a quarter of its memory or more; empty before.
    all: Vec<u64>,
}

impl Arrivals {
    /// No data is on its way to any of this many ways.
    pub fn new(ways: usize) -> Self {
        Self::with_bits(ways, FIRST_BITS)
    }

    fn with_bits(ways: usize, bits: u32) -> Self {
        let is_small = size_of::<Set>() << bits < ways * size_of::<u64>() / 4;
        let (sets, all) = if is_small { (1 << bits, 0) } else { (0, ways) };
        Self { ways, sets: vec![Set::default(); sets], bits, all: vec![0; all] }
    }

    /// The time when the data of `way` arrives; 0 or a past time if it has arrived.
    #[inline]
    pub fn of(&self, way: u32) -> u64 {
        if !self.all.is_empty() {
            return self.all[way as usize];
        }
        let known = self.sets[self.set(way)].0.iter().find(|arrival| arrival.way == way);
        known.map_or(0, |arrival| arrival.ready)
    }

    /// The data of `way` arrives at `ready`; this replaces the earlier time. It is `now`.
    #[inline]
    pub fn note(&mut self, now: u64, way: u32, ready: u64) {
        if !self.all.is_empty() {
            self.all[way as usize] = ready;
            return;
        }
        let set = self.set(way);
        let arrivals = &mut self.sets[set].0;
        let known = arrivals.iter().position(|arrival| arrival.way == way);
        match known.or_else(|| arrivals.iter().position(|arrival| arrival.ready <= now)) {
            Some(place) => arrivals[place] = Coming { ready, way },
            None => self.note_in_larger_table(now, way, ready),
        }
    }

    /// A hint to the simulating machine that the state of `way` is needed soon.
    #[inline(always)]
    pub fn hint(&self, way: u32) {
        if self.all.is_empty() {
            prefetch_index(&self.sets, self.set(way));
        } else {
            prefetch_index(&self.all, way as usize);
        }
    }

    #[inline(never)]
    fn note_in_larger_table(&mut self, now: u64, way: u32, ready: u64) {
        let larger = Self::with_bits(self.ways, self.bits + 1);
        let before = std::mem::replace(self, larger).sets;
        let coming = before.iter().flat_map(|set| set.0).filter(|arrival| arrival.ready > now);
        coming.for_each(|arrival| self.note(now, arrival.way, arrival.ready));
        self.note(now, way, ready);
    }

    /// Fibonacci hashing spreads neighbouring ways over the sets.
    #[inline]
    fn set(&self, way: u32) -> usize {
        (way.wrapping_mul(0x9E37_79B9) >> (u32::BITS - self.bits)) as usize
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a map that forgets nothing: in a list of all ways, in a table that becomes one, and in a table.
        #[test]
        fn nothing_that_is_still_coming_is_forgotten(
            steps in prop::collection::vec((0u64..20, 0u32..40_000, 0u64..4000), 1..3000),
            ways in prop::sample::select(vec![100, 2500, 40_000]),
        ) {
            let (mut arrivals, mut reference, mut now) = (Arrivals::new(ways as usize), HashMap::new(), 0);
            for (passed, way, ahead) in steps {
                now += passed;
                arrivals.note(now, way % ways, now + ahead);
                reference.insert(way % ways, now + ahead);
                prop_assert_eq!(arrivals.of(way % ways), now + ahead);
            }
            for way in 0..ways {
                let expected = reference.get(&way).copied().unwrap_or(0);
                prop_assert_eq!(arrivals.of(way).max(now), expected.max(now), "way {}", way);
            }
        }
    }
}
