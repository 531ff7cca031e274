//! The order in which the ways of a set were used, by stamps: each is the set's clock at the last use of a way.
//!
//! A list would give the oldest way at once, but its branches cannot be foreseen; stamps are compared 16 at a time.

use std::ops::AddAssign;

use wide::{i16x8, u8x16};

/// The stamp of a way that is not part of its set: never the oldest. An empty way has the stamp 0.
pub(crate) const NO_WAY: u8 = u8::MAX;

/// The lowest of 16 stamps.
#[inline(always)]
pub(crate) fn lowest(stamps: u8x16) -> u8 {
    // In halves: `wide` has the minimum of sixteen bytes in vector instructions that not every machine has.
    i16x8::from_u8x16_low(stamps).min(i16x8::from_u8x16_high(stamps)).reduce_min() as u8
}

/// Renumbers the stamps of a set from the smallest number on, in the same order, before its clock overflows. Returns
/// the highest, from which the clock continues.
#[cold]
pub(crate) fn renumber<'a, T>(stamps: impl Iterator<Item = &'a mut T>, no_way: T) -> T
where
    T: Copy + Ord + From<u8> + AddAssign + 'a,
{
    let mut clock = T::from(0);
    let mut used: Vec<&mut T> = stamps.filter(|stamp| **stamp != clock && **stamp != no_way).collect();
    used.sort_unstable();
    for stamp in used {
        clock += T::from(1);
        *stamp = clock;
    }
    clock
}
