//! The sets of a TLB and their ways, replaced in LRU order.
//!
//! On the path of every access, so laid out for the simulating machine. All that a search and a use of a way read and
//! write besides the way itself is one cache line of a group of 16 ways. A search compares seven bits of every way's tag
//! at once, and the rest of the one that agrees. There is hardly a branch whose way cannot be foreseen: that is why the
//! order of use is in stamps, and the oldest is looked for, rather than a list that would give it at once.

use wide::{i16x8, u8x16};

/// Ways of a group, the vector that is searched at once. A power of two.
const GROUP: usize = 16;

/// In the mark of every way that holds something.
const HELD: u8 = 0x80;

/// No page has this number.
const EMPTY: u32 = u32::MAX;

/// The stamp of a way that is not part of its set: never the oldest.
const NO_WAY: i16 = i16::MAX;

/// A way: its tag, and a value of two words, because one of 8 bytes would be aligned at the cost of four.
#[derive(Clone, Copy)]
struct Way {
    tag: u32,
    value: [u32; 2],
}

const NOTHING: Way = Way { tag: EMPTY, value: [0; 2] };

/// 16 ways of a set. The first line is all that a search reads before it has found something.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Group {
    marks: [u8; GROUP],
    /// When each way was last used, by the clock of the set.
    stamps: [i16; GROUP],
    /// Uses of the set, kept in its first group.
    clock: i16,
    ways: [Way; GROUP],
}

impl Group {
    /// Bit `i` is set where way `i` has that mark.
    #[inline(always)]
    fn marked(&self, mark: u8) -> u32 {
        u8x16::new(self.marks).simd_eq(u8x16::splat(mark)).to_bitmask()
    }

    fn clear(&mut self, way: usize) {
        (self.marks[way], self.stamps[way], self.ways[way]) = (0, 0, NOTHING);
    }

    #[inline(always)]
    fn halves(&self) -> [i16x8; 2] {
        let ([low, high], _) = self.stamps.as_chunks::<8>() else { unreachable!("16 are two times 8") };
        [i16x8::new(*low), i16x8::new(*high)]
    }

    /// The lowest stamp.
    #[inline(always)]
    fn lowest(&self) -> i16 {
        let [low, high] = self.halves();
        low.min(high).reduce_min()
    }

    /// The first way with this stamp.
    #[inline(always)]
    fn stamped(&self, stamp: i16) -> Option<usize> {
        let mask = |half: i16x8| half.simd_eq(i16x8::splat(stamp)).to_bitmask();
        let [low, high] = self.halves().map(mask);
        let found = low | high << 8;
        (found != 0).then(|| found.trailing_zeros() as usize)
    }
}

/// The ways of all sets of a TLB, or of equal ones side by side.
pub(crate) struct PageSets {
    groups: Vec<Group>,
    /// Groups of a set.
    width: usize,
    /// log2 of the sets of each TLB: the low bits of a tag choose the set, those above tell ways apart.
    index_bits: u32,
}

impl PageSets {
    /// `units` times `sets` sets, a power of two, of up to 256 empty ways.
    pub fn new(units: usize, sets: usize, ways: usize) -> Self {
        let width = ways.div_ceil(GROUP);
        let groups = empty_set(ways).repeat(units * sets);
        Self { groups, width, index_bits: sets.trailing_zeros() }
    }

    /// The set of a tag in the TLB of `unit`.
    #[inline(always)]
    pub fn set_of(&self, unit: usize, tag: u32) -> usize {
        (unit << self.index_bits) + (tag as usize & ((1 << self.index_bits) - 1))
    }

    /// The way of `set` that holds `tag`.
    #[inline(always)]
    pub fn find(&self, set: usize, tag: u32) -> Option<usize> {
        find(self.groups_of(set), self.mark(tag), tag)
    }

    /// The value of `tag`, if `set` holds it; it is used now.
    #[inline(always)]
    pub fn lookup(&mut self, set: usize, tag: u32) -> Option<u64> {
        let mark = self.mark(tag);
        let groups = self.groups_of_mut(set);
        let way = find(groups, mark, tag)?;
        touch(groups, way);
        Some(word(groups[way / GROUP].ways[way % GROUP].value))
    }

    /// The least recently used way of a set, the first of those that are empty.
    #[inline(always)]
    pub fn oldest(&self, set: usize) -> usize {
        let groups = self.groups_of(set);
        if let [one] = groups {
            return one.stamped(one.lowest()).unwrap_or(0);
        }
        let lowest = groups.iter().map(Group::lowest).fold(NO_WAY, i16::min);
        let mut ways =
            groups.iter().enumerate().filter_map(|(number, group)| Some(number * GROUP + group.stamped(lowest)?));
        ways.next().unwrap_or(0)
    }

    /// Enters a tag, used now.
    #[inline(always)]
    pub fn enter(&mut self, set: usize, way: usize, tag: u32, value: u64) {
        let mark = self.mark(tag);
        let groups = self.groups_of_mut(set);
        let group = &mut groups[way / GROUP];
        group.marks[way % GROUP] = mark;
        group.ways[way % GROUP] = Way { tag, value: words(value) };
        touch(groups, way);
    }

    /// Empties a way, which goes first.
    pub fn clear(&mut self, set: usize, way: usize) {
        self.groups_of_mut(set)[way / GROUP].clear(way % GROUP);
    }

    /// Seven bits in which the tags of a set mostly differ, and one that empty ways do not have.
    #[inline(always)]
    fn mark(&self, tag: u32) -> u8 {
        (tag >> self.index_bits) as u8 | HELD
    }

    #[inline(always)]
    fn groups_of(&self, set: usize) -> &[Group] {
        &self.groups[set * self.width..][..self.width]
    }

    #[inline(always)]
    fn groups_of_mut(&mut self, set: usize) -> &mut [Group] {
        &mut self.groups[set * self.width..][..self.width]
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

/// A set of empty ways.
fn empty_set(ways: usize) -> Vec<Group> {
    let group = Group { marks: [0; GROUP], stamps: [NO_WAY; GROUP], clock: 0, ways: [NOTHING; GROUP] };
    let mut groups = vec![group; ways.div_ceil(GROUP)];
    (0..ways).for_each(|way| groups[way / GROUP].stamps[way % GROUP] = 0);
    groups
}

#[inline(always)]
fn find(groups: &[Group], mark: u8, tag: u32) -> Option<usize> {
    match groups {
        [one] => one_of(groups, one.marked(mark), tag),
        [one, two] => one_of(groups, one.marked(mark) | two.marked(mark) << GROUP, tag),
        _ => find_in_many(groups, mark, tag),
    }
}

#[inline(always)]
fn touch(groups: &mut [Group], way: usize) {
    let clock = groups[0].clock + 1;
    groups[0].clock = clock;
    groups[way / GROUP].stamps[way % GROUP] = clock;
    if clock == NO_WAY - 1 {
        renumber(groups);
    }
}

/// The way with this tag among those whose bits are set.
#[inline(always)]
fn one_of(groups: &[Group], mut ways: u32, tag: u32) -> Option<usize> {
    while ways != 0 {
        let way = ways.trailing_zeros() as usize;
        if groups[way / GROUP].ways[way % GROUP].tag == tag {
            return Some(way);
        }
        ways &= ways - 1;
    }
    None
}

/// Sets of more than two groups: fully associative TLBs that few accesses get to.
#[inline(never)]
fn find_in_many(groups: &[Group], mark: u8, tag: u32) -> Option<usize> {
    groups.iter().enumerate().find_map(|(number, group)| {
        let way = one_of(std::slice::from_ref(group), group.marked(mark), tag)?;
        Some(number * GROUP + way)
    })
}

/// Gives the stamps of a set the smallest numbers in the same order, before its clock has none left.
#[cold]
fn renumber(groups: &mut [Group]) {
    let stamps = groups.iter().flat_map(|group| group.stamps);
    let mut order: Vec<i16> = stamps.filter(|&stamp| stamp != NO_WAY && stamp != 0).collect();
    order.sort_unstable();
    for stamp in groups.iter_mut().flat_map(|group| &mut group.stamps) {
        if let Ok(rank) = order.binary_search(stamp) {
            *stamp = rank as i16 + 1;
        }
    }
    groups[0].clock = order.len() as i16;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_order_of_use_outlives_the_clock() {
        let mut sets = PageSets::new(1, 1, 20);
        for tag in 0..20 {
            sets.enter(0, sets.oldest(0), tag * 7 % 20, 0);
        }
        for turn in 0..4 * i16::MAX as u32 {
            let longest_ago = sets.find(0, turn * 7 % 20);
            assert_eq!(Some(sets.oldest(0)), longest_ago, "the one used 20 turns ago, in turn {turn}");
            assert!(sets.lookup(0, turn * 7 % 20).is_some());
        }
    }

    fn tag() -> impl Strategy<Value = u32> {
        // Tags that agree in their marks are among them.
        prop_oneof![0u32..24, (0u32..24).prop_map(|tag| tag << 8 | 3)]
    }

    proptest! {
        /// Against a list in order of use. Another set and another unit see none of it.
        #[test]
        fn replace_the_least_recently_used(
            steps in prop::collection::vec((tag(), prop::bool::weighted(0.2)), 1..400),
            ways in 1usize..40,
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
