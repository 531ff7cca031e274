//! Sparse square matrices as compressed rows: where their non-zeros are; what they are plays no part.

use std::ops::Range;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;

use crate::random::generator;

/// A sparse square matrix.
pub struct SparseMatrix {
    /// Where each row's non-zeros begin in `columns`, and where the last row's end.
    pub offsets: Vec<u32>,
    /// Column of each non-zero, row by row, ascending in each.
    pub columns: Vec<u32>,
}

impl SparseMatrix {
    /// `nonzeros` of the places of a matrix of `rows` rows, at most half of them, drawn uniformly.
    #[must_use]
    pub fn uniform(rows: u32, nonzeros: u64, seed: u64) -> Self {
        let places = u64::from(rows).pow(2);
        let mut random = generator(seed, 0);
        let mut drawn = Vec::new();
        // Places that were drawn twice are drawn anew, until there are enough.
        while (drawn.len() as u64) < nonzeros.min(places) {
            let missing = nonzeros - drawn.len() as u64;
            drawn.extend((0..missing).map(|_| below(&mut random, places)));
            drawn.sort_unstable();
            drawn.dedup();
        }
        let rows_of = |place: &u64| (place / u64::from(rows)) as usize;
        let mut offsets = vec![0; rows as usize + 1];
        drawn.iter().for_each(|place| offsets[rows_of(place) + 1] += 1);
        (0..rows as usize).for_each(|row| offsets[row + 1] += offsets[row]);
        let columns = drawn.iter().map(|place| (place % u64::from(rows)) as u32).collect();
        Self { offsets, columns }
    }

    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> u32 {
        self.offsets.len() as u32 - 1
    }

    /// Non-zeros of the longest of `rows`, which are some.
    #[must_use]
    pub fn longest(&self, rows: Range<usize>) -> u32 {
        let ends = self.offsets[rows.start..=rows.end].windows(2);
        ends.map(|pair| pair[1] - pair[0]).max().unwrap_or_default()
    }
}

/// A random number below `bound`, at most 2^32; its bias is at most `bound` / 2^64.
fn below(random: &mut ChaCha8Rng, bound: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(bound)) >> 64) as u64
}
