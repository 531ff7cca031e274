//! Reproducible randomness: the same numbers for the same seed on every machine and in every build.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// A generator for one purpose within a workload; different `stream`s of one seed are independent, so that drawing
/// more for one purpose does not change what another gets.
#[must_use]
pub fn generator(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    generator.set_stream(stream);
    generator
}

/// A number that looks like any other for each number: all bits of one depend on all bits of the other (`SplitMix64`).
#[must_use]
#[inline]
pub fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

/// One of `count` numbers for each of them, where `count` is a power of two: multiplying by odd numbers and folding the
/// upper half into the lower can both be undone.
#[must_use]
#[inline]
pub fn permuted(number: u64, count: u64, seed: u64) -> u64 {
    let (mask, half) = (count - 1, (count.trailing_zeros() / 2).max(1));
    let mut mixed = (number ^ seed) & mask;
    for odd in [0x9E37_79B9_7F4A_7C15, 0xD6E8_FEB8_6659_FD93, 0xC2B2_AE3D_27D4_EB4F] {
        mixed = mixed.wrapping_mul(odd) & mask;
        mixed ^= mixed >> half;
    }
    mixed
}
