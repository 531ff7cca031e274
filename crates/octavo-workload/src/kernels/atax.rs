//! Transposed matrix times matrix times vector, `y = Aᵀ(Ax)` (PolyBench/GPU ATAX): two launches of work-groups of 256.
//!
//! In the first a thread has a row of `A` and goes along it: 64 rows for a wavefront, a line of each for every element.
//! In the second a thread has a column and goes down it, all lanes side by side. The sum is an element of the result,
//! and stored after each addition: the compiler cannot know that the result does not overlap the operands.
//!
//! Scale 1 is the input of UVMSmart's benchmarks (ISCA 2019), 1200 x 1200.

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{WAVEFRONT_LANES, load_lanes, load_span, push_all, steps, store_span};
use crate::kernels::matrix::{ELEMENT_BYTES, Matrix, checked_side, scaled_side};

/// Threads of a work-group, each with a row or a column.
pub const BLOCK: u64 = 256;
const LANES: u64 = WAVEFRONT_LANES as u64;
/// Side at scale 1.
const PUBLISHED_SIDE: u64 = 1200;

/// Options of `atax`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AtaxOptions {
    /// Rows of the matrix. Default at scale 1: 1200 (UVMSmart's benchmarks).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Columns of the matrix. Default: as for `rows`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<u64>,
}

/// The two products.
pub struct Atax {
    rows: u64,
    columns: u64,
    matrix: Matrix,
    /// `x`, which the first launch reads.
    vector: Buffer,
    /// `tmp`, written by the first launch, and `y`, by the second.
    sums: [Buffer; 2],
    buffers: Vec<Buffer>,
}

impl Atax {
    /// With a matrix of `rows` x `columns`.
    ///
    /// # Errors
    /// A matrix without elements, or of more than 2^20 a side.
    pub fn new(rows: u64, columns: u64) -> Result<Self, OptionError> {
        let (rows, columns) = (checked_side("rows", rows, 1)?, checked_side("columns", columns, 1)?);
        let mut space = AddressSpace::default();
        let matrix = Matrix::allocate(&mut space, "A", rows, columns);
        let [vector, y, tmp] = [("x", columns), ("y", columns), ("tmp", rows)]
            .map(|(name, length)| space.allocate(name, length * ELEMENT_BYTES));
        Ok(Self { rows, columns, matrix, vector, sums: [tmp, y], buffers: space.buffers().to_vec() })
    }

    fn from_options(options: &AtaxOptions, scale: f64) -> Result<Self, OptionError> {
        let side = |given: Option<u64>| given.map_or_else(|| scaled_side(PUBLISHED_SIDE, scale, 1), Ok);
        Self::new(side(options.rows)?, side(options.columns)?)
    }

    /// Threads that have something to do in a launch, and how many elements each adds up.
    fn shape(&self, launch: u32) -> (u64, u64) {
        if launch == 0 { (self.rows, self.columns) } else { (self.columns, self.rows) }
    }

    /// Adds element `step` to the sums of `count` threads from `first` on.
    fn add(&self, launch: u32, (first, count): (u64, u64), step: u64, out: &mut OpSink<'_>) {
        let (of_each, factors) = if launch == 0 { (true, &self.vector) } else { (false, &self.sums[0]) };
        let place = |thread: u64| if of_each { self.matrix.at(thread, step) } else { self.matrix.at(step, thread) };
        let sums = self.sums[launch as usize].at(first, ELEMENT_BYTES);
        if step == 0 {
            push_all(out, &cost::ENTRY);
            load_span(out, sums, count * ELEMENT_BYTES);
        }
        load_lanes(out, (first..first + count).map(place));
        load_span(out, factors.at(step, ELEMENT_BYTES), ELEMENT_BYTES);
        push_all(out, &cost::ADD);
        store_span(out, sums, count * ELEMENT_BYTES);
    }
}

/// Instructions: vector, scalar, local data, branch. Counted by hand from the program, not from a compiled kernel.
mod cost {
    use octavo_program::Op;

    /// The thread's number, whether it has a row or column, and where that begins.
    pub const ENTRY: [Op; 3] = [Op::mix(0, 2, 0, 0), Op::WAIT, Op::mix(8, 2, 0, 1)];
    /// The product is added, and the next element is found.
    pub const ADD: [Op; 2] = [Op::WAIT, Op::mix(3, 2, 0, 1)];
}

impl Workload for Atax {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers()).inputs(["A", "x", "y", "tmp"]).outputs(["y"]).build()
    }

    fn launches(&self) -> u32 {
        2
    }

    fn launch(&self, index: u32) -> Launch {
        let work_groups = self.shape(index).0.div_ceil(BLOCK) as u32;
        let kernel = if index == 0 { "atax_kernel1" } else { "atax_kernel2" };
        Launch { kernel: kernel.into(), work_groups, wavefronts_per_group: (BLOCK / LANES) as u32 }
    }

    fn resources(&self, _index: u32) -> Resources {
        Resources { vector_registers: 12, scalar_registers: 16, local_data_bytes: 0 }
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let (threads, elements) = self.shape(launch);
        let first = u64::from(group) * BLOCK + u64::from(wavefront) * LANES;
        let count = threads.saturating_sub(first).min(LANES);
        // Sides are below 2^20.
        let parts = if count == 0 { 0 } else { elements as u32 };
        steps(cursor, out, parts, |step, out| self.add(launch, (first, count), u64::from(step), out));
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "atax",
    summary: "transposed matrix times matrix times vector: rows by gathers, then columns; 5.5 MB",
    source: "PolyBench/GPU ATAX, atax_kernel1 and atax_kernel2, 1200 x 1200 as in UVMSmart's benchmarks (ISCA 2019)",
    schema: typed::schema::<AtaxOptions>,
    resolve: typed::resolve::<AtaxOptions>,
    build: |options, size: &Size| Ok(Box::new(Atax::from_options(&typed::parse(options)?, size.scale)?)),
};
