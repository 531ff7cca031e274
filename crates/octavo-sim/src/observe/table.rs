//! Result tables: named columns of equal length, ready to become Parquet.

/// Bytes of a text in a column, about: a reference where it was written before, and what leads to it where it is
/// written.
pub(crate) const TEXT_BYTES: usize = 24;

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Unsigned integers.
    U64(Vec<u64>),
    /// Real numbers.
    F64(Vec<f64>),
    /// Text.
    Text(Vec<String>),
    /// The same text in each round of this many rows.
    Rounds {
        /// The text of a round.
        round: Vec<String>,
        /// The number of rounds.
        rounds: usize,
    },
    /// Codes into a list of names.
    Category {
        /// One code a row.
        codes: Vec<u8>,
        /// What the codes mean.
        names: Vec<&'static str>,
    },
}

/// One column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name with the unit as suffix where it has one (`time_ps`, `bytes`).
    pub name: &'static str,
    /// The values.
    pub values: Values,
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// File name without ending.
    pub name: &'static str,
    /// Columns of equal length.
    pub columns: Vec<Column>,
}

impl Table {
    /// A table of `columns`.
    #[must_use]
    pub fn new(name: &'static str, columns: Vec<Column>) -> Self {
        Self { name, columns }
    }
}

impl Column {
    /// A column of unsigned integers.
    #[must_use]
    pub fn u64(name: &'static str, values: Vec<u64>) -> Self {
        Self { name, values: Values::U64(values) }
    }

    /// A column with the same text in each round of rows.
    #[must_use]
    pub(crate) fn rounds(name: &'static str, round: Vec<String>, rounds: usize) -> Self {
        Self { name, values: Values::Rounds { round, rounds } }
    }

    /// A column of text.
    #[must_use]
    pub fn text(name: &'static str, values: Vec<String>) -> Self {
        Self { name, values: Values::Text(values) }
    }
}
