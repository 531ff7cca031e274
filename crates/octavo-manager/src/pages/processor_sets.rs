//! A set of processors for each page, in as few bits as the node's processors need.

use crate::contract::ids::PageId;
use crate::contract::masks::ProcessorMask;

/// Words for each page, none before it is known how many.
#[derive(Default)]
pub(crate) struct ProcessorSets {
    /// Words of a page.
    each: usize,
    words: Vec<u32>,
}

impl ProcessorSets {
    /// There are at least this many pages, on a node with this many GPUs; new ones have empty sets.
    pub fn grow(&mut self, pages: usize, gpus: usize) {
        self.each = (gpus + 1).div_ceil(u32::BITS as usize);
        if self.words.len() < pages * self.each {
            self.words.resize(pages * self.each, 0);
        }
    }

    pub fn of(&self, page: PageId) -> ProcessorMask {
        let words = self.words[page.index() * self.each..][..self.each].iter();
        ProcessorMask(words.rev().fold(0, |bits, word| bits << u32::BITS | u128::from(*word)))
    }

    pub fn set(&mut self, page: PageId, set: ProcessorMask) {
        let words = &mut self.words[page.index() * self.each..][..self.each];
        words.iter_mut().fold(set.0, |bits, word| {
            *word = bits as u32;
            bits >> u32::BITS
        });
    }

    /// Bytes taken up.
    pub fn bytes(&self) -> usize {
        self.words.capacity() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::ids::{MAX_GPUS, ProcessorId};

    #[test]
    fn neighbours_keep_their_sets() {
        for gpus in [1, 31, 32, MAX_GPUS] {
            let mut sets = ProcessorSets::default();
            sets.grow(3, gpus);
            let last = ProcessorMask::only(ProcessorId::gpu(gpus - 1)).with(ProcessorId(0));
            sets.set(PageId(1), last);
            assert_eq!([0, 1, 2].map(|page| sets.of(PageId(page))), [ProcessorMask::EMPTY, last, ProcessorMask::EMPTY]);
            sets.set(PageId(1), ProcessorMask::EMPTY);
            assert_eq!(sets.of(PageId(1)), ProcessorMask::EMPTY);
        }
    }
}
