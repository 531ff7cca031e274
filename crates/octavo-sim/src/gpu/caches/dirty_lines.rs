//! Where in memory a second-level cache may hold lines that differ from it.
//!
//! Before pages are drained or replicated, the cache's changes to them are written back. Most have not been stored to
//! since then, or ever, and need not be searched line by line. If lines are evicted or dropped, the stretch stays
//! noted, which costs no more than a search.

/// Lines that are noted together: the number of lines in the smallest page.
pub(crate) const STRETCH: u64 = 64;

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

    /// Whether any line of the stretch that begins with `line` may differ from memory. The caller writes back those
    /// that do.
    #[inline]
    pub fn take(&mut self, line: u64) -> bool {
        debug_assert!(line.is_multiple_of(STRETCH));
        let (word, bit) = place(line);
        let Some(bits) = self.0.get_mut(word) else { return false };
        let noted = *bits & bit != 0;
        *bits &= !bit;
        noted
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
    use super::*;

    fn taken(written: &mut Written) -> Vec<u64> {
        (0..80).filter(|stretch| written.take(stretch * STRETCH)).collect()
    }

    #[test]
    fn a_stretch_is_taken_once_for_all_its_stores() {
        let mut written = Written::default();
        for line in [0, 63, 64 * 70 + 5] {
            written.note(line);
        }
        assert_eq!(taken(&mut written), [0, 70]);
        assert_eq!(taken(&mut written), [0; 0]);
    }

    #[test]
    fn nothing_is_left_when_all_was_written_back() {
        let mut written = Written::default();
        written.note(3);
        written.clear();
        assert_eq!(taken(&mut written), [0; 0]);
    }
}
