//! Stencil2D of SHOC: repeated 9-point smoothing of a single-precision array with a halo of one element.
//!
//! Each launch reads one buffer and writes the other; the two swap between launches and nothing is copied. A
//! work-group is one wavefront: 64 threads side by side, 16 rows each. It loads its 18 rows of 64 elements to local
//! memory (LDS), waiting for each. Then its first and last thread load the columns left and right of it, one element
//! at a time. Then it computes from the LDS alone and stores 16 rows. The halo of the whole array is never written.
//!
//! Groups are numbered down the columns of the array (dimension 0 of the grid is rows), so a contiguous range of groups
//! is a band of *columns*. Nearly every page, about half a row long, is then used by several GPUs.
//!
//! Instructions, waits and the barrier come from the compiled GCN3 kernel. Of the 207 lines that MGPUSim records for a
//! wavefront, one belongs to the dispatch packet, from which it reads the work-group size. The packet is not managed
//! memory. It is left out here, as are scalar loads of kernel arguments.

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, LINE_BYTES, Launch, Op, OpSink, Resources, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kernels::last_written;
use crate::kernels::matrix::{Matrix, Rows, checked_side, scaled_side};
use crate::scale;

/// Rows that one thread, and so a work-group, computes.
pub const GROUP_ROWS: u64 = 16;

/// Columns, one for each thread, that a work-group computes.
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
pub struct Stencil2dOptions {
    /// Rows without the halo, in elements, a multiple of 16. Default: enough for a footprint of 33 MB times the scale
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

impl Default for Stencil2dOptions {
    fn default() -> Self {
        Self { rows: None, columns: None, iterations: 20 }
    }
}

/// The stencil; one launch an iteration.
#[derive(Debug)]
pub struct Stencil2d {
    space: AddressSpace,
    /// Read by even launches and written by odd ones, and the other way round; rows and columns count the halo.
    data: [Matrix; 2],
    group_rows: u32,
    group_columns: u32,
    iterations: u32,
}

impl Stencil2d {
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

    fn from_options(options: &Stencil2dOptions, scale: f64) -> Result<Self, OptionError> {
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
        // For the launch packet and the kernel arguments.
        out.push(cost::BEFORE_ARGUMENTS);
        out.push(Op::WAIT);
        out.push(cost::BEFORE_GROUP_SIZE);
        out.push(Op::WAIT);
        out.push(cost::ENTRY);
        for (place, row) in self.loaded_rows().enumerate() {
            self.from.load(out, Rows { row, step: 0, count: 1, column: self.column, columns: GROUP_COLUMNS });
            wait_and_store_to_lds(cost::body(place), out);
        }
    }

    /// The last thread copies the column right of the patch, all but the last row.
    fn load_right(&self, out: &mut OpSink<'_>) {
        for (place, row) in self.loaded_rows().take(LOADED_ROWS - 1).enumerate() {
            out.push(Op::load(self.line(row, self.column + GROUP_COLUMNS), 1));
            wait_and_store_to_lds(cost::right(place), out);
        }
    }

    /// The first thread copies the column left of the patch, all but the last row; then both copy their last row with
    /// one instruction, as the compiler merged the two branches there.
    fn load_left(&self, out: &mut OpSink<'_>) {
        for (place, row) in self.loaded_rows().take(LOADED_ROWS - 1).enumerate() {
            out.push(Op::load(self.line(row, self.column - 1), 1));
            wait_and_store_to_lds(cost::left(place), out);
        }
        let last = self.row + GROUP_ROWS;
        out.push(Op::load(self.line(last, self.column - 1), 1).continued());
        out.push(Op::load(self.line(last, self.column + GROUP_COLUMNS), 1));
        wait_and_store_to_lds(cost::CORNERS, out);
        out.push(Op::WAIT);
        out.push(Op::BARRIER);
    }

    /// Every thread smooths its 16 elements from the LDS.
    fn store_body(&self, out: &mut OpSink<'_>) {
        for (place, row) in (self.row..self.row + GROUP_ROWS).enumerate() {
            out.push(if place == 0 { cost::FIRST_LDS_READS } else { cost::LDS_READS });
            for (outstanding, after) in cost::smooth(place) {
                out.push(Op::wait_until(*outstanding));
                out.push(*after);
            }
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

fn wait_and_store_to_lds((until_wait, after): (Op, Op), out: &mut OpSink<'_>) {
    out.push(until_wait);
    out.push(Op::WAIT);
    out.push(after);
}

/// Instructions between the memory accesses of the compiled GCN3 kernel: vector, scalar, local data, branch. Pairs are
/// those until the wait for a loaded row, and those after it, with the LDS write, up to the next load.
mod cost {
    use octavo_program::Op;

    pub const BEFORE_ARGUMENTS: Op = Op::mix(2, 4, 0, 0);
    pub const BEFORE_GROUP_SIZE: Op = Op::mix(1, 0, 0, 0);
    /// Every thread's addresses.
    pub const ENTRY: Op = Op::mix(71, 6, 0, 0);

    pub const fn body(row: usize) -> (Op, Op) {
        match row {
            0 => (Op::mix(7, 1, 0, 0), Op::mix(3, 0, 1, 0)),
            1..15 => (Op::mix(7, 0, 0, 0), Op::mix(3, 0, 1, 0)),
            15 => (Op::mix(9, 0, 0, 0), Op::mix(2, 0, 1, 0)),
            16 => (Op::mix(5, 0, 0, 0), Op::mix(6, 0, 1, 0)),
            // The branch of the last thread.
            _ => (Op::mix(4, 0, 0, 0), Op::mix(9, 5, 1, 3)),
        }
    }

    pub const fn right(row: usize) -> (Op, Op) {
        match row {
            0 => (Op::mix(4, 2, 0, 0), Op::mix(2, 0, 1, 0)),
            1..16 => (Op::mix(4, 0, 0, 0), Op::mix(2, 0, 1, 0)),
            // The branch of the first thread.
            _ => (Op::mix(1, 0, 0, 0), Op::mix(6, 4, 1, 1)),
        }
    }

    pub const fn left(row: usize) -> (Op, Op) {
        match row {
            0 => (Op::mix(7, 2, 0, 0), Op::mix(2, 0, 1, 0)),
            1 => (Op::mix(6, 0, 0, 0), Op::mix(2, 0, 1, 0)),
            2..16 => (Op::mix(5, 0, 0, 0), Op::mix(2, 0, 1, 0)),
            // Where the branches meet.
            _ => (Op::mix(1, 0, 0, 0), Op::mix(7, 2, 1, 2)),
        }
    }

    pub const CORNERS: (Op, Op) = (Op::mix(2, 1, 0, 0), Op::mix(0, 1, 1, 0));

    /// For the first row; and for the others, which have two of their three LDS rows in registers.
    pub const FIRST_LDS_READS: Op = Op::mix(49, 1, 6, 0);
    pub const LDS_READS: Op = Op::mix(0, 0, 2, 0);

    /// Waits for LDS reads, by how many may stay outstanding, and the arithmetic after each, up to the store. The
    /// compiler scheduled some rows differently.
    pub const fn smooth(row: usize) -> &'static [(u32, Op)] {
        const TOGETHER: [(u32, Op); 1] = [(0, Op::mix(9, 0, 0, 0))];
        const LATE: [(u32, Op); 2] = [(1, Op::mix(3, 0, 0, 0)), (0, Op::mix(6, 0, 0, 0))];
        const EARLY: [(u32, Op); 2] = [(1, Op::mix(2, 0, 0, 0)), (0, Op::mix(7, 0, 0, 0))];
        match row {
            5 | 7 | 11 => &TOGETHER,
            13 | 14 => &LATE,
            _ => &EARLY,
        }
    }
}

impl Workload for Stencil2d {
    fn buffers(&self) -> &[Buffer] {
        self.space.buffers()
    }

    /// The halo is read from both arrays and never written, so both are copied in.
    fn host_side(&self) -> HostSide {
        let result = last_written(["data1", "data2"], self.launches());
        HostSide::of(self.buffers()).inputs(["data1", "data2"]).outputs([result]).build()
    }

    fn launches(&self) -> u32 {
        self.iterations
    }

    fn launch(&self, _index: u32) -> Launch {
        let work_groups = self.group_rows * self.group_columns;
        Launch { kernel: "StencilKernel".into(), work_groups, wavefronts_per_group: 1 }
    }

    fn resources(&self, _index: u32) -> Resources {
        Resources { vector_registers: 79, scalar_registers: 22, local_data_bytes: 4752 }
    }

    fn waits_for_some(&self) -> bool {
        true
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    /// The cursor counts the four parts of the kernel; each is at most 91 operations.
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
    name: "stencil2d",
    summary: "9-point stencil on two swapping arrays (SHOC Stencil2D); 33 MB, adjacent, shared and written",
    source: "SHOC Stencil2D, StencilKernel, as in MGPUSim v4.2.0; footprint from GRIT (HPCA 2024)",
    schema: typed::schema::<Stencil2dOptions>,
    resolve: typed::resolve::<Stencil2dOptions>,
    build: |options, size| Ok(Box::new(Stencil2d::from_options(&typed::parse(options)?, size.scale)?)),
};
