//! When buffers exist: between which launches.

use std::collections::BTreeMap;
use std::ops::Range;

/// A buffer that exists from the beginning of its program to the end.
pub const ALWAYS: Range<u32> = 0..u32::MAX;

/// When a buffer exists; those of which nothing is said exist always.
#[must_use]
pub fn life(lives: &[Range<u32>], buffer: usize) -> Range<u32> {
    lives.get(buffer).cloned().unwrap_or(ALWAYS)
}

/// The most that buffers of these sizes have together at any launch.
#[must_use]
pub fn most_at_once(sizes: impl IntoIterator<Item = u64>, lives: &[Range<u32>]) -> u64 {
    let (mut always, mut changes) = (0, BTreeMap::<u32, i128>::new());
    for (buffer, size) in sizes.into_iter().enumerate() {
        let Range { start, end } = life(lives, buffer);
        if (start, end) == (ALWAYS.start, ALWAYS.end) {
            always += size;
        } else {
            *changes.entry(start).or_default() += i128::from(size);
            *changes.entry(end).or_default() -= i128::from(size);
        }
    }
    let held = changes.values().scan(0, |held, change| {
        *held += change;
        Some(*held)
    });
    always + u64::try_from(held.max().unwrap_or(0)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_freed_makes_room_for_what_comes_before_the_same_launch() {
        assert_eq!(most_at_once([5, 7], &[]), 12);
        assert_eq!(most_at_once([5, 7, 1], &[0..2, 2..9]), 8);
        assert_eq!(most_at_once([5, 7, 1], &[0..3, 2..9]), 13);
        assert_eq!(most_at_once([], &[]), 0);
    }
}
