//! The sets of a second-level cache: their lines, in LRU order, the dirty ones, and the arrival times of data.
//!
//! Of all the data that every access beyond the first level reads, this is the largest. So a load that hits reads and
//! writes only one cache line of the simulating machine for 16 ways, and so does a store if stores lock nothing.
//! Arrival times are kept apart, and read while data is on its way only ([`super::arrivals`]).
//!
//! A line of 128 bytes has one tag and one place in the order of use; its halves are present, dirty and arriving
//! independently. Lines are numbered as accesses name them, by 64 bytes.

use std::ops::Range;

use octavo_node::SetIndex;
use prefetch_index::prefetch_index;
use wide::{u8x16, u16x8};

use crate::engine::lru;
use crate::engine::lru::NO_WAY;
use crate::gpu::caches::arrivals::Arrivals;
use crate::gpu::caches::sectors::{sector, shift};

/// Ways of a group, searched at once. A power of two.
const GROUP: usize = 16;

/// 16 ways of a set, or fewer.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Group<const SECTORS: usize> {
    /// Low bits of the tag that distinguishes lines of a set.
    tags: [u16; GROUP],
    /// The time of each way's last use, by the clock of the set; 0 for an empty way.
    stamps: [u8; GROUP],
    /// The arrival time of the last data for these ways.
    settled: u64,
    /// By part: ways that contain it, one bit each.
    held: [u16; SECTORS],
    /// By part: ways that differ from memory.
    dirty: [u16; SECTORS],
    /// By part: ways that a store locked last.
    stored: [u16; SECTORS],
    /// Uses of the set, kept in its first group.
    clock: u8,
}

const _: () = assert!(size_of::<Group<1>>() == 64, "one cache line");

impl<const SECTORS: usize> Group<SECTORS> {
    /// No ways at all.
    const NONE: Self = Self {
        tags: [0; GROUP],
        stamps: [NO_WAY; GROUP],
        settled: 0,
        held: [0; SECTORS],
        dirty: [0; SECTORS],
        stored: [0; SECTORS],
        clock: 0,
    };

    /// Ways that hold any part of a line.
    #[inline(always)]
    fn used(&self) -> u32 {
        u32::from(self.held.iter().fold(0, |any, ways| any | ways))
    }

    /// Bit `i` is set where way `i` holds any part of a line with that tag.
    #[inline(always)]
    fn tagged(&self, tag: u16) -> u32 {
        let ([low, high], _) = self.tags.as_chunks::<8>() else { unreachable!("16 are two times 8") };
        let mask = |half: &[u16; 8]| u16x8::new(*half).simd_eq(u16x8::splat(tag)).to_bitmask();
        (mask(low) | mask(high) << 8) & self.used()
    }

    /// The lowest stamp.
    #[inline(always)]
    fn lowest(&self) -> u8 {
        lru::lowest(u8x16::new(self.stamps))
    }

    /// The first way with this stamp.
    #[inline(always)]
    fn stamped(&self, stamp: u8) -> Option<usize> {
        let found = u8x16::new(self.stamps).simd_eq(u8x16::splat(stamp)).to_bitmask();
        (found != 0).then(|| found.trailing_zeros() as usize)
    }
}

/// Where a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    group: usize,
    way: usize,
    /// The part of the way; 0 if lines have only one.
    part: usize,
}

/// The state of a line that is here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineState {
    /// The arrival time of its data; any past time if it has arrived.
    pub ready: u64,
    /// The line differs from memory.
    pub dirty: bool,
    /// A store locked it last.
    pub stored: bool,
}

/// Sets of lines that have this many parts of 64 bytes: 1 or 2.
pub(crate) struct LineSets<const SECTORS: usize> {
    groups: Vec<Group<SECTORS>>,
    arrivals: Arrivals,
    /// The missing parts of a group's tags, by group; empty while no line needs them.
    high_tags: Vec<[u16; GROUP]>,
    /// Groups of a set.
    width: usize,
    /// log2 of the number of sets: the low bits of a line's own number choose the set.
    index_bits: u32,
    /// Bits of the set that the other bits of the number change: all or none.
    hashed: u32,
}

impl<const SECTORS: usize> LineSets<SECTORS> {
    /// `sets` sets, a power of two, of up to 32 empty ways.
    pub fn new(sets: usize, ways: usize, index: SetIndex) -> Self {
        let groups = empty_set(ways).repeat(sets);
        let arrivals = Arrivals::new(groups.len() * GROUP * SECTORS);
        let (width, index_bits) = (ways.div_ceil(GROUP), sets.trailing_zeros());
        let hashed = if index == SetIndex::Hashed { (1 << index_bits) - 1 } else { 0 };
        Self { groups, arrivals, high_tags: Vec::new(), width, index_bits, hashed }
    }

    /// The place of a line, if it is here.
    #[inline(always)]
    pub fn find(&self, line: u32) -> Option<Place> {
        let at = self.seat(line)?;
        (SECTORS == 1 || self.is_held(at)).then_some(at)
    }

    /// The place of a line, or its future place next to the other part of a larger one.
    #[inline(always)]
    pub fn seat(&self, line: u32) -> Option<Place> {
        let first = self.first_group(line);
        let (low, high) = self.tag(line);
        let mut found = self.groups[first].tagged(low);
        if self.width > 1 {
            found |= self.groups[first + 1].tagged(low) << GROUP;
        }
        if found != 0 && (!self.high_tags.is_empty() || high != 0) {
            found = self.with_high_tag(first, found, high);
        }
        (found != 0).then(|| Self::place(first, found.trailing_zeros() as usize, line))
    }

    /// The place of a line, if it is here; this is a use.
    #[inline(always)]
    pub fn look_up(&mut self, line: u32) -> Option<Place> {
        let found = self.find(line)?;
        self.touch(self.first_group(line), found);
        Some(found)
    }

    /// The place of the least recently used line in the set of `line`, or an empty way.
    #[inline(always)]
    pub fn oldest(&self, line: u32) -> Place {
        let (first, part) = (self.first_group(line), sector::<SECTORS>(u64::from(line)));
        let one = self.groups[first].lowest();
        if self.width == 1 {
            return Place { group: first, way: self.groups[first].stamped(one).unwrap_or(0), part };
        }
        let lowest = one.min(self.groups[first + 1].lowest());
        let way = |group: usize| Some(Place { group, way: self.groups[group].stamped(lowest)?, part });
        way(first).or_else(|| way(first + 1)).unwrap_or(Self::place(first, 0, line))
    }

    /// A hint to the simulating machine that the set of a line is needed soon.
    #[inline(always)]
    pub fn hint(&self, line: u32) {
        prefetch_index(&self.groups, self.first_group(line));
    }

    /// A hint to the simulating machine that the state of a place is needed soon.
    #[inline(always)]
    pub fn hint_state(&self, at: Place) {
        self.arrivals.hint(Self::number(at));
    }

    /// Enters a line that is not here, used `now`, in its [seat](Self::seat) or a place of its set that was
    /// [left](Self::leave).
    #[inline(always)]
    pub fn enter(&mut self, now: u64, line: u32, at: Place, state: LineState) {
        let (low, high) = self.tag(line);
        if !self.high_tags.is_empty() || high != 0 {
            self.set_high_tag(at, high);
        }
        let group = &mut self.groups[at.group];
        group.tags[at.way] = low;
        group.held[at.part] |= 1 << at.way;
        self.set_state(now, at, state);
        self.touch(self.first_group(line), at);
    }

    /// Whether the data of all lines of a place's group has arrived at `time`, so that the arrival of each need not be
    /// read.
    #[inline(always)]
    pub fn is_settled(&self, at: Place, time: u64) -> bool {
        self.groups[at.group].settled <= time
    }

    #[inline(always)]
    pub fn state(&self, at: Place) -> LineState {
        let Group { dirty, stored, .. } = &self.groups[at.group];
        let has = |ways: &[u16; SECTORS]| ways[at.part] & 1 << at.way != 0;
        LineState { ready: self.arrivals.of(Self::number(at)), dirty: has(dirty), stored: has(stored) }
    }

    #[inline(always)]
    pub fn set_state(&mut self, now: u64, at: Place, state: LineState) {
        let group = &mut self.groups[at.group];
        group.settled = group.settled.max(state.ready);
        set(&mut group.dirty[at.part], at.way, state.dirty);
        set(&mut group.stored[at.part], at.way, state.stored);
        self.arrivals.note(now, Self::number(at), state.ready);
    }

    #[inline(always)]
    pub fn is_dirty(&self, at: Place) -> bool {
        self.groups[at.group].dirty[at.part] & 1 << at.way != 0
    }

    /// A store has changed the line.
    #[inline(always)]
    pub fn make_dirty(&mut self, at: Place) {
        self.groups[at.group].dirty[at.part] |= 1 << at.way;
    }

    /// The line is as in memory.
    pub fn make_clean(&mut self, at: Place) {
        let group = &mut self.groups[at.group];
        set(&mut group.dirty[at.part], at.way, false);
        set(&mut group.stored[at.part], at.way, false);
    }

    /// The line in a place.
    pub fn line(&self, at: Place) -> u32 {
        let low = u32::from(self.groups[at.group].tags[at.way]);
        let high = self.high_tags.get(at.group).map_or(0, |tags| u32::from(tags[at.way]));
        let tag = high << u16::BITS | low;
        let whole = tag << self.index_bits | (at.group / self.width) as u32 ^ self.mixed(tag);
        whole << shift::<SECTORS>() | at.part as u32
    }

    /// Whether this many lines are more than all places, so that [`Self::places`] is quicker than looking each up.
    pub fn sweeping_is_quicker(&self, lines: u64) -> bool {
        lines > (self.groups.len() * GROUP * SECTORS) as u64
    }

    /// The places of those of the lines that are here: each occupied place is examined.
    pub fn places(&self, lines: Range<u64>) -> impl Iterator<Item = Place> {
        let used = (0..self.groups.len()).filter(|&group| self.groups[group].used() != 0);
        let all =
            used.flat_map(|group| (0..GROUP).flat_map(move |way| (0..SECTORS).map(move |part| (group, way, part))));
        all.map(|(group, way, part)| Place { group, way, part })
            .filter(move |&at| self.is_held(at) && lines.contains(&u64::from(self.line(at))))
    }

    /// Empties a place; returns whether the line there differed from memory. A way is removed first when nothing is
    /// left in it.
    pub fn clear(&mut self, at: Place) -> bool {
        let dirty = self.is_dirty(at);
        let group = &mut self.groups[at.group];
        for ways in [&mut group.held, &mut group.dirty, &mut group.stored] {
            set(&mut ways[at.part], at.way, false);
        }
        if SECTORS == 1 || group.used() & 1 << at.way == 0 {
            group.stamps[at.way] = 0;
        }
        dirty
    }

    /// The parts of the way of a place that differ from memory.
    #[inline(always)]
    pub fn dirty_parts(&self, at: Place) -> impl Iterator<Item = Place> {
        (0..SECTORS).map(move |part| Place { part, ..at }).filter(|&at| self.is_dirty(at))
    }

    /// The other parts of a way leave it for a new line that is about to be entered there.
    #[inline(always)]
    pub fn leave(&mut self, at: Place) {
        if SECTORS > 1 {
            let group = &mut self.groups[at.group];
            let fields = [&mut group.held, &mut group.dirty, &mut group.stored];
            fields.into_iter().flatten().for_each(|ways| set(ways, at.way, false));
        }
    }

    /// Empties every way; returns how many lines differed from memory.
    pub fn clear_all(&mut self) -> u64 {
        let mut dirty = 0;
        for group in &mut self.groups {
            dirty += group.dirty.iter().map(|ways| u64::from(ways.count_ones())).sum::<u64>();
            (group.held, group.dirty, group.stored) = ([0; SECTORS], [0; SECTORS], [0; SECTORS]);
            for stamp in group.stamps.iter_mut().filter(|stamp| **stamp != NO_WAY) {
                *stamp = 0;
            }
        }
        dirty
    }

    #[inline(always)]
    fn is_held(&self, at: Place) -> bool {
        self.groups[at.group].held[at.part] & 1 << at.way != 0
    }

    /// The number of a place among all parts of all ways of the cache.
    #[inline(always)]
    const fn number(at: Place) -> u32 {
        ((at.group * GROUP + at.way) * SECTORS + at.part) as u32
    }

    /// A line, in the way with that number in the set that begins with group `first`.
    #[inline(always)]
    const fn place(first: usize, way: usize, line: u32) -> Place {
        Place { group: first + way / GROUP, way: way % GROUP, part: sector::<SECTORS>(line as u64) }
    }

    /// The first group of a line's set.
    #[inline(always)]
    fn first_group(&self, line: u32) -> usize {
        let whole = line >> shift::<SECTORS>();
        let tag = (u64::from(whole) >> self.index_bits) as u32;
        ((whole & ((1 << self.index_bits) - 1)) ^ self.mixed(tag)) as usize * self.width
    }

    /// How the bits of a line's number above the low bits change its set.
    #[inline(always)]
    fn mixed(&self, tag: u32) -> u32 {
        // Fibonacci hashing; so few bits of the product are left out that 2^17 sets differ.
        tag.wrapping_mul(0x9E37_79B1) >> 15 & self.hashed
    }

    /// The tags that distinguish the lines of a set, in two halves.
    #[inline(always)]
    fn tag(&self, line: u32) -> (u16, u16) {
        let tag = u64::from(line >> shift::<SECTORS>()) >> self.index_bits;
        (tag as u16, (tag >> u16::BITS) as u16)
    }

    #[inline(always)]
    fn touch(&mut self, first: usize, used: Place) {
        let clock = self.groups[first].clock + 1;
        self.groups[first].clock = clock;
        self.groups[used.group].stamps[used.way] = clock;
        if clock == NO_WAY - 1 {
            let set = &mut self.groups[first..][..self.width];
            set[0].clock = lru::renumber(set.iter_mut().flat_map(|group| &mut group.stamps), NO_WAY);
        }
    }

    /// The ways with this high tag.
    #[inline(never)]
    fn with_high_tag(&self, first: usize, ways: u32, high: u16) -> u32 {
        let (mut left, mut found) = (ways, 0);
        while left != 0 {
            let way = left.trailing_zeros() as usize;
            let tag = self.high_tags.get(first + way / GROUP).map_or(0, |tags| tags[way % GROUP]);
            found |= u32::from(tag == high) << way;
            left &= left - 1;
        }
        found
    }

    #[inline(never)]
    fn set_high_tag(&mut self, at: Place, high: u16) {
        self.high_tags.resize(self.groups.len(), [0; GROUP]);
        self.high_tags[at.group][at.way] = high;
    }
}

#[inline(always)]
fn set(ways: &mut u16, way: usize, value: bool) {
    *ways = *ways & !(1 << way) | u16::from(value) << way;
}

/// A set of empty ways.
fn empty_set<const SECTORS: usize>(ways: usize) -> Vec<Group<SECTORS>> {
    let mut groups = vec![Group::NONE; ways.div_ceil(GROUP)];
    (0..ways).for_each(|way| groups[way / GROUP].stamps[way % GROUP] = 0);
    groups
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn clean(ready: u64) -> LineState {
        LineState { ready, dirty: false, stored: false }
    }

    #[test]
    fn the_order_of_use_outlives_the_clock() {
        let mut sets = LineSets::<1>::new(1, 20, SetIndex::LowBits);
        for line in 0..20 {
            let oldest = sets.oldest(line);
            sets.enter(0, line * 7 % 20, oldest, clean(0));
        }
        for turn in 0..4 * u32::from(u8::MAX) {
            assert_eq!(sets.line(sets.oldest(0)), turn * 7 % 20, "the one used 20 turns ago, in turn {turn}");
            assert!(sets.look_up(turn * 7 % 20).is_some());
        }
    }

    #[test]
    fn lines_at_a_power_of_two_from_one_another_share_a_set_unless_it_is_hashed() {
        let stay = |index| {
            let mut sets = LineSets::<2>::new(64, 2, index);
            let lines = (0..48).map(|step| step << 15);
            for line in lines.clone() {
                let oldest = sets.oldest(line);
                sets.enter(0, line, oldest, clean(0));
                assert_eq!(sets.line(sets.find(line).unwrap()), line);
            }
            lines.filter(|&line| sets.find(line).is_some()).count()
        };
        assert_eq!(stay(SetIndex::LowBits), 2);
        assert!(stay(SetIndex::Hashed) > 40, "{}", stay(SetIndex::Hashed));
    }

    #[test]
    fn places_are_those_of_lines_that_are_found() {
        let mut sets = LineSets::<2>::new(16, 20, SetIndex::Hashed);
        // Numbers that agree in the low half of their tags are among them.
        for line in (0..1200u32).map(|step| step * 7 % 1000 + ((step % 3) << 22)) {
            let at = sets.seat(line).unwrap_or_else(|| {
                let oldest = sets.oldest(line);
                sets.leave(oldest);
                oldest
            });
            if sets.find(line).is_none() {
                sets.enter(0, line, at, clean(0));
            }
        }
        for range in [0..1 << 24, 100..200, 1 << 22..(1 << 22) + 500, 5000..6000] {
            let mut found: Vec<u32> = sets.places(range.clone()).map(|at| sets.line(at)).collect();
            found.sort_unstable();
            let expected: Vec<u32> = range.map(|line| line as u32).filter(|&line| sets.find(line).is_some()).collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_group_is_settled_when_its_last_data_has_come() {
        let mut sets = LineSets::<1>::new(1, 2, SetIndex::LowBits);
        for (line, ready) in [(1, 50), (2, 30)] {
            sets.enter(0, line, sets.oldest(line), clean(ready));
        }
        let at = sets.find(2).unwrap();
        assert_eq!((sets.is_settled(at, 49), sets.is_settled(at, 50), sets.state(at).ready), (false, true, 30));
    }

    /// The effect on a set.
    #[derive(Clone, Debug)]
    enum Step {
        /// A line is looked up, and entered where it is missing.
        Use(u32, LineState),
        MakeDirty(u32),
        MakeClean(u32),
        Clear(u32),
        ClearAll,
    }

    fn step() -> impl Strategy<Value = Step> {
        // Of the first of two sets; lines that agree in the low bits of their tags are among them.
        let line = || prop_oneof![(0u32..24).prop_map(|tag| tag << 1), (0u32..24).prop_map(|tag| tag << 17 | 6)];
        let state = (0u64..1000, any::<bool>(), any::<bool>()).prop_map(|(ready, dirty, stored)| LineState {
            ready,
            dirty,
            stored,
        });
        prop_oneof![
            40 => (line(), state).prop_map(|(line, state)| Step::Use(line, state)),
            4 => line().prop_map(Step::MakeDirty),
            4 => line().prop_map(Step::MakeClean),
            8 => line().prop_map(Step::Clear),
            1 => Just(Step::ClearAll),
        ]
    }

    proptest! {
        /// Against a list in order of use. The other set is not affected.
        #[test]
        fn replace_the_least_recently_used(steps in prop::collection::vec(step(), 1..600), ways in 1usize..=32) {
            let mut sets = LineSets::<1>::new(2, ways, SetIndex::LowBits);
            let mut reference: Vec<(u32, LineState)> = Vec::new();
            for step in steps {
                match step {
                    Step::Use(line, state) => {
                        let found = sets.look_up(line);
                        let at = reference.iter().position(|&(other, _)| other == line);
                        prop_assert_eq!(found.is_some(), at.is_some());
                        if found.is_none() {
                            let oldest = sets.oldest(line);
                            let victim = (reference.len() == ways).then(|| reference.remove(0));
                            prop_assert_eq!(sets.is_dirty(oldest), victim.is_some_and(|(_, state)| state.dirty));
                            prop_assert!(victim.is_none_or(|(line, _)| sets.line(oldest) == line));
                            sets.enter(0, line, oldest, state);
                        }
                        let used = at.map_or((line, state), |at| reference.remove(at));
                        reference.push(used);
                    }
                    Step::MakeDirty(line) | Step::MakeClean(line) => {
                        let Some(at) = sets.find(line) else { continue };
                        let known = reference.iter_mut().find(|(other, _)| *other == line);
                        let state = &mut known.expect("found, so known").1;
                        if matches!(step, Step::MakeDirty(_)) {
                            sets.make_dirty(at);
                            state.dirty = true;
                        } else {
                            sets.make_clean(at);
                            (state.dirty, state.stored) = (false, false);
                        }
                    }
                    Step::Clear(line) => {
                        let dirty = sets.find(line).map(|at| sets.clear(at));
                        let at = reference.iter().position(|&(other, _)| other == line);
                        prop_assert_eq!(dirty, at.map(|at| reference.remove(at).1.dirty));
                    }
                    Step::ClearAll => {
                        let dirty = reference.drain(..).filter(|(_, state)| state.dirty).count();
                        prop_assert_eq!(sets.clear_all(), dirty as u64);
                    }
                }
                for &(line, state) in &reference {
                    let at = sets.find(line);
                    prop_assert_eq!(at.map(|at| (sets.line(at), sets.state(at))), Some((line, state)));
                    prop_assert!(at.is_none_or(|at| sets.is_settled(at, 1000)));
                }
            }
            prop_assert!((0..40).all(|tag| sets.find(tag << 1 | 1).is_none()));
        }

        /// Lines of two parts, compared with a list in order of use: parts are present independently and leave
        /// together.
        #[test]
        fn parts_share_a_place(steps in prop::collection::vec((0u32..4, 0u32..16, any::<bool>()), 1..400), ways in 1usize..=20) {
            let mut sets = LineSets::<2>::new(1, ways, SetIndex::LowBits);
            let mut reference: Vec<(u32, [Option<LineState>; 2])> = Vec::new();
            for (now, (step, line, dirty)) in steps.into_iter().enumerate() {
                let (whole, part) = (line / 2, line as usize % 2);
                let known = reference.iter().position(|&(other, _)| other == whole);
                let held = known.and_then(|at| reference[at].1[part]);
                prop_assert_eq!(sets.find(line).map(|at| sets.state(at)), held);
                if step == 0 {
                    prop_assert_eq!(sets.find(line).map(|at| sets.clear(at)), held.map(|state| state.dirty));
                    if let Some(at) = known {
                        reference[at].1[part] = None;
                        reference.retain(|(_, parts)| parts.iter().any(Option::is_some));
                    }
                    continue;
                }
                let mut entry = known.map_or((whole, [None; 2]), |at| reference.remove(at));
                if sets.look_up(line).is_none() {
                    let state = LineState { ready: now as u64, dirty, stored: false };
                    prop_assert_eq!(sets.seat(line).is_some(), known.is_some());
                    let at = sets.seat(line).unwrap_or_else(|| sets.oldest(line));
                    if known.is_none() {
                        let victim = (reference.len() == ways).then(|| reference.remove(0));
                        let lost = victim.iter().flat_map(|(whole, parts)| {
                            let dirty = (0..2).filter(|&part| parts[part].is_some_and(|state| state.dirty));
                            dirty.map(move |part| whole * 2 + part as u32)
                        });
                        let found: Vec<u32> = sets.dirty_parts(at).map(|at| sets.line(at)).collect();
                        prop_assert_eq!(found, lost.collect::<Vec<_>>());
                        sets.leave(at);
                    }
                    sets.enter(now as u64, line, at, state);
                    entry.1[part] = Some(state);
                }
                reference.push(entry);
                for &(whole, parts) in &reference {
                    for (part, state) in parts.into_iter().enumerate() {
                        let line = whole * 2 + part as u32;
                        let found = sets.find(line).map(|at| (sets.line(at), sets.state(at)));
                        prop_assert_eq!(found, state.map(|state| (line, state)));
                    }
                }
            }
        }
    }
}
