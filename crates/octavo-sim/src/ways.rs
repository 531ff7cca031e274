//! Searching the ways of a set.

use wide::u32x4;

use crate::aligned::Aligned;

/// Tags are stored as their complement, so that a way without one is 0: memory that is all zeros costs nothing until it
/// is used. No line or page has the number whose complement it is.
const EMPTY: u32 = 0;

/// The first way that holds `tag`.
#[inline]
fn find(tags: &[u32], tag: u32) -> Option<usize> {
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

/// The ways of all sets of a cache or TLB, replaced in LRU order: 16 bytes a way, a set in one piece, so that an access
/// touches neighbouring cache lines of the simulating machine and one of its pages.
pub(crate) struct Sets {
    /// Of each set: the tags, when each way was last used, and a value of two words for each.
    words: Aligned<u32>,
    ways: usize,
    /// Words of a set.
    stride: usize,
    clock: u32,
}

const WORDS_A_WAY: usize = 4;

impl Sets {
    /// `sets` sets of empty ways with value 0.
    pub fn new(sets: usize, ways: usize) -> Self {
        let stride = ways * WORDS_A_WAY;
        Self { words: Aligned::new(0, sets * stride), ways, stride, clock: 0 }
    }

    /// The way of `set` that holds `tag`.
    #[inline]
    pub fn find(&self, set: usize, tag: u32) -> Option<usize> {
        find(&self.words_of(set)[..self.ways], !tag)
    }

    /// The way of `set` that holds `tag` and its value; it is used now. `hint` is a way of the set, looked at first.
    #[inline(always)]
    pub fn lookup(&mut self, set: usize, tag: u32, hint: usize) -> Option<(usize, u64)> {
        let way = if self.words_of(set)[hint] == !tag { hint } else { self.search(set, tag)? };
        Some((way, self.touch(set, way)))
    }

    /// [`Sets::find`] as a call: wherever a hint serves most lookups, the search would only be in the way.
    #[inline(never)]
    fn search(&self, set: usize, tag: u32) -> Option<usize> {
        self.find(set, tag)
    }

    /// A way is used now; its value.
    #[inline(always)]
    pub fn touch(&mut self, set: usize, way: usize) -> u64 {
        let (ways, stamp) = (self.ways, self.tick());
        let words = self.words_of_mut(set);
        words[ways + way] = stamp;
        value(words, ways, way)
    }

    #[inline]
    pub fn tag(&self, set: usize, way: usize) -> u32 {
        !self.words_of(set)[way]
    }

    #[inline]
    pub fn value(&self, set: usize, way: usize) -> u64 {
        value(self.words_of(set), self.ways, way)
    }

    #[inline]
    pub fn set_value(&mut self, set: usize, way: usize, value: u64) {
        let ways = self.ways;
        put_value(self.words_of_mut(set), ways, way, value);
    }

    /// The least recently used way of a set.
    #[inline]
    pub fn oldest(&self, set: usize) -> usize {
        oldest(&self.words_of(set)[self.ways..2 * self.ways])
    }

    /// Enters a tag, used now.
    #[inline]
    pub fn enter(&mut self, set: usize, way: usize, tag: u32, value: u64) {
        let (ways, stamp) = (self.ways, self.tick());
        let words = self.words_of_mut(set);
        words[way] = !tag;
        words[ways + way] = stamp;
        put_value(words, ways, way, value);
    }

    /// Empties a way, which goes first.
    #[inline]
    pub fn clear(&mut self, set: usize, way: usize) {
        let ways = self.ways;
        let words = self.words_of_mut(set);
        words[way] = EMPTY;
        words[ways + way] = 0;
        put_value(words, ways, way, 0);
    }

    /// Empties every way; calls `lost` with the values of those that held something.
    pub fn clear_all(&mut self, mut lost: impl FnMut(u64)) {
        for set in 0..self.words.len() / self.stride {
            for way in 0..self.ways {
                if self.tag(set, way) != !EMPTY {
                    lost(self.value(set, way));
                    self.clear(set, way);
                }
            }
        }
    }

    /// The stamp of a use. When the clock wraps, every way is equally old once.
    #[inline(always)]
    fn tick(&mut self) -> u32 {
        self.clock = self.clock.wrapping_add(1);
        if self.clock == 0 {
            self.forget_all_uses();
        }
        self.clock
    }

    #[cold]
    fn forget_all_uses(&mut self) {
        let (ways, stride) = (self.ways, self.stride);
        self.words.chunks_exact_mut(stride).for_each(|set| set[ways..2 * ways].fill(0));
        self.clock = 1;
    }

    #[inline]
    fn words_of(&self, set: usize) -> &[u32] {
        self.words.part(set * self.stride, self.stride)
    }

    #[inline]
    fn words_of_mut(&mut self, set: usize) -> &mut [u32] {
        self.words.part_mut(set * self.stride, self.stride)
    }
}

/// The value of a way in the words of its set.
#[inline]
fn value(words: &[u32], ways: usize, way: usize) -> u64 {
    let at = 2 * (ways + way);
    u64::from(words[at]) | u64::from(words[at + 1]) << 32
}

#[inline]
fn put_value(words: &mut [u32], ways: usize, way: usize, value: u64) {
    let at = 2 * (ways + way);
    words[at] = value as u32;
    words[at + 1] = (value >> 32) as u32;
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
