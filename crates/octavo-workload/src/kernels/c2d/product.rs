//! The matrix product of the layer: each thread computes one element straight from global memory.

use octavo_program::{Cursor, LINE_BYTES, Launch, Op, OpSink, Resources};

use super::step::{Step, arguments, registers};
use crate::emit::{load_lanes, store_lanes};
use crate::kernels::matrix::{ELEMENT_BYTES, Matrix, Rows};

/// Threads along each side of a work-group: four wavefronts of four rows each.
const THREADS: u64 = 16;
const WAVEFRONT_ROWS: u64 = 4;

/// `gemm_old`: D = alpha A x B + beta C; work-groups of 16x16, no local memory and no barriers.
///
/// Wavefronts whose rows are all below the matrix end at once: with three output channels, three of four do.
#[derive(Debug)]
pub struct Product {
    /// Rows of A, C and D.
    pub rows: u64,
    /// Columns of A, rows of B.
    pub inner: u64,
    /// Columns of B, C and D.
    pub columns: u64,
    pub a: Matrix,
    pub b: Matrix,
    pub c: Matrix,
    pub d: Matrix,
}

/// The elements of D that a wavefront computes.
struct Tile {
    row: u64,
    rows: u64,
    column: u64,
    columns: u64,
}

impl Tile {
    /// Addresses of the first and last element of each row: a row spans 64 bytes, so they name all its lines.
    fn ends(&self, matrix: Matrix) -> impl Iterator<Item = u64> {
        let (first, last) = (self.column, self.column + self.columns - 1);
        (self.row..self.row + self.rows).flat_map(move |row| [matrix.at(row, first), matrix.at(row, last)])
    }

    fn elements(&self, matrix: Matrix) -> impl Iterator<Item = u64> {
        let columns = self.column..self.column + self.columns;
        (self.row..self.row + self.rows).flat_map(move |row| columns.clone().map(move |column| matrix.at(row, column)))
    }
}

impl Product {
    fn tile(&self, group: u64, wavefront: u64) -> Tile {
        let groups_x = self.columns.div_ceil(THREADS);
        let row = group / groups_x * THREADS + wavefront * WAVEFRONT_ROWS;
        let column = group % groups_x * THREADS;
        Tile {
            row,
            rows: WAVEFRONT_ROWS.min(self.rows.saturating_sub(row)),
            column,
            columns: THREADS.min(self.columns - column),
        }
    }

    /// One column of A and one row of B.
    fn multiply(&self, tile: &Tile, inner: u64, out: &mut OpSink<'_>) {
        if inner == 0 {
            out.push(Op::WAIT);
            arguments(out, &[Op::mix(6, 9, 0, 2)]);
        }
        out.push(if inner == 0 { Op::mix(12, 1, 0, 0) } else { Op::mix(6, 0, 0, 1) });
        self.load_a(tile, inner, out);
        let Tile { column, columns, .. } = *tile;
        self.b.load(out, Rows { row: inner, step: 1, count: 1, column, columns });
        out.push(Op::mix(3, 2, 0, 0));
        out.push(Op::wait_until(1));
        out.push(Op::mix(1, 0, 0, 0));
        out.push(Op::WAIT);
    }

    fn load_a(&self, tile: &Tile, inner: u64, out: &mut OpSink<'_>) {
        if self.inner * ELEMENT_BYTES >= LINE_BYTES {
            let rows = Rows { row: tile.row, step: 1, count: tile.rows as u32, column: inner, columns: 1 };
            return self.a.load(out, rows);
        }
        load_lanes(out, (tile.row..tile.row + tile.rows).map(|row| self.a.at(row, inner)));
    }

    fn finish(&self, tile: &Tile, out: &mut OpSink<'_>) {
        out.push(Op::mix(2, 0, 0, 1));
        out.push(Op::WAIT);
        out.push(Op::mix(6, 0, 0, 0));
        load_lanes(out, tile.ends(self.c));
        out.push(Op::compute(3));
        out.push(Op::WAIT);
        out.push(Op::compute(1));
        store_lanes(out, tile.elements(self.d), ELEMENT_BYTES);
        out.push(Op::END);
    }
}

impl Step for Product {
    fn launch(&self) -> Launch {
        let work_groups = self.columns.div_ceil(THREADS) * self.rows.div_ceil(THREADS);
        Launch { kernel: "gemm_old".into(), work_groups: work_groups as u32, wavefronts_per_group: 4 }
    }

    fn resources(&self) -> Resources {
        registers(10, 18)
    }

    /// The cursor counts columns of A; one takes at most fourteen operations, the end twenty-four.
    fn fill(&self, group: u64, wavefront: u64, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let tile = self.tile(group, wavefront);
        if tile.rows == 0 {
            out.push(Op::WAIT);
            out.push(Op::WAIT);
            out.push(Op::mix(4, 8, 0, 1));
            return out.push(Op::END);
        }
        while out.remaining() >= OPS_OF_END {
            if u64::from(cursor.0[0]) == self.inner {
                return self.finish(&tile, out);
            }
            self.multiply(&tile, u64::from(cursor.0[0]), out);
            cursor.0[0] += 1;
        }
    }
}

/// Operations of the end at most: eight lines each of C and D, four computations, two waits and the end.
const OPS_OF_END: usize = 24;
