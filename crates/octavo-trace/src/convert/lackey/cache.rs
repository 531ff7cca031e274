//! The cache between a program and memory. No trace tells of one; this one's size is chosen, as that of the private
//! caches of a core of a server.

use super::line::Access;

const LINE_BYTES: u64 = 64;
const WAYS: usize = 16;
/// With 16 lines of 64 bytes each: 1 MiB.
const SETS: usize = 1 << 10;
/// Set in the number of a line that is stored to while it is in the cache; lines are numbered with 58 bits.
const WRITTEN: u64 = 1 << 63;

/// A cache with least-recently-used replacement, which stores fetch lines into.
pub(super) struct Cache {
    /// Of each set, positions in `fetched`, the one used last first.
    sets: Vec<Vec<u32>>,
    /// Lines in the order in which they came from memory.
    fetched: Vec<u64>,
    hits: u64,
}

/// The traffic with memory.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MemoryTraffic {
    fetched: Vec<u64>,
    /// Accesses to lines that the cache had.
    pub hits: u64,
}

impl Default for Cache {
    fn default() -> Self {
        Self { sets: vec![Vec::new(); SETS], fetched: Vec::new(), hits: 0 }
    }
}

impl Cache {
    /// Lines that came from memory so far.
    pub fn passed(&self) -> usize {
        self.fetched.len()
    }

    /// All lines of an access, in order.
    pub fn access(&mut self, access: Access) {
        let Access { address, bytes, writes } = access;
        for line in address / LINE_BYTES..=(address + bytes - 1) / LINE_BYTES {
            self.touch(line, writes);
        }
    }

    fn touch(&mut self, line: u64, writes: bool) {
        let (set, fetched) = (&mut self.sets[line as usize % SETS], &mut self.fetched);
        match set.iter().position(|at| fetched[*at as usize] & !WRITTEN == line) {
            Some(way) => {
                self.hits += 1;
                set[..=way].rotate_right(1);
            }
            None => {
                set.truncate(WAYS - 1);
                set.insert(0, fetched.len() as u32);
                fetched.push(line);
            }
        }
        if writes {
            fetched[set[0] as usize] |= WRITTEN;
        }
    }

    /// The traffic, with everything written back.
    pub fn finish(self) -> MemoryTraffic {
        MemoryTraffic { fetched: self.fetched, hits: self.hits }
    }
}

impl MemoryTraffic {
    /// How many lines came from memory.
    pub fn lines(&self) -> u64 {
        self.fetched.len() as u64
    }

    /// These lines in order, and whether each goes back.
    pub fn iter(&self) -> impl Iterator<Item = (u64, bool)> {
        self.fetched.iter().map(|line| (line & !WRITTEN, line & WRITTEN != 0))
    }
}

#[cfg(test)]
mod tests {
    use super::{Cache, LINE_BYTES, SETS, WAYS};
    use crate::convert::lackey::line::Access;

    fn traffic(accesses: &[(u64, u64, bool)]) -> (Vec<(u64, bool)>, u64) {
        let mut cache = Cache::default();
        accesses.iter().for_each(|&(address, bytes, writes)| cache.access(Access { address, bytes, writes }));
        let traffic = cache.finish();
        (traffic.iter().collect(), traffic.hits)
    }

    #[test]
    fn a_line_comes_once_and_goes_back_if_it_was_stored_to() {
        let found = traffic(&[(0, 8, false), (8, 8, true), (60, 8, false), (130, 4, true)]);
        assert_eq!(found, (vec![(0, true), (1, false), (2, true)], 2));
    }

    #[test]
    fn the_line_of_a_set_that_was_used_longest_ago_leaves() {
        let apart = SETS as u64 * LINE_BYTES;
        let mut accesses: Vec<_> = (0..WAYS as u64).map(|way| (way * apart, 1, false)).collect();
        // Line 0 is used again, so that the second one leaves for the next.
        accesses.extend([(0, 1, false), (WAYS as u64 * apart, 1, false), (0, 1, true), (apart, 1, false)]);
        let (lines, hits) = traffic(&accesses);
        assert_eq!((lines.len(), hits), (WAYS + 2, 2));
        assert_eq!((lines[0], lines[WAYS + 1]), ((0, true), (SETS as u64, false)));
    }
}
