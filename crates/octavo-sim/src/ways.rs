//! Searching the ways of a set. Written without an early exit inside a chunk, so that it compiles to vector compares.

/// A tag no line or page has.
pub(crate) const EMPTY: u32 = u32::MAX;

/// The way that holds `tag`.
#[inline]
pub(crate) fn find(tags: &[u32], tag: u32) -> Option<usize> {
    let (chunks, rest) = tags.as_chunks::<16>();
    for (index, chunk) in chunks.iter().enumerate() {
        let mut matches = 0u32;
        for &other in chunk {
            matches |= u32::from(other == tag);
        }
        if matches != 0 {
            return chunk.iter().position(|&other| other == tag).map(|way| index * 16 + way);
        }
    }
    rest.iter().position(|&other| other == tag).map(|way| chunks.len() * 16 + way)
}

/// The way with the lowest stamp, the first of equals.
#[inline]
pub(crate) fn oldest(stamps: &[u32]) -> usize {
    let mut lowest = (u32::MAX, 0);
    for (way, &stamp) in stamps.iter().enumerate() {
        // Selected without a branch: which way is oldest cannot be foreseen.
        lowest = if stamp < lowest.0 { (stamp, way) } else { lowest };
    }
    lowest.1
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
