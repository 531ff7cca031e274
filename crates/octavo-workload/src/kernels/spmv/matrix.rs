//! Sparse matrices as compressed rows: the places of their non-zeros; their values do not matter.

use std::ops::Range;

use octavo_registry::OptionError;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;

use crate::graphs::files;
use crate::random::generator;

/// A sparse matrix.
pub struct SparseMatrix {
    /// The number of columns.
    pub width: u32,
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
        Self { width: rows, offsets, columns }
    }

    /// The matrix of a file.
    ///
    /// # Errors
    /// Files that hold no matrix, or one without an entry or with more than 2^32.
    pub fn read(file: &str) -> Result<Self, OptionError> {
        let refused = |message: String| OptionError::new("matrix", message);
        let matrix = files::read_matrix(file).map_err(|why| refused(why.to_string()))?;
        let (rows, width) = (matrix.rows as usize, matrix.columns);
        let entries = matrix.all();
        if entries.is_empty() || u32::try_from(entries.len()).is_err() {
            return Err(refused(format!("{file}: expected 1 to 2^32 entries, found {}", entries.len())));
        }
        let mut offsets = vec![0; rows + 1];
        entries.iter().for_each(|(row, _)| offsets[*row as usize + 1] += 1);
        (0..rows).for_each(|row| offsets[row + 1] += offsets[row]);
        Ok(Self { width, offsets, columns: entries.into_iter().map(|(_, column)| column).collect() })
    }

    /// The number of rows.
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
