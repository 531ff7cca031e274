//! Sets of large frames.

/// A set of small integers: numbers of large frames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FrameSet {
    words: Vec<u64>,
}

impl FrameSet {
    /// Puts `frame` in or takes it out.
    pub fn set(&mut self, frame: u32, member: bool) {
        let word = frame as usize / 64;
        if word >= self.words.len() {
            if !member {
                return;
            }
            self.words.resize(word + 1, 0);
        }
        let bit = 1 << (frame % 64);
        if member {
            self.words[word] |= bit;
        } else {
            self.words[word] &= !bit;
        }
    }

    pub fn contains(&self, frame: u32) -> bool {
        self.words.get(frame as usize / 64).is_some_and(|word| word >> (frame % 64) & 1 != 0)
    }

    /// How many members there are.
    pub fn count(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    /// The lowest member.
    pub fn first(&self) -> Option<u32> {
        let word = self.words.iter().position(|&word| word != 0)?;
        Some(word as u32 * 64 + self.words[word].trailing_zeros())
    }

    /// The members, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            let rest = std::iter::successors(Some(word), |word| Some(word & word.wrapping_sub(1)));
            rest.take_while(|&word| word != 0).map(move |word| index as u32 * 64 + word.trailing_zeros())
        })
    }

    pub fn bytes(&self) -> usize {
        self.words.capacity() * size_of::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::FrameSet;

    #[test]
    fn members_are_listed_in_order() {
        let mut set = FrameSet::default();
        [130, 0, 63, 64].into_iter().for_each(|frame| set.set(frame, true));
        set.set(63, false);
        set.set(1000, false);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 64, 130]);
        assert_eq!(set.count(), 3);
        assert_eq!((set.first(), set.contains(64), set.contains(63), set.contains(999)), (Some(0), true, false, false));
        [0, 64].into_iter().for_each(|frame| set.set(frame, false));
        assert_eq!(set.first(), Some(130));
    }
}
