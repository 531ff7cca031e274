//! The sets of a TLB and their ways, replaced in LRU order.
//!
//! Every access comes through here, so the layout suits the simulating machine. One cache line contains everything that
//! a search reads before it finds a match, and the order of use, for 32 ways. Cache lines of neighbouring TLBs follow
//! one another, and a shootdown reads nothing else if the page is not held. A search compares seven bits of every way's
//! tag at once, and the remaining bits only for a match. Almost all branches are predictable. Larger sets, which few
//! accesses reach, keep their order of use apart.

use wide::{i16x8, u8x16};

use crate::engine::lru;
use crate::engine::lru::NO_WAY;

/// Ways of a group, searched at once. A power of two.
const GROUP: usize = 32;

/// A bit in the mark of every occupied way.
const HELD: u8 = 0x80;

/// No page has this number.
const EMPTY: u32 = u32::MAX;

/// The long stamp of a way that is not part of its set.
const NO_LONG_WAY: i16 = i16::MAX;

/// A way: its tag, and a value of two words, because one of 8 bytes would be aligned at the cost of four.
#[derive(Clone, Copy)]
struct Way {
    tag: u32,
    value: [u32; 2],
}

const NOTHING: Way = Way { tag: EMPTY, value: [0; 2] };

/// The data that a search and a use read and write for 32 ways.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Group {
    marks: [u8; GROUP],
    /// The time of each way's last use, by the clock of the set; larger sets keep their stamps elsewhere.
    stamps: [u8; GROUP],
}

const _: () = assert!(size_of::<Group>() == 64, "one cache line");

impl Group {
    /// Bit `i` is set where way `i` has that mark.
    #[inline(always)]
    fn marked(&self, mark: u8) -> u32 {
        equal(&self.marks, mark)
    }

    /// The way with the lowest stamp, the first of several.
    #[inline(always)]
    fn oldest(&self) -> usize {
        let [low, high] = halves(&self.stamps);
        equal(&self.stamps, lru::lowest(low.min(high))).trailing_zeros() as usize % GROUP
    }
}

/// Bit `i` is set where byte `i` is this.
#[inline(always)]
fn equal(bytes: &[u8; GROUP], byte: u8) -> u32 {
    let [low, high] = halves(bytes).map(|half| half.simd_eq(u8x16::splat(byte)).to_bitmask());
    low | high << 16
}

#[inline(always)]
fn halves(bytes: &[u8; GROUP]) -> [u8x16; 2] {
    let ([low, high], _) = bytes.as_chunks::<16>() else { unreachable!("32 are two times 16") };
    [u8x16::new(*low), u8x16::new(*high)]
}

/// The ways of all sets of a TLB, or of equal ones side by side.
pub(crate) struct PageSets {
    groups: Vec<Group>,
    /// The ways of each group.
    ways: Vec<[Way; GROUP]>,
    /// Uses of each set.
    clocks: Vec<i16>,
    /// The time of each way's last use, by group, in sets of more than one group: fully associative TLBs.
    long_stamps: Vec<[i16; GROUP]>,
    /// Groups of a set.
    width: usize,
    /// log2 of the sets of each TLB: the low bits of a tag choose the set, those above tell ways apart.
    index_bits: u32,
}

impl PageSets {
    /// `units` times `sets` sets, a power of two, of up to 256 empty ways.
    pub fn new(units: usize, sets: usize, ways: usize) -> Self {
        let (width, count) = (ways.div_ceil(GROUP), units * sets);
        let is_way = |group: usize, way: usize| group % width * GROUP + way < ways;
        let stamps = |group| std::array::from_fn(|way| if is_way(group, way) { 0 } else { NO_WAY });
        let long = |group| std::array::from_fn(|way| if is_way(group, way) { 0 } else { NO_LONG_WAY });
        let long_groups = if width > 1 { count * width } else { 0 };
        Self {
            groups: (0..count * width).map(|group| Group { marks: [0; GROUP], stamps: stamps(group) }).collect(),
            ways: vec![[NOTHING; GROUP]; count * width],
            clocks: vec![0; count],
            long_stamps: (0..long_groups).map(long).collect(),
            width,
            index_bits: sets.trailing_zeros(),
        }
    }

    /// The set of a tag in the TLB of `unit`.
    #[inline(always)]
    pub fn set_of(&self, unit: usize, tag: u32) -> usize {
        (unit << self.index_bits) + (tag as usize & ((1 << self.index_bits) - 1))
    }

    /// The way of `set` that holds `tag`.
    #[inline(always)]
    pub fn find(&self, set: usize, tag: u32) -> Option<usize> {
        let mark = self.mark(tag);
        if self.width > 1 { self.find_in_many(set, mark, tag) } else { self.find_in(set, mark, tag) }
    }

    /// The value of `tag`, if `set` holds it; it is used now.
    #[inline(always)]
    pub fn lookup(&mut self, set: usize, tag: u32) -> Option<u64> {
        let way = self.find(set, tag)?;
        self.touch(set, way);
        Some(word(self.way(set, way).value))
    }

    /// The least recently used way of a set, the first of those that are empty.
    #[inline(always)]
    pub fn oldest(&self, set: usize) -> usize {
        if self.width > 1 { self.oldest_of_many(set) } else { self.groups[set].oldest() }
    }

    /// Enters a tag, used now.
    #[inline(always)]
    pub fn enter(&mut self, set: usize, way: usize, tag: u32, value: u64) {
        let mark = self.mark(tag);
        self.write(set, way, mark, Way { tag, value: words(value) });
        self.touch(set, way);
    }

    /// Empties a way, which goes first.
    pub fn clear(&mut self, set: usize, way: usize) {
        self.write(set, way, 0, NOTHING);
        self.stamp(set, way, 0);
    }

    /// Seven bits in which the tags of a set mostly differ, and one that empty ways do not have.
    #[inline(always)]
    fn mark(&self, tag: u32) -> u8 {
        (tag >> self.index_bits) as u8 | HELD
    }

    #[inline(always)]
    fn way(&self, set: usize, way: usize) -> &Way {
        &self.ways[set * self.width + way / GROUP][way % GROUP]
    }

    #[inline(always)]
    fn write(&mut self, set: usize, way: usize, mark: u8, new: Way) {
        let group = set * self.width + way / GROUP;
        self.groups[group].marks[way % GROUP] = mark;
        self.ways[group][way % GROUP] = new;
    }

    #[inline(always)]
    fn touch(&mut self, set: usize, way: usize) {
        let clock = self.clocks[set] + 1;
        self.clocks[set] = clock;
        self.stamp(set, way, clock);
        let last = if self.width > 1 { NO_LONG_WAY - 1 } else { i16::from(NO_WAY) - 1 };
        if clock == last {
            self.renumber(set);
        }
    }

    #[inline(always)]
    fn stamp(&mut self, set: usize, way: usize, stamp: i16) {
        if self.width > 1 {
            self.long_stamps[set * self.width + way / GROUP][way % GROUP] = stamp;
        } else {
            self.groups[set].stamps[way % GROUP] = stamp as u8;
        }
    }

    /// The way with this tag of a group, among those with that mark.
    #[inline(always)]
    fn find_in(&self, group: usize, mark: u8, tag: u32) -> Option<usize> {
        let mut ways = self.groups[group].marked(mark);
        while ways != 0 {
            let way = ways.trailing_zeros() as usize;
            if self.ways[group][way].tag == tag {
                return Some(way);
            }
            ways &= ways - 1;
        }
        None
    }

    #[inline(never)]
    fn find_in_many(&self, set: usize, mark: u8, tag: u32) -> Option<usize> {
        let first = set * self.width;
        (0..self.width).find_map(|number| Some(number * GROUP + self.find_in(first + number, mark, tag)?))
    }

    #[inline(never)]
    fn oldest_of_many(&self, set: usize) -> usize {
        let stamps = self.long_stamps[set * self.width..][..self.width].as_flattened();
        let (eights, _) = stamps.as_chunks::<8>();
        let vectors = eights.iter().map(|eight| i16x8::new(*eight));
        let lowest = vectors.clone().fold(i16x8::splat(NO_LONG_WAY), i16x8::min).reduce_min();
        let found = |(number, eight): (usize, i16x8)| {
            let equal = eight.simd_eq(i16x8::splat(lowest)).to_bitmask();
            (equal != 0).then(|| number * 8 + equal.trailing_zeros() as usize)
        };
        vectors.enumerate().find_map(found).unwrap_or(0)
    }

    #[inline(never)]
    fn renumber(&mut self, set: usize) {
        self.clocks[set] = if self.width > 1 {
            let stamps = &mut self.long_stamps[set * self.width..][..self.width];
            lru::renumber(stamps.as_flattened_mut().iter_mut(), NO_LONG_WAY)
        } else {
            lru::renumber(self.groups[set].stamps.iter_mut(), NO_WAY).into()
        };
    }
}

#[inline(always)]
const fn words(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

#[inline(always)]
const fn word([low, high]: [u32; 2]) -> u64 {
    low as u64 | (high as u64) << 32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_order_of_use_outlives_the_clock() {
        for ways in [20, 40, 100] {
            let mut sets = PageSets::new(1, 1, ways as usize);
            for tag in 0..ways {
                sets.enter(0, sets.oldest(0), tag * 7 % ways, 0);
            }
            for turn in 0..4 * i16::MAX as u32 {
                let longest_ago = sets.find(0, turn * 7 % ways);
                assert_eq!(Some(sets.oldest(0)), longest_ago, "the one used {ways} turns ago, in turn {turn}");
                assert!(sets.lookup(0, turn * 7 % ways).is_some());
            }
        }
    }

    fn tag() -> impl Strategy<Value = u32> {
        // Tags that agree in their marks are among them.
        prop_oneof![0u32..24, 0u32..120, (0u32..24).prop_map(|tag| tag << 8 | 3)]
    }

    proptest! {
        /// Against a list in order of use. Another set and another unit are not affected.
        #[test]
        fn replace_the_least_recently_used(
            steps in prop::collection::vec((tag(), prop::bool::weighted(0.2)), 1..800),
            ways in prop_oneof![1usize..40, 60usize..100],
        ) {
            let mut sets = PageSets::new(2, 2, ways);
            let set = sets.set_of(1, 1);
            let mut reference: Vec<(u32, u64)> = Vec::new();
            for (number, (tag, clears)) in steps.into_iter().enumerate() {
                let at = reference.iter().position(|&(other, _)| other == tag);
                let known = at.map(|at| reference.remove(at));
                if clears {
                    let way = sets.find(set, tag);
                    prop_assert_eq!(way.is_some(), known.is_some());
                    way.into_iter().for_each(|way| sets.clear(set, way));
                    continue;
                }
                let found = sets.lookup(set, tag);
                prop_assert_eq!(found, known.map(|(_, value)| value));
                let value = found.unwrap_or(number as u64 | 1 << 40);
                if found.is_none() {
                    let victim = (reference.len() == ways).then(|| reference.remove(0).0);
                    sets.enter(set, sets.oldest(set), tag, value);
                    prop_assert!(victim.is_none_or(|victim| sets.find(set, victim).is_none()));
                }
                reference.push((tag, value));
                prop_assert!(reference.iter().all(|&(tag, _)| sets.find(set, tag).is_some()));
            }
            for other in (0..4).filter(|&other| other != set) {
                prop_assert!((0..40).all(|tag| sets.find(other, tag).is_none()));
            }
        }
    }
}
