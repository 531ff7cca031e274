//! Allocations rounded up to whole prefetch trees.

use crate::buffer::Buffer;

/// The smallest tree.
const LEAF: u64 = 64 << 10;
/// The largest.
const ROOT: u64 = 2 << 20;

/// Buffers, in address order; the `padded` ones end with a tree: the part in the last 2 MiB of such a buffer is 64 KiB
/// times a power of two. Nothing is taken from the 64 KiB in which the next allocation begins.
pub(crate) fn padded<'a>(buffers: impl Iterator<Item = (&'a Buffer, bool)>) -> Vec<Buffer> {
    let mut buffers = buffers.peekable();
    let mut found = Vec::new();
    while let Some((buffer, padded)) = buffers.next() {
        let limit = buffers.peek().map_or(u64::MAX, |(next, _)| next.base / LEAF * LEAF);
        let end = buffer.base + buffer.bytes;
        let bytes = if padded { end_of_tree(buffer).min(limit).max(end) - buffer.base } else { buffer.bytes };
        found.push(Buffer { bytes, ..buffer.clone() });
    }
    found
}

/// One past the last byte of the tree that a buffer ends in.
fn end_of_tree(buffer: &Buffer) -> u64 {
    let Some(last) = buffer.bytes.checked_sub(1).map(|bytes| buffer.base + bytes) else { return buffer.base };
    let root = last / ROOT * ROOT;
    let first = root.max(buffer.base / LEAF * LEAF);
    let leaves = ((last - first) / LEAF + 1).next_power_of_two();
    (first + leaves * LEAF).min(root + ROOT)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KIB: u64 = 1 << 10;

    fn sizes(buffers: &[(u64, u64)]) -> Vec<u64> {
        let buffer = |&(base, bytes): &(u64, u64)| Buffer { name: String::new(), base, bytes, gpu: 0 };
        let buffers: Vec<Buffer> = buffers.iter().map(buffer).collect();
        padded(buffers.iter().map(|buffer| (buffer, true))).into_iter().map(|buffer| buffer.bytes).collect()
    }

    /// `cudaMallocManaged` in `libcuda/cuda_runtime_api.cc` of UVMSmart: the part beyond whole 2 MiB, rounded up.
    #[test]
    fn the_rest_beside_whole_trees_is_64_kib_times_a_power_of_two() {
        let rest = |bytes: u64| (0..6).map(|power| LEAF << power).find(|&tree| tree >= bytes).unwrap_or(0);
        for bytes in [1, LEAF, LEAF + 1, 5 * LEAF, 1407 * 4 * KIB, ROOT, ROOT + 1, 3 * ROOT - 1, 40 * ROOT + 17 * LEAF]
        {
            let expected = bytes / ROOT * ROOT + if bytes % ROOT == 0 { 0 } else { rest(bytes % ROOT) };
            assert_eq!(sizes(&[(0, bytes)]), [expected], "{bytes}");
            assert_eq!(sizes(&[(6 * ROOT, bytes)]), [expected], "{bytes}");
        }
    }

    #[test]
    fn what_the_next_one_begins_in_is_left_to_it() {
        assert_eq!(sizes(&[(0, 5 * LEAF), (5 * LEAF + 4 * KIB, 4 * KIB)]), [5 * LEAF, 60 * KIB]);
        assert_eq!(sizes(&[(0, 5 * LEAF), (7 * LEAF, LEAF)]), [7 * LEAF, LEAF]);
        assert_eq!(sizes(&[(0, 4 * KIB), (4 * KIB, 4 * KIB)]), [4 * KIB, 60 * KIB]);
    }

    proptest! {
        /// No buffer shrinks, moves into another, or gets more than a tree of its last block needs.
        #[test]
        fn buffers_stay_apart(gaps in prop::collection::vec((0..3 * ROOT, 1..5 * ROOT), 1..8)) {
            let mut at = 0;
            let placed: Vec<(u64, u64)> = gaps.iter().map(|&(gap, bytes)| {
                let base = at + gap;
                at = base + bytes;
                (base, bytes)
            }).collect();
            let ends: Vec<u64> = sizes(&placed).iter().zip(&placed).map(|(bytes, (base, _))| base + bytes).collect();
            for (index, (&end, &(base, bytes))) in ends.iter().zip(&placed).enumerate() {
                let asked = base + bytes;
                prop_assert!(end >= asked);
                prop_assert!(placed.get(index + 1).is_none_or(|&(next, _)| end <= next));
                prop_assert!(end - asked < ROOT && (end - 1) / ROOT == (asked - 1) / ROOT);
                let in_last = end - base.max((end - 1) / ROOT * ROOT);
                prop_assert!(in_last <= 2 * (bytes + 2 * LEAF));
            }
        }
    }
}
