//! Stencil2D of SHOC: repeated 9-point smoothing of a single-precision array with a halo of one element.
//!
//! Each launch reads one buffer and writes the other; the two swap between launches and nothing is copied. A
//! work-group is one wavefront: 64 threads side by side, 16 rows each. It loads its 18 rows of 64 elements to local
//! memory (LDS), waiting for each; then its first and last thread load the columns left and right of it, one element
//! at a time; then it computes from the LDS alone and stores 16 rows. The halo of the whole array is never written.
//!
//! Groups are numbered down the columns of the array (dimension 0 of the grid is rows), so a contiguous range of
//! groups is a band of *columns*: nearly every page, about half a row long, is used by several GPUs.
//!
//! Computation is the vector-ALU and LDS instructions of the compiled GCN3 kernel, 769 of the 965 instructions that
//! MGPUSim records for a wavefront (247,040 for 512x512); 126 are scalar and 70 access memory. Of those, which touch
//! 207 lines, one reads the work-group size from the dispatch packet, which is not managed memory and left out here.

use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kernels::matrix::{Matrix, Rows, checked_side, scaled_side};
use crate::{AddressSpace, Buffer, Cursor, LINE_BYTES, Launch, Op, OpSink, Workload, WorkloadEntry, scale};

/// Rows that one thread, and so a work-group, computes.
pub const GROUP_ROWS: u64 = 16;

/// Columns, one a thread, that a work-group computes.
pub const GROUP_COLUMNS: u64 = 64;

/// Elements to a multiple of which rows are padded.
const PADDING: u64 = 16;

/// Side of two square arrays of 33 MiB in all, halo and padding included.
const PUBLISHED_SIDE: u64 = 2074;

/// Elements of one of them.
const PUBLISHED_ELEMENTS: u64 = (33 << 20) / 8;

/// Options of the stencil.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StOptions {
    /// Rows without the halo, in elements, a multiple of 16. Default: what makes the footprint 33 MB times the scale
    /// with the default columns (GRIT, table of applications); 2096 at scale 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Columns without the halo, in elements, a multiple of 64. Default: 2048 at scale 1, near a square.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<u64>,
    /// Iterations, one launch each, at least 1. Default: 20, enough for pages to settle and for the phases to repeat,
    /// at a fiftieth of the time SHOC's own default of 1000 takes.
    pub iterations: u32,
}

impl Default for StOptions {
    fn default() -> Self {
        Self { rows: None, columns: None, iterations: 20 }
    }
}

/// The stencil; one launch an iteration.
#[derive(Debug)]
pub struct St {
    space: AddressSpace,
    /// Read by even launches and written by odd ones, and the other way round; rows and columns count the halo.
    data: [Matrix; 2],
    group_rows: u32,
    group_columns: u32,
    iterations: u32,
}

impl St {
    /// `iterations` over `rows` x `columns` elements, halo not counted.
    ///
    /// # Errors
    /// Sizes that are not multiples of [`GROUP_ROWS`] and [`GROUP_COLUMNS`] (the kernel would leave the rest out) and
    /// no iterations.
    pub fn new(rows: u64, columns: u64, iterations: u32) -> Result<Self, OptionError> {
        let rows = checked_side("rows", rows, GROUP_ROWS)?;
        let columns = checked_side("columns", columns, GROUP_COLUMNS)?;
        if iterations == 0 {
            return Err(OptionError::new("iterations", "expected at least 1, found 0"));
        }
        let mut space = AddressSpace::default();
        let mut array = |name| Matrix::allocate(&mut space, name, rows + 2, pitch(columns));
        Ok(Self {
            data: [array("data1"), array("data2")],
            space,
            group_rows: (rows / GROUP_ROWS) as u32,
            group_columns: (columns / GROUP_COLUMNS) as u32,
            iterations,
        })
    }

    fn from_options(options: &StOptions, scale: f64) -> Result<Self, OptionError> {
        let columns = options.columns.map_or_else(|| scaled_side(PUBLISHED_SIDE, scale, GROUP_COLUMNS), Ok)?;
        let fitting = || scale::length(PUBLISHED_ELEMENTS / pitch(columns), scale, GROUP_ROWS);
        Self::new(options.rows.map_or_else(fitting, Ok)?, columns, options.iterations)
    }
}

/// Elements from one row to the next of an array of `columns` elements without the halo.
fn pitch(columns: u64) -> u64 {
    (columns + 2).next_multiple_of(PADDING)
}

/// One work-group's part of one iteration; rows and columns count the halo.
struct Patch<'a> {
    from: &'a Matrix,
    to: &'a Matrix,
    /// First row and column that it computes.
    row: u64,
    column: u64,
}

impl Patch<'_> {
    /// Every thread copies its column of 18 elements to the LDS.
    fn load_body(&self, out: &mut OpSink<'_>) {
        out.push(Op::compute(cost::ENTRY));
        for row in self.loaded_rows() {
            self.from.load(out, Rows { row, step: 0, count: 1, column: self.column, columns: GROUP_COLUMNS });
            wait_and_store_to_lds(cost::BODY, out);
        }
    }

    /// The last thread copies the column right of the patch, all but the last row.
    fn load_right(&self, out: &mut OpSink<'_>) {
        out.push(Op::compute(cost::BEFORE_RIGHT));
        for row in self.loaded_rows().take(LOADED_ROWS - 1) {
            out.push(Op::load(self.line(row, self.column + GROUP_COLUMNS), 1));
            wait_and_store_to_lds(cost::RIGHT, out);
        }
    }

    /// The first thread copies the column left of the patch, all but the last row; then both copy their last row with
    /// one instruction, as the compiler merged the two branches there.
    fn load_left(&self, out: &mut OpSink<'_>) {
        out.push(Op::compute(cost::BEFORE_LEFT));
        for row in self.loaded_rows().take(LOADED_ROWS - 1) {
            out.push(Op::load(self.line(row, self.column - 1), 1));
            wait_and_store_to_lds(cost::LEFT, out);
        }
        let last = self.row + GROUP_ROWS;
        out.push(Op::compute(cost::BEFORE_CORNERS));
        out.push(Op::load(self.line(last, self.column - 1), 1).continued());
        out.push(Op::load(self.line(last, self.column + GROUP_COLUMNS), 1));
        wait_and_store_to_lds(cost::CORNERS, out);
    }

    /// Every thread smooths its 16 elements from what is in the LDS.
    fn store_body(&self, out: &mut OpSink<'_>) {
        for row in self.row..self.row + GROUP_ROWS {
            out.push(Op::compute(if row == self.row { cost::FIRST_ROW } else { cost::ROW }));
            self.to.store(out, Rows { row, step: 0, count: 1, column: self.column, columns: GROUP_COLUMNS });
        }
        out.push(Op::END);
    }

    fn loaded_rows(&self) -> impl Iterator<Item = u64> {
        let first = self.row - 1;
        (0..LOADED_ROWS as u64).map(move |row| first + row)
    }

    fn line(&self, row: u64, column: u64) -> u64 {
        self.from.at(row, column) / LINE_BYTES
    }
}

/// Rows that a work-group loads: its own and one above and below.
const LOADED_ROWS: usize = GROUP_ROWS as usize + 2;

fn wait_and_store_to_lds((until_wait, after): (u32, u32), out: &mut OpSink<'_>) {
    out.push(Op::compute(until_wait));
    out.push(Op::WAIT);
    out.push(Op::compute(after));
}

/// Vector-ALU and LDS instructions between the memory accesses of the compiled GCN3 kernel; sums over a part of the
/// kernel are exact, within it the same number stands after every access of a kind. Pairs: until the wait, and after it with the LDS write.
mod cost {
    /// Prologue, and every thread's addresses.
    pub const ENTRY: u32 = 70;
    pub const BODY: (u32, u32) = (7, 4);
    /// Branch of the last thread.
    pub const BEFORE_RIGHT: u32 = 4;
    pub const RIGHT: (u32, u32) = (4, 3);
    /// Branch of the first thread.
    pub const BEFORE_LEFT: u32 = 4;
    pub const LEFT: (u32, u32) = (5, 3);
    pub const BEFORE_CORNERS: u32 = 6;
    pub const CORNERS: (u32, u32) = (2, 1);
    /// Every row's address (the barrier is one wavefront's, so none), and the first row: three LDS reads a row and nine terms.
    pub const FIRST_ROW: u32 = 64;
    /// Each further row: two of its three LDS rows are in registers.
    pub const ROW: u32 = 11;
}

impl Workload for St {
    fn buffers(&self) -> &[Buffer] {
        self.space.buffers()
    }

    fn launches(&self) -> u32 {
        self.iterations
    }

    fn launch(&self, _index: u32) -> Launch {
        let work_groups = self.group_rows * self.group_columns;
        Launch { kernel: "StencilKernel".into(), work_groups, wavefronts_per_group: 1 }
    }

    /// The cursor counts the four parts of the kernel; each is at most 75 operations.
    fn fill(&self, launch: u32, group: u32, _wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let from = launch as usize % 2;
        let patch = Patch {
            from: &self.data[from],
            to: &self.data[1 - from],
            row: 1 + u64::from(group % self.group_rows) * GROUP_ROWS,
            column: 1 + u64::from(group / self.group_rows) * GROUP_COLUMNS,
        };
        while out.remaining() >= OpSink::MIN_CAPACITY {
            match cursor.0[0] {
                0 => patch.load_body(out),
                1 => patch.load_right(out),
                2 => patch.load_left(out),
                _ => return patch.store_body(out),
            }
            cursor.0[0] += 1;
        }
    }
}

/// The two-dimensional stencil of SHOC.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "st",
    summary: "9-point stencil on two swapping arrays (SHOC Stencil2D); 33 MB, adjacent, shared and written",
    source: "SHOC Stencil2D, StencilKernel, as in MGPUSim v4.2.0; footprint from GRIT (HPCA 2024)",
    schema: typed::schema::<StOptions>,
    resolve: typed::resolve::<StOptions>,
    build: |options, size| Ok(Box::new(St::from_options(&typed::parse(options)?, size.scale)?)),
};
