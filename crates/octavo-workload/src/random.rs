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
