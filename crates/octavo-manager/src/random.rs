//! Numbers without structure, the same at every run and on every machine.

/// Numbers without structure that depend on a seed alone: SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom
/// number generators, OOPSLA 2014).
pub struct Random(u64);

impl Random {
    /// The same seed, the same numbers.
    #[must_use]
    pub fn new(seed: u32) -> Self {
        Self(seed.into())
    }

    /// A number below `bound`, which is not zero.
    pub fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        (((mixed >> 32) * u64::from(bound)) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn every_number_below_the_bound_comes_about_as_often() {
        let mut random = Random::new(1);
        let mut counts = [0; 7];
        (0..70_000).for_each(|_| counts[random.below(7) as usize] += 1);
        assert!(counts.iter().all(|count| (9_600..10_400).contains(count)), "{counts:?}");
    }

    /// The upper halves of the first numbers that the published program gives for the seed 0.
    #[test]
    fn numbers_are_those_of_splitmix64() {
        let published = [0xe220_a839, 0x6e78_9e6a, 0x06c4_5d18, 0xf88b_b8a8];
        let mut random = Random::new(0);
        let found = published.map(|_| random.below(u32::MAX));
        assert_eq!(found, published.map(|half| half - 1), "half × (2³² - 1) / 2³², rounded down");
    }
}
