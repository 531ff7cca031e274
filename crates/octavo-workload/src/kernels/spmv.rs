//! Sparse matrix times vector (SHOC `spmv_csr_scalar_kernel`): a row of a compressed matrix for each thread.
//!
//! In each turn the lanes read the next non-zero of their rows: its column and its value, each on a line of its own for
//! nearly every lane, then the vector's element at that column. Lanes whose rows end drop out; a wavefront takes as
//! many turns as its longest row has non-zeros. Work-groups of 128.
//!
//! The matrix is square; its non-zeros are drawn uniformly from all its places, a hundredth of them (SHOC), in rows
//! sorted by column. Or it is read from a file, and may have more rows than columns or fewer. Instructions and waits come from the compiled GCN3 kernel that MGPUSim ships.
//!
//! Scale 1 is SHOC's largest problem, 16,384 rows, which agrees with the published range of working sets (10 to 362
//! MB). SHOC repeats the product; here once is the default.

mod matrix;

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::matrix::SparseMatrix;
use crate::emit::{WAVEFRONT_LANES, gather_lanes, load_lanes, load_span, push_all, steps, store_span};
use crate::scale;

/// Bytes of a value, a column, an offset, an element of a vector.
const WORD: u64 = 4;
const LANES: u64 = WAVEFRONT_LANES as u64;
/// Threads of a work-group.
const GROUP: u64 = 128;
/// Rows at scale 1 (SHOC, problem size 4), and at most: two non-zeros in five fit 32 bits then.
const USUAL_ROWS: u64 = 16_384;
const MOST_ROWS: u64 = 1 << 16;

/// Instructions of the compiled GCN3 kernel: vector, scalar, local data, branch.
const BEFORE_ARGUMENTS: Op = Op::mix(0, 2, 0, 0);
const LOCATE: Op = Op::mix(10, 3, 0, 1);
const BEFORE_OFFSETS: Op = Op::mix(6, 0, 0, 0);
const AFTER_OFFSETS: Op = Op::mix(1, 0, 0, 0);
const COMPARE: Op = Op::mix(4, 1, 0, 1);
const BEFORE_FIRST: Op = Op::mix(7, 1, 0, 0);
const BEFORE_NEXT: Op = Op::mix(1, 1, 0, 1);
const BEFORE_VALUE: Op = Op::mix(1, 0, 0, 0);
const DURING_COLUMN: Op = Op::mix(6, 1, 0, 0);
const BEFORE_VECTOR: Op = Op::mix(4, 0, 0, 0);
const EPILOGUE: Op = Op::mix(5, 3, 0, 1);

/// Options of `spmv`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SpmvOptions {
    /// Rows and columns of the matrix, 1 to 65536. Default: 16384 times the root of the scale (SHOC, problem size 4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Share of the matrix that is not zero, above 0 and at most 0.1. Default 0.01 (SHOC).
    pub density: f64,
    /// A file that holds the matrix, read as it is at any scale: Matrix Market (`.mtx`) or SciPy's `.npz`, also `.gz` or
    /// `.zst`. Default: none, the matrix is drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matrix: Option<String>,
    /// The number of products, 1 to 1000. Default 1 (this project's choice, for the time it takes).
    pub iterations: u32,
}

impl Default for SpmvOptions {
    fn default() -> Self {
        Self { rows: None, density: 0.01, matrix: None, iterations: 1 }
    }
}

impl SpmvOptions {
    fn build(&self, size: &Size) -> Result<Spmv, OptionError> {
        let Self { rows, density, iterations, ref matrix } = *self;
        if !(1..=1000).contains(&iterations) {
            return Err(OptionError::new("iterations", format!("expected 1 to 1000, found {iterations}")));
        }
        if let Some(file) = matrix {
            if let Some(rows) = rows {
                let message = format!("expected no rows beside `matrix`, a file that has its own, found {rows}");
                return Err(OptionError::new("rows", message));
            }
            return Ok(Spmv::new(SparseMatrix::read(file)?, iterations));
        }
        let rows = match rows {
            Some(rows) => scale::chosen("rows", Some(rows), USUAL_ROWS, size.scale, 1, MOST_ROWS)?,
            None => scale::at_most(MOST_ROWS, scale::side(USUAL_ROWS, size.scale, 1)?, size.scale)?,
        };
        if !(density > 0.0 && density <= 0.1) {
            return Err(OptionError::new("density", format!("expected above 0 and at most 0.1, found {density}")));
        }
        let nonzeros = ((rows * rows) as f64 * density).round().max(1.0) as u64;
        Ok(Spmv::new(SparseMatrix::uniform(rows as u32, nonzeros, size.seed), iterations))
    }
}

/// Products of one matrix.
pub struct Spmv {
    matrix: SparseMatrix,
    iterations: u32,
    values: Buffer,
    vector: Buffer,
    columns: Buffer,
    offsets: Buffer,
    output: Buffer,
    buffers: Vec<Buffer>,
}

impl Spmv {
    /// `iterations` products of `matrix`, which has a row and a non-zero at least.
    #[must_use]
    pub fn new(matrix: SparseMatrix, iterations: u32) -> Self {
        let (rows, nonzeros) = (u64::from(matrix.rows()), matrix.columns.len() as u64);
        let mut space = AddressSpace::default();
        let values = space.allocate("values", nonzeros * WORD);
        let vector = space.allocate("vector", u64::from(matrix.width) * WORD);
        let columns = space.allocate("columns", nonzeros * WORD);
        let offsets = space.allocate("row_offsets", (rows + 1) * WORD);
        let output = space.allocate("output", rows * WORD);
        Self { matrix, iterations, values, vector, columns, offsets, output, buffers: space.buffers().to_vec() }
    }

    /// What is multiplied.
    #[must_use]
    pub fn matrix(&self) -> &SparseMatrix {
        &self.matrix
    }

    fn load_offsets(&self, first: u64, rows: u64, out: &mut OpSink<'_>) {
        // The waits are for kernel arguments, all but that for the offsets.
        push_all(out, &[BEFORE_ARGUMENTS, Op::WAIT, LOCATE]);
        if rows == 0 {
            return;
        }
        push_all(out, &[Op::WAIT, BEFORE_OFFSETS]);
        load_span(out, self.offsets.at(first + 1, WORD), rows * WORD);
        load_span(out, self.offsets.at(first, WORD), rows * WORD);
        // A row without elements is over.
        push_all(out, &[AFTER_OFFSETS, Op::WAIT.deciding(), COMPARE, Op::WAIT]);
    }

    /// Places of the non-zeros that rows from `first` on read in a turn.
    fn places(&self, first: u64, rows: u64, turn: u32) -> impl Iterator<Item = u32> {
        let offsets = &self.matrix.offsets[first as usize..=(first + rows) as usize];
        offsets.windows(2).map(move |pair| (pair[0] + turn, pair[1])).filter(|(place, end)| place < end).map(|(p, _)| p)
    }

    /// One of the three loads of a turn.
    fn turn(&self, turn: u32, part: u32, places: impl Iterator<Item = u32>, out: &mut OpSink<'_>) {
        match part {
            0 => {
                out.push(if turn == 0 { BEFORE_FIRST } else { BEFORE_NEXT });
                load_lanes(out, places.map(|place| self.columns.base + u64::from(place) * WORD));
            }
            1 => {
                out.push(BEFORE_VALUE);
                load_lanes(out, places.map(|place| self.values.base + u64::from(place) * WORD));
                push_all(out, &[DURING_COLUMN, Op::wait_until(1)]);
            }
            _ => {
                let column = |place: u32| u64::from(self.matrix.columns[place as usize]);
                out.push(BEFORE_VECTOR);
                gather_lanes(out, places.map(|place| self.vector.base + column(place) * WORD));
                out.push(Op::WAIT);
            }
        }
    }
}

impl Workload for Spmv {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn held_bytes(&self) -> u64 {
        self.columns.bytes + self.offsets.bytes
    }

    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers()).inputs(["values", "vector", "columns", "row_offsets"]).outputs(["output"]).build()
    }

    fn launches(&self) -> u32 {
        self.iterations
    }

    fn launch(&self, _index: u32) -> Launch {
        let work_groups = u64::from(self.matrix.rows()).div_ceil(GROUP) as u32;
        Launch { kernel: "spmv_csr_scalar_kernel".into(), work_groups, wavefronts_per_group: (GROUP / LANES) as u32 }
    }

    fn resources(&self, _index: u32) -> Resources {
        Resources { vector_registers: 12, scalar_registers: 35, local_data_bytes: 0 }
    }

    fn waits_for_some(&self) -> bool {
        true
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    /// Steps: offsets; for each turn columns, values and vector; the store.
    fn fill(&self, _launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let first = u64::from(group) * GROUP + u64::from(wavefront) * LANES;
        let rows = LANES.min(u64::from(self.matrix.rows()).saturating_sub(first));
        let turns = if rows == 0 { 0 } else { self.matrix.longest(first as usize..(first + rows) as usize) };
        let last = 3 * turns + 1;
        steps(cursor, out, if rows == 0 { 1 } else { last + 1 }, |step, out| {
            if step == 0 {
                self.load_offsets(first, rows, out);
            } else if step < last {
                let (turn, part) = ((step - 1) / 3, (step - 1) % 3);
                self.turn(turn, part, self.places(first, rows, turn), out);
            } else {
                out.push(EPILOGUE);
                store_span(out, self.output.at(first, WORD), rows * WORD);
            }
        });
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "spmv",
    summary: "sparse matrix times vector: a row for each lane, gathers of columns, values and vector",
    source: "SHOC spmv_csr_scalar_kernel, as shipped with MGPUSim v4.2.0; one of Mosaic's applications (MICRO 2017)",
    schema: typed::schema::<SpmvOptions>,
    resolve: typed::resolve::<SpmvOptions>,
    build: |options, size: &Size| Ok(Box::new(typed::parse::<SpmvOptions>(options)?.build(size)?)),
};
