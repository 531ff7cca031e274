//! Huge pages of the operating system: which blocks of 2 MiB the kernel maps by one entry.

use crate::contract::ids::{PageId, PageRun};

/// Blocks of one word of the map.
const WORD: u32 = u64::BITS;

/// A bit for each block; empty while there are no huge pages.
#[derive(Clone, Default)]
pub(crate) struct HugePages {
    blocks: Vec<u64>,
}

impl HugePages {
    /// Whether `page` is part of a huge page, where blocks have this many pages.
    pub fn contains(&self, page: PageId, span: u32) -> bool {
        let block = page.0 / span;
        self.blocks.get((block / WORD) as usize).is_some_and(|word| word >> (block % WORD) & 1 != 0)
    }

    /// The block that begins with `first` is a huge page from now on.
    pub fn insert(&mut self, first: PageId, span: u32) {
        let block = first.0 / span;
        let word = (block / WORD) as usize;
        if word >= self.blocks.len() {
            self.blocks.resize(word + 1, 0);
        }
        self.blocks[word] |= 1 << (block % WORD);
    }

    /// Pages change or are freed: the huge pages that contain them are split. Costs nothing without any.
    pub fn split(&mut self, run: PageRun, span: u32) {
        if self.blocks.is_empty() {
            return;
        }
        for block in run.first.0 / span..=(run.first.0 + run.count - 1) / span {
            if let Some(word) = self.blocks.get_mut((block / WORD) as usize) {
                *word &= !(1 << (block % WORD));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_changes_splits_its_huge_page_alone() {
        let mut huge = HugePages::default();
        huge.split(PageRun { first: PageId(0), count: 5000 }, 512);
        [0, 512 * 70, 512 * 71].into_iter().for_each(|first| huge.insert(PageId(first), 512));
        huge.split(PageRun { first: PageId(512 * 70 + 511), count: 1 }, 512);
        let found = [0, 511, 512, 512 * 70, 512 * 71, 512 * 1000].map(|page| huge.contains(PageId(page), 512));
        assert_eq!(found, [true, true, false, false, true, false]);
    }
}
