//! First-level caches of all compute units of a GPU: write-through, no allocation on stores.
//!
//! A line is entered when its miss is sent, with the time when its data will arrive: a later access finds it and waits
//! for that time, which is how misses merge. A line of 128 bytes has one tag and one place in the order of use, but its
//! halves come one by one, as they are requested ([`SECTOR_BYTES`]).

use octavo_node::SetIndex;
use octavo_program::Op;
use prefetch_index::prefetch_index;

use crate::gpu::caches::sectors::{SECTOR_BYTES, sector, shift};

/// A tag is the line's number, the version of its page's translation, and the epoch in which it was entered.
const VERSION_SHIFT: u32 = Op::LINE_BITS;
const EPOCH_SHIFT: u32 = VERSION_SHIFT + u8::BITS;
const LAST_EPOCH: u64 = (1 << (64 - EPOCH_SHIFT)) - 1;

/// In place of the arrival of a half that was never requested.
const ABSENT: u64 = u64::MAX;

/// One way of a set.
#[derive(Clone, Copy)]
struct Way<const SECTORS: usize> {
    tag: u64,
    /// The arrival time of each part's data. 0 for an empty way.
    ready: [u64; SECTORS],
}

impl<const SECTORS: usize> Way<SECTORS> {
    const EMPTY: Self = Self { tag: 0, ready: [0; SECTORS] };
}

/// Four ways, the usual associativity, share a cache line of the simulating machine. Of the last four of a set, some
/// may be no ways of the cache and stay empty.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Four<const SECTORS: usize>([Way<SECTORS>; 4]);

impl<const SECTORS: usize> Four<SECTORS> {
    const EMPTY: Self = Self([Way::EMPTY; 4]);
}

/// Caches whose lines have this many parts of 64 bytes that come one by one: 1 or 2.
pub(crate) struct L1Caches<const SECTORS: usize> {
    /// By (unit, set), the most recently used way first.
    fours: Vec<Four<SECTORS>>,
    /// Fours of a set.
    width: usize,
    /// Epoch of each unit; raised to discard its whole cache. Starts at 1 so that empty tags never match.
    epochs: Vec<u64>,
    sets: usize,
    set_bits: u32,
    /// Bits of the set that the other bits of a line's number change: all or none.
    hashed: usize,
    associativity: usize,
    /// From a line's arrival at the wavefront until its way can be read and replaced.
    lock: u64,
}

/// The state of a line in a cache that locks lines while it fills them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// The line can be read.
    There,
    /// It is on its way, and arrives then for all who wait.
    Coming(u64),
    /// The line has come, but cannot be read before then.
    Locked(u64),
    Missing,
}

impl<const SECTORS: usize> L1Caches<SECTORS> {
    /// For this many bytes and ways for each of `units`.
    pub fn new((bytes, ways, index): (u64, u32, SetIndex), units: usize, lock: u64) -> Self {
        let associativity = ways as usize;
        let sets = bytes as usize / (SECTORS * SECTOR_BYTES) / associativity;
        let width = associativity.div_ceil(4);
        let fours = vec![Four::EMPTY; units * sets * width];
        let hashed = if index == SetIndex::Hashed { sets - 1 } else { 0 };
        let set_bits = sets.trailing_zeros();
        Self { fours, width, epochs: vec![1; units], sets, set_bits, hashed, associativity, lock }
    }

    /// The time when the data of `line` arrives in `unit`'s cache; `None` on a miss.
    #[inline(always)]
    pub fn lookup(&mut self, unit: usize, line: u64, version: u8) -> Option<u64> {
        let ready = self.find(unit, line, version)?.ready[sector::<SECTORS>(line)];
        (SECTORS == 1 || ready != ABSENT).then_some(ready)
    }

    /// The way that holds the line or a part of it, which is used now.
    #[inline(always)]
    fn find(&mut self, unit: usize, line: u64, version: u8) -> Option<Way<SECTORS>> {
        let tag = self.tag(unit, line, version);
        let set = self.set(unit, line);
        let first = set[0].0[0];
        if first.tag == tag {
            return Some(first);
        }
        let way = match set {
            // Spelt out, since this is what nearly all caches have.
            [Four([_, second, third, fourth])] => {
                if second.tag == tag {
                    1
                } else if third.tag == tag {
                    2
                } else if fourth.tag == tag {
                    3
                } else {
                    return None;
                }
            }
            _ => ways(set).position(|way| way.tag == tag)?,
        };
        let found = set[way / 4].0[way % 4];
        to_front(set, way, found);
        Some(found)
    }

    /// A hint to the simulating machine that the set of a line in `unit`'s cache is needed soon.
    #[inline(always)]
    pub fn hint(&self, unit: usize, line: u64) {
        prefetch_index(&self.fours, self.first_four(unit, line));
    }

    /// Enters a missing line: next to its other part that is here, or in place of the least recently used line of its
    /// set.
    #[inline(always)]
    pub fn insert(&mut self, unit: usize, line: u64, version: u8, ready: u64) {
        let part = sector::<SECTORS>(line);
        if SECTORS > 1 && self.find(unit, line, version).is_some() {
            self.set(unit, line)[0].0[0].ready[part] = ready;
            return;
        }
        let (tag, last) = (self.tag(unit, line, version), self.associativity - 1);
        let mut way = Way { tag, ready: [ABSENT; SECTORS] };
        way.ready[part] = ready;
        to_front(self.set(unit, line), last, way);
    }

    /// Discards everything `unit` holds.
    #[inline]
    pub fn discard(&mut self, unit: usize) {
        if self.epochs[unit] < LAST_EPOCH {
            self.epochs[unit] += 1;
            return;
        }
        let fours = self.sets * self.width;
        self.fours[unit * fours..][..fours].fill(Four::EMPTY);
        self.epochs[unit] = 1;
    }

    #[inline]
    fn tag(&self, unit: usize, line: u64, version: u8) -> u64 {
        self.epochs[unit] << EPOCH_SHIFT | u64::from(version) << VERSION_SHIFT | line >> shift::<SECTORS>()
    }

    #[inline(always)]
    fn set(&mut self, unit: usize, line: u64) -> &mut [Four<SECTORS>] {
        let first = self.first_four(unit, line);
        &mut self.fours[first..][..self.width]
    }

    #[inline(always)]
    fn first_four(&self, unit: usize, line: u64) -> usize {
        let line = (line >> shift::<SECTORS>()) as usize;
        // Fibonacci hashing of what is above the index.
        let above = ((line >> self.set_bits) as u32).wrapping_mul(0x9E37_79B1) >> 16;
        let set = (line ^ above as usize & self.hashed) & (self.sets - 1);
        (unit * self.sets + set) * self.width
    }
}

/// Caches that serve requests in order and lock what they fill.
impl L1Caches<1> {
    /// The state of `line` at `time`. Meeting a line that is on its way is no use of it: the order of uses stays.
    pub fn arrival(&mut self, unit: usize, line: u64, version: u8, time: u64) -> Arrival {
        let (tag, lock) = (self.tag(unit, line, version), self.lock);
        let set = self.set(unit, line);
        let Some(way) = ways(set).position(|way| way.tag == tag) else { return Arrival::Missing };
        let found = set[way / 4].0[way % 4];
        let [ready] = found.ready;
        if ready > time {
            return Arrival::Coming(ready);
        }
        to_front(set, way, found);
        if ready + lock <= time { Arrival::There } else { Arrival::Locked(ready + lock) }
    }

    /// The time when a store that arrives at `time` passes. An existing line is used; it must not be locked.
    pub fn store(&mut self, unit: usize, line: u64, version: u8, time: u64) -> u64 {
        match self.arrival(unit, line, version, time) {
            Arrival::Locked(until) => until,
            Arrival::There | Arrival::Coming(_) | Arrival::Missing => time,
        }
    }

    /// The time from which a way of the line's set can be replaced, not before `time`.
    pub fn room(&mut self, unit: usize, line: u64, time: u64) -> u64 {
        let lock = self.lock;
        let unlocked = |Way { ready: [ready], .. }: &Way<1>| if *ready == 0 { 0 } else { ready + lock };
        let associativity = self.associativity;
        ways(self.set(unit, line)).take(associativity).map(unlocked).min().unwrap_or(0).max(time)
    }

    /// Enters a line in place of the least recently used one that can be replaced at `time`, of which there is one.
    pub fn insert_at(&mut self, unit: usize, line: u64, version: u8, ready: u64, time: u64) {
        let (tag, lock, last) = (self.tag(unit, line, version), self.lock, self.associativity - 1);
        let set = self.set(unit, line);
        let free = |way: usize| {
            let [ready] = set[way / 4].0[way % 4].ready;
            ready == 0 || ready + lock <= time
        };
        let place = (0..=last).rev().find(|&way| free(way)).unwrap_or(last);
        to_front(set, place, Way { tag, ready: [ready] });
    }
}

fn ways<const SECTORS: usize>(set: &[Four<SECTORS>]) -> impl Iterator<Item = &Way<SECTORS>> {
    set.iter().flat_map(|four| &four.0)
}

/// Puts `way` first; those before position `from` move down by one. Swapping along the way keeps the compiler from
/// calling a library's memory move for a handful of bytes.
#[inline(always)]
fn to_front<const SECTORS: usize>(set: &mut [Four<SECTORS>], from: usize, mut way: Way<SECTORS>) {
    if let ([Four([first, second, third, fourth])], 3) = (&mut *set, from) {
        (*fourth, *third, *second, *first) = (*third, *second, *first, way);
        return;
    }
    for place in set.iter_mut().flat_map(|four| &mut four.0).take(from + 1) {
        std::mem::swap(place, &mut way);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four sets of four ways of 64 bytes, for each of two units.
    fn small() -> L1Caches<1> {
        L1Caches::new((1024, 4, SetIndex::LowBits), 2, 3)
    }

    #[test]
    fn halves_of_a_line_come_one_by_one_and_go_together() {
        let mut l1 = L1Caches::<2>::new((1024, 4, SetIndex::LowBits), 1, 3);
        l1.insert(0, 8, 0, 10);
        assert_eq!([8, 9].map(|line| l1.lookup(0, line, 0)), [Some(10), None], "the other half was not asked for");
        l1.insert(0, 9, 0, 30);
        assert_eq!([8, 9].map(|line| l1.lookup(0, line, 0)), [Some(10), Some(30)]);
        for line in [12, 16, 20] {
            l1.insert(0, line, 0, line);
        }
        assert_eq!(l1.lookup(0, 9, 0), Some(30), "two sets: the four lines are all of this one's");
        l1.insert(0, 25, 0, 1);
        assert_eq!([12, 8, 24, 25].map(|line| l1.lookup(0, line, 0)), [None, Some(10), None, Some(1)]);
        for line in [17, 21, 25, 29] {
            l1.insert(0, line, 0, 1);
        }
        assert_eq!([8, 9].map(|line| l1.lookup(0, line, 0)), [None, None], "four others were used since");
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
    fn a_way_is_locked_until_its_line_is_written() {
        let mut l1 = small();
        for (line, ready) in [(0, 10), (4, 20), (8, 30), (12, 40)] {
            assert_eq!(l1.room(0, line, 1), 1, "ways are free");
            l1.insert_at(0, line, 0, ready, 1);
        }
        assert_eq!(l1.arrival(0, 0, 0, 9), Arrival::Coming(10));
        assert_eq!(l1.arrival(0, 0, 0, 12), Arrival::Locked(13));
        assert_eq!(l1.arrival(0, 0, 0, 13), Arrival::There);
        assert_eq!(l1.arrival(0, 16, 0, 13), Arrival::Missing);
        assert_eq!((l1.room(0, 16, 1), l1.room(0, 16, 25)), (13, 25));
        l1.insert_at(0, 16, 0, 100, 25);
        assert_eq!(l1.arrival(0, 4, 0, 99), Arrival::Missing, "line 0 was used later, lines 8 and 12 were locked");
        assert_eq!(l1.room(1, 16, 7), 7, "another unit");
        l1.insert_at(0, 20, 0, 200, 100);
        assert_eq!(l1.arrival(0, 12, 0, 101), Arrival::There);
        assert_eq!(l1.arrival(0, 20, 0, 102), Arrival::Coming(200), "no use");
        l1.insert_at(0, 24, 0, 300, 250);
        assert_eq!(l1.arrival(0, 16, 0, 251), Arrival::There);
        l1.insert_at(0, 28, 0, 400, 310);
        assert_eq!([12, 20].map(|line| l1.arrival(0, line, 0, 310)), [Arrival::There, Arrival::Missing]);
    }

    #[test]
    fn a_store_uses_a_line_that_is_there() {
        let mut l1 = small();
        for line in [0, 4, 8, 12] {
            l1.insert_at(0, line, 0, 10, 1);
        }
        assert_eq!(l1.store(0, 16, 0, 50), 50, "no such line");
        assert_eq!(l1.store(0, 0, 0, 9), 9, "it is still coming");
        assert_eq!(l1.store(0, 4, 0, 12), 13, "until it is written");
        l1.insert_at(0, 20, 0, 60, 50);
        assert_eq!([0, 4].map(|line| l1.arrival(0, line, 0, 50)), [Arrival::Missing, Arrival::There]);
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
    fn the_last_lines_are_not_taken_for_first_ones_of_another_version() {
        let mut l1 = small();
        for bit in 2..Op::LINE_BITS {
            l1.insert(0, 3 | 1 << bit, 0, 7);
            let versions = (0..=u8::MAX).filter(|&version| l1.lookup(0, 3, version).is_some());
            assert_eq!(versions.count(), 0, "bit {bit}");
        }
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
