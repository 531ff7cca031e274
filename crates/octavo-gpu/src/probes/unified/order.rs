//! The order in which pages are touched.

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::driver::memory::PAGE;

/// Random orders are the same in every run.
const SEED: u64 = 0;

/// A pattern of touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// Page after page.
    Sequential,
    /// One page of each stretch of this many bytes.
    Strided(u64),
    /// Every page once, in an order that looks like none.
    Random,
}

impl Pattern {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Strided(_) => "strided",
            Self::Random => "random",
        }
    }

    /// Bytes from one touched page to the next one in memory.
    pub(super) fn stride(self) -> u64 {
        match self {
            Self::Strided(stride) => stride,
            Self::Sequential | Self::Random => PAGE,
        }
    }

    /// Numbers of the pages touched in memory of `bytes`, in order.
    pub(super) fn pages(self, bytes: u64) -> Vec<u32> {
        let step = usize::try_from(self.stride() / PAGE).expect("strides are small");
        let mut pages: Vec<u32> = (0..page_number(bytes / PAGE)).step_by(step).collect();
        if self == Self::Random {
            pages.shuffle(&mut ChaCha8Rng::seed_from_u64(SEED));
        }
        pages
    }
}

pub(super) fn page_number(page: u64) -> u32 {
    u32::try_from(page).expect("buffers have fewer pages than that")
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn patterns_touch_each_of_their_pages_once() {
        assert_eq!(Pattern::Sequential.pages(4 * 4096), [0, 1, 2, 3]);
        assert_eq!(Pattern::Strided(8192).pages(5 * 4096), [0, 2, 4]);
        assert_eq!(Pattern::Strided(2 << 20).pages(8 << 20), [0, 512, 1024, 1536]);
        let random = Pattern::Random.pages(1 << 20);
        assert_ne!(random, Pattern::Sequential.pages(1 << 20));
        assert_eq!(random, Pattern::Random.pages(1 << 20));
        let mut sorted = random;
        sorted.sort_unstable();
        assert_eq!(sorted, Pattern::Sequential.pages(1 << 20));
    }

    #[test]
    fn a_random_order_has_few_neighbours() {
        let pages = Pattern::Random.pages(4 << 20);
        let neighbours = pages.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) == 1).count();
        assert!(neighbours < 20, "{neighbours} of {}", pages.len());
    }
}
