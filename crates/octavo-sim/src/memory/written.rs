//! Where in memory a second-level cache may hold lines that differ from it.
//!
//! Before pages are replicated, what the cache has changed of them is written back. Most of these were not stored to since
//! they were last replicated, if ever, and need not be looked for line by line.

use std::ops::Range;

/// Lines that share a bit: the smallest pages have as many.
const STRETCH: u64 = 64;

/// Stretches of memory that were stored to since they were last clean, one bit each, as far as there were any.
#[derive(Default)]
pub(crate) struct Written(Vec<u64>);

impl Written {
    /// A store changes `line`.
    #[inline(always)]
    pub fn note(&mut self, line: u64) {
        let (word, bit) = place(line);
        match self.0.get_mut(word) {
            Some(bits) => *bits |= bit,
            None => self.grow(word, bit),
        }
    }

    #[cold]
    fn grow(&mut self, word: usize, bit: u64) {
        self.0.resize(word + 1, 0);
        self.0[word] = bit;
    }

    /// Of the lines `lines`, the first ones that lie together and may differ from memory; they are clean now. Callers go
    /// on behind them.
    pub fn take_next(&mut self, lines: &mut Range<u64>) -> Option<Range<u64>> {
        while !lines.is_empty() {
            let (start, (word, bit)) = (lines.start, place(lines.start));
            let stretch = start - start % STRETCH..start - start % STRETCH + STRETCH;
            let taken = start..stretch.end.min(lines.end);
            lines.start = taken.end;
            let Some(bits) = self.0.get_mut(word).filter(|bits| **bits & bit != 0) else { continue };
            if taken == stretch {
                *bits &= !bit;
            }
            return Some(taken);
        }
        None
    }

    /// All memory is as its lines are.
    pub fn clear(&mut self) {
        self.0.fill(0);
    }
}

/// Word and bit of a line's stretch.
#[inline(always)]
const fn place(line: u64) -> (usize, u64) {
    let stretch = line / STRETCH;
    ((stretch / u64::BITS as u64) as usize, 1 << (stretch % u64::BITS as u64))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a set of lines: what was stored to is taken, and not much else.
        #[test]
        fn what_was_stored_to_is_taken(
            steps in prop::collection::vec((prop::collection::vec(0u64..9000, 0..6), 0u64..9000, 1u64..400), 1..60),
        ) {
            let (mut written, mut reference) = (Written::default(), BTreeSet::new());
            for (stores, first, count) in steps {
                for line in stores {
                    written.note(line);
                    reference.insert(line);
                }
                let (mut lines, mut end) = (first..first + count, first);
                while let Some(taken) = written.take_next(&mut lines) {
                    prop_assert!(end <= taken.start && taken.end <= first + count && !taken.is_empty());
                    prop_assert_eq!(reference.range(end..taken.start).count(), 0, "{}..{}", end, taken.start);
                    let start = taken.start - taken.start % STRETCH;
                    prop_assert!(reference.range(start..start + STRETCH).next().is_some(), "{:?}", taken);
                    if taken.end - taken.start == STRETCH {
                        reference.retain(|line| !taken.contains(line));
                    }
                    end = taken.end;
                }
                prop_assert_eq!(reference.range(end..first + count).count(), 0);
            }
            written.clear();
            prop_assert_eq!(written.take_next(&mut (0..9400)), None);
        }
    }
}
