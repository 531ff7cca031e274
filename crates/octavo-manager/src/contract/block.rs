//! Bitmaps over the pages of one 2 MiB block.

/// Words of a map of 512 pages.
const WORDS: usize = 8;

/// A set of pages of one block; bit *i* stands for the block's *i*-th page. Blocks have at most 512 pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockMap(pub [u64; WORDS]);

impl BlockMap {
    /// No page.
    pub const EMPTY: Self = Self([0; WORDS]);

    /// Whether page `index` is in the set.
    #[must_use]
    pub const fn contains(&self, index: u32) -> bool {
        self.0[index as usize / 64] >> (index % 64) & 1 != 0
    }

    /// Adds page `index`.
    pub const fn insert(&mut self, index: u32) {
        self.0[index as usize / 64] |= 1 << (index % 64);
    }

    /// Takes page `index` out.
    pub const fn remove(&mut self, index: u32) {
        self.0[index as usize / 64] &= !(1 << (index % 64));
    }

    /// The lowest of pages `0..end` that is not in the set.
    #[must_use]
    pub fn first_missing(&self, end: u32) -> Option<u32> {
        let word = self.0.iter().position(|&bits| bits != u64::MAX)?;
        let index = word as u32 * 64 + self.0[word].trailing_ones();
        (index < end).then_some(index)
    }

    /// Adds pages `first..end`.
    pub fn insert_range(&mut self, first: u32, end: u32) {
        for (word, bits) in self.0.iter_mut().enumerate() {
            *bits |= word_mask(word as u32, first, end);
        }
    }

    /// How many pages of `first..end` are in the set.
    #[must_use]
    pub fn count(&self, first: u32, end: u32) -> u32 {
        let words = self.0.iter().enumerate();
        words.map(|(word, bits)| (bits & word_mask(word as u32, first, end)).count_ones()).sum()
    }

    /// Whether no page is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }

    /// Pages in either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }

    /// Pages in this set that are not in `other`.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & !other.0[word]))
    }

    /// The pages in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + use<> {
        let words = self.0;
        let mut word = 0;
        let mut rest = words[0];
        std::iter::from_fn(move || {
            while rest == 0 {
                word += 1;
                rest = *words.get(word)?;
            }
            let bit = rest.trailing_zeros();
            rest &= rest - 1;
            Some(word as u32 * 64 + bit)
        })
    }
}

/// The bits of word `word` that stand for pages `first..end`.
fn word_mask(word: u32, first: u32, end: u32) -> u64 {
    let from = first.clamp(word * 64, word * 64 + 64) - word * 64;
    let to = end.clamp(word * 64, word * 64 + 64) - word * 64;
    if from >= to { 0 } else { (u64::MAX >> (64 - (to - from))) << from }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_across_words_are_counted_and_listed() {
        let mut map = BlockMap::EMPTY;
        map.insert_range(60, 130);
        map.insert(511);
        assert_eq!(map.count(0, 512), 71);
        assert_eq!(map.count(64, 128), 64);
        assert_eq!(map.count(129, 131), 1);
        assert_eq!(map.iter().collect::<Vec<_>>(), (60..130).chain([511]).collect::<Vec<_>>());
        assert!(map.without(&map).is_empty());
    }

    #[test]
    fn each_page_is_in_the_set_or_not() {
        let mut map = BlockMap::EMPTY;
        [0, 63, 64, 200, 511].into_iter().for_each(|index| map.insert(index));
        map.remove(200);
        let members = (0..512).filter(|&index| map.contains(index));
        assert_eq!(members.collect::<Vec<_>>(), [0, 63, 64, 511]);
    }

    #[test]
    fn the_first_missing_page_is_found_across_words() {
        let mut map = BlockMap::EMPTY;
        map.insert_range(0, 100);
        assert_eq!((map.first_missing(512), map.first_missing(100)), (Some(100), None));
        map.remove(70);
        assert_eq!(map.first_missing(512), Some(70));
        map.insert_range(0, 512);
        assert_eq!(map.first_missing(512), None);
    }
}
