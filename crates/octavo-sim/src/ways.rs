//! Searching the ways of a set.

use wide::u32x4;

use crate::aligned::Aligned;

/// A tag no line or page has.
pub(crate) const EMPTY: u32 = u32::MAX;

/// The first way that holds `tag`.
#[inline]
pub(crate) fn find(tags: &[u32], tag: u32) -> Option<usize> {
    let (chunks, rest) = tags.as_chunks::<16>();
    for (index, chunk) in chunks.iter().enumerate() {
        let found = matches(chunk, tag);
        if found != 0 {
            return Some(index * 16 + found.trailing_zeros() as usize);
        }
    }
    rest.iter().position(|&other| other == tag).map(|way| chunks.len() * 16 + way)
}

/// Bit `i` is set where `tags[i]` is `tag`. Explicit vectors, because this is on the path of every access and
/// compilers find no good vector code for it on their own.
#[inline]
fn matches(tags: &[u32; 16], tag: u32) -> u32 {
    let wanted = u32x4::splat(tag);
    let (quarters, _) = tags.as_chunks::<4>();
    let mask = |quarter: usize| u32x4::new(quarters[quarter]).simd_eq(wanted).to_bitmask() << (4 * quarter);
    mask(0) | mask(1) | mask(2) | mask(3)
}

/// When each way of a cache or TLB was last used, for LRU.
pub(crate) struct Stamps {
    stamps: Aligned<u32>,
    clock: u32,
}

impl Stamps {
    pub fn new(ways: usize) -> Self {
        Self { stamps: Aligned::new(0, ways), clock: 0 }
    }

    /// The way at `at` is used now. When the clock wraps, every way is equally old once.
    #[inline]
    pub fn touch(&mut self, at: usize) {
        self.clock = self.clock.wrapping_add(1);
        if self.clock == 0 {
            self.stamps.fill(0);
            self.clock = 1;
        }
        self.stamps[at] = self.clock;
    }

    /// The way at `at` is empty and goes first.
    #[inline]
    pub fn forget(&mut self, at: usize) {
        self.stamps[at] = 0;
    }

    /// The least recently used of the `ways` ways from `start` on, counted from there.
    #[inline]
    pub fn oldest(&self, start: usize, ways: usize) -> usize {
        oldest(&self.stamps[start..start + ways])
    }
}

/// The way with the lowest stamp, the first of equals.
#[inline]
fn oldest(stamps: &[u32]) -> usize {
    // Two passes of vector code beat one that carries the position along.
    let lowest = stamps.iter().copied().fold(u32::MAX, u32::min);
    find(stamps, lowest).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn agree_with_the_plain_search(tags in prop::collection::vec(0u32..40, 1..70), tag in 0u32..40) {
            prop_assert_eq!(find(&tags, tag), tags.iter().position(|&other| other == tag));
            let plain = (0..tags.len()).min_by_key(|&way| tags[way]).unwrap();
            prop_assert_eq!(oldest(&tags), plain);
        }
    }
}
