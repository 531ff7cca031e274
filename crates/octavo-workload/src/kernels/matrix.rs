//! Row-major single-precision matrices, and the pieces of them that one memory instruction touches.

use std::ops::Range;

use octavo_program::{AddressSpace, LINE_BYTES, Op, OpSink};
use octavo_registry::OptionError;

use crate::emit::store;
use crate::scale;

/// Bytes of a matrix element (fp32).
pub const ELEMENT_BYTES: u64 = 4;

/// Elements along one side of a matrix at most; keeps group counts within 32 bits and addresses within the address bits
/// of an [`Op`].
const LARGEST_SIDE: u64 = 1 << 20;

/// Where a row-major matrix of fp32 without padding lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matrix {
    base: u64,
    /// Bytes from one row to the next.
    pitch: u64,
}

/// What one memory instruction touches: `count` rows, `step` apart, `columns` consecutive elements of each.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// First row.
    pub row: u64,
    /// Rows from one touched row to the next.
    pub step: u64,
    /// Touched rows.
    pub count: u32,
    /// First column.
    pub column: u64,
    /// Consecutive columns of each touched row.
    pub columns: u64,
}

impl Rows {
    /// The block of `rows` x `columns`; nothing where either is empty. Neither begins below 0.
    #[must_use]
    #[inline]
    pub fn block(rows: &Range<i64>, columns: &Range<i64>) -> Option<Self> {
        if rows.is_empty() || columns.is_empty() {
            return None;
        }
        debug_assert!(rows.start >= 0 && columns.start >= 0);
        let (row, column) = (rows.start as u64, columns.start as u64);
        let (count, columns) = ((rows.end - rows.start) as u32, (columns.end - columns.start) as u64);
        Some(Self { row, step: 1, count, column, columns })
    }

    /// The same columns `rows` further down.
    #[must_use]
    #[inline]
    pub fn down(self, rows: u64) -> Self {
        Self { row: self.row + rows, ..self }
    }
}

/// The intersection of two ranges.
#[must_use]
#[inline]
pub fn overlap(a: &Range<i64>, b: &Range<i64>) -> Range<i64> {
    a.start.max(b.start)..a.end.min(b.end)
}

impl Matrix {
    /// Allocates a matrix of `rows` x `columns` elements as the buffer `name`.
    pub fn allocate(space: &mut AddressSpace, name: &str, rows: u64, columns: u64) -> Self {
        let pitch = columns * ELEMENT_BYTES;
        Self { base: space.allocate(name, rows * pitch).base, pitch }
    }

    /// Address of the element at (`row`, `column`).
    #[must_use]
    #[inline]
    pub fn at(&self, row: u64, column: u64) -> u64 {
        self.base + row * self.pitch + column * ELEMENT_BYTES
    }

    /// One load of `rows`, which share no line; one operation for each row.
    #[inline]
    pub fn load(&self, out: &mut OpSink<'_>, rows: Rows) {
        self.push(out, rows, |address, bytes| {
            let (line, last) = (address / LINE_BYTES, (address + bytes - 1) / LINE_BYTES);
            Op::load(line, (last - line + 1) as u32)
        });
    }

    /// One store to `rows`, which share no line; one operation for each row.
    #[inline]
    pub fn store(&self, out: &mut OpSink<'_>, rows: Rows) {
        self.push(out, rows, store);
    }

    #[inline]
    fn push(&self, out: &mut OpSink<'_>, rows: Rows, op: impl Fn(u64, u64) -> Op) {
        let stride = rows.step * self.pitch;
        let mut first = self.at(rows.row, rows.column);
        debug_assert!(rows.count > 0 && rows.columns > 0);
        for left in (0..rows.count).rev() {
            let bytes = rows.columns * ELEMENT_BYTES;
            debug_assert!(
                left == 0 || (first + stride) / LINE_BYTES > (first + bytes - 1) / LINE_BYTES,
                "rows share a line"
            );
            let run = op(first, bytes);
            out.push(if left == 0 { run } else { run.continued() });
            first += stride;
        }
    }
}

/// The side of a matrix of `published` elements a side at scale 1, a multiple of `granule`.
///
/// # Errors
/// A scale that is not a positive number, or that leaves nothing of the matrix or makes it too large.
pub fn scaled_side(published: u64, scale: f64, granule: u64) -> Result<u64, OptionError> {
    let side = scale::side(published, scale, granule)?;
    if side > LARGEST_SIDE {
        let message = format!("{scale} makes a matrix of {side} elements a side, expected at most {LARGEST_SIDE}");
        return Err(OptionError::new("scale", message));
    }
    Ok(side)
}

/// `elements` if it is a possible side of a matrix whose kernel works in tiles of `granule` elements.
///
/// # Errors
/// Names the option `key` otherwise.
pub fn checked_side(key: &str, elements: u64, granule: u64) -> Result<u64, OptionError> {
    if elements == 0 || elements > LARGEST_SIDE || !elements.is_multiple_of(granule) {
        let expected = format!("expected a multiple of {granule} elements from {granule} to {LARGEST_SIDE}");
        return Err(OptionError::new(key, format!("{expected}, found {elements}")));
    }
    Ok(elements)
}
