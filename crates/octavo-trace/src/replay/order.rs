//! Whether a replay keeps the order in which vector instructions and others alternate.

use octavo_program::Op;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ops::instructions;
use crate::{Counts, Row};

/// How rows that only give an order are replayed: waits for nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InstructionOrder {
    /// They join the row that follows, whose vector instructions come first: fewer operations.
    #[default]
    Grouped,
    /// Each is a separate stretch.
    Recorded,
}

/// More instructions and lines of code than this are not held back (our choice).
const MOST: u64 = 1 << 20;

/// The content of rows that only give an order, until the row that they join.
#[derive(Default)]
pub(super) struct Held {
    counts: Counts,
    code_lines: Vec<u64>,
}

impl Held {
    /// Takes the content of `row`, if it only gives an order; returns whether it does.
    #[inline]
    pub fn take(&mut self, row: &Row<'_>) -> bool {
        if !row.tells_order() || self.size() + row.counts.total() + row.code_lines.len() as u64 > MOST {
            return false;
        }
        let Some(counts) = self.counts.checked_add(row.counts) else { return false };
        self.counts = counts;
        self.code_lines.extend_from_slice(row.code_lines);
        true
    }

    /// Whether a row can hold the content of `row` and the held instructions before it.
    #[inline]
    pub fn fits(&self, row: &Row<'_>) -> bool {
        self.counts.checked_add(row.counts).is_some()
    }

    /// `row` with the held instructions before it, which fits.
    #[inline]
    pub fn join<'a>(&'a mut self, row: &Row<'a>) -> Row<'a> {
        if self.size() == 0 {
            return *row;
        }
        let counts = self.counts.checked_add(row.counts).unwrap_or(row.counts);
        self.code_lines.extend_from_slice(row.code_lines);
        Row { counts, code_lines: &self.code_lines, ..*row }
    }

    fn size(&self) -> u64 {
        self.counts.total() + self.code_lines.len() as u64
    }

    /// Replays held instructions that have no row to join.
    pub fn replay(&mut self, ops: &mut Vec<Op>) -> Result<(), String> {
        instructions(self.counts, &self.code_lines, ops)?;
        self.clear();
        Ok(())
    }

    /// Held instructions are replayed.
    pub fn clear(&mut self) {
        self.counts = Counts::default();
        self.code_lines.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Key, Kind, Touched};

    fn row(kind: Kind, vector_alu: u32, scalar_alu: u32, code_lines: &[u64]) -> Row<'_> {
        Row {
            key: Key::default(),
            kind,
            code_lines,
            bytes: 0,
            lanes: 0,
            touched: Touched::NOTHING,
            partial: &[],
            counts: Counts { vector_alu, scalar_alu, ..Counts::default() },
            vector_wait: None,
            scalar_wait: None,
        }
    }

    #[test]
    fn rows_that_tell_an_order_are_one_with_the_next() {
        let mut held = Held::default();
        assert!(held.take(&row(Kind::Wait, 1, 2, &[3])) && held.take(&row(Kind::Wait, 4, 0, &[])));
        let end = row(Kind::End, 5, 6, &[7, 8]);
        assert!(!held.take(&end) && !held.take(&Row { scalar_wait: Some(0), ..row(Kind::Wait, 1, 0, &[]) }));
        let joined = held.join(&end);
        assert_eq!((joined.kind, joined.counts.vector_alu, joined.counts.scalar_alu), (Kind::End, 10, 8));
        assert_eq!(joined.code_lines, [3, 7, 8]);
        held.clear();
        assert_eq!(held.join(&end), end);
    }

    #[test]
    fn not_too_much_is_held() {
        let mut held = Held::default();
        assert!(held.take(&row(Kind::Wait, MOST as u32 - 1, 0, &[])));
        assert!(!held.take(&row(Kind::Wait, 2, 0, &[])));
        assert!(held.fits(&row(Kind::End, 7, 0, &[])) && !held.fits(&row(Kind::End, u32::MAX, 0, &[])));
    }
}
