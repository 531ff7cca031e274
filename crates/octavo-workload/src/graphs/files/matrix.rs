//! A sparse matrix in a file: the places of its entries; their values do not matter.

use crate::graphs::edges::{Edges, List, Weights};
use crate::graphs::files::text::Found;

/// Which entries follow from others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// None.
    #[default]
    General,
    /// The entries above the diagonal follow from those below; also for hermitian matrices.
    Symmetric,
    /// The same, and the diagonal is zero.
    Skew,
}

/// A matrix as its file has it.
#[derive(Debug, Default, PartialEq)]
pub struct Matrix {
    /// Rows.
    pub rows: u32,
    /// Columns.
    pub columns: u32,
    /// Row and column of each entry, from 0.
    pub entries: Vec<(u32, u32)>,
    /// The value of each entry, where it is one real number.
    pub values: Vec<f64>,
    /// Which entries follow from others.
    pub shape: Shape,
    /// What the reader assumed or did not use.
    pub notes: Vec<String>,
}

/// What is said of values.
pub(super) const VALUES_NOT_USED: &str = "values of entries are not used";

impl Matrix {
    /// Notes what happens to values; those kept here are for whoever uses the matrix to tell.
    pub(super) fn note_values(&mut self, has_values: bool, zeros: u64) {
        if has_values && self.values.is_empty() {
            self.notes.push(VALUES_NOT_USED.to_owned());
        }
        if zeros > 0 {
            self.notes.push(format!("{zeros} entries that are zero count like others"));
        }
    }

    /// An edge from row to column of each entry; without direction where the other half follows.
    pub(super) fn graph(self) -> Result<Found, String> {
        let Self { rows, columns, entries, values, shape, notes } = self;
        if rows != columns {
            return Err(format!("expected as many rows as columns, found {rows} and {columns}"));
        }
        let directed = shape == Shape::General;
        let weights = Weights::of(directed, &entries, &values);
        let edges = Edges { vertices: rows, directed, list: List::Here(entries), weights };
        Ok(Found { edges, notes })
    }

    /// All entries, those that follow included, in order of rows and columns.
    pub fn all(self) -> Vec<(u32, u32)> {
        let mut all = self.entries;
        if self.shape != Shape::General {
            let others = all.iter().filter(|(row, column)| row != column).map(|(row, column)| (*column, *row));
            let others: Vec<_> = others.collect();
            all.extend(others);
        }
        all.sort_unstable();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_half_follows() {
        let entries = || vec![(1, 1), (2, 0)];
        let matrix = |shape| Matrix { rows: 3, columns: 3, entries: entries(), shape, ..Matrix::default() };
        assert_eq!(matrix(Shape::Symmetric).all(), [(0, 2), (1, 1), (2, 0)]);
        assert_eq!(matrix(Shape::General).all(), [(1, 1), (2, 0)]);
        assert!(!matrix(Shape::Skew).graph().expect("a graph").edges.directed);
        assert!(Matrix { columns: 4, ..matrix(Shape::General) }.graph().is_err());
    }
}
