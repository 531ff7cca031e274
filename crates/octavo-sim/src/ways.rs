//! Searching the ways of a set.

use wide::u32x4;

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

/// The way with the lowest stamp, the first of equals.
#[inline]
pub(crate) fn oldest(stamps: &[u32]) -> usize {
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
