//! Electric and magnetic field on a grid, step by step (PolyBench/GPU FDTD-2D): three launches a step, blocks of 32 x
//! 8.
//!
//! The first updates `ey` from `hz` and the row of `hz` above, and its first row from the source. The second updates
//! `ex` from `hz` and the column left of it. The third updates `hz` from both, and from the column right and the row
//! below. A wavefront has two rows of its block; one with the first row of the grid takes both ways through the first
//! kernel. `ex` has a column and `ey` a row more than the grid.
//!
//! Scale 1 is the input of UVMSmart's benchmarks (ISCA 2019), 1200 x 1200 with five steps; PolyBench's own are 2048 x
//! 2048 and 500.

use std::ops::Range;

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{load_lanes, load_span, push_all, store_lanes};
use crate::kernels::matrix::{ELEMENT_BYTES, Matrix, checked_side, scaled_side};
use crate::scale;

/// Columns and rows of a work-group.
pub const BLOCK: [u64; 2] = [32, 8];
/// Rows of a wavefront.
const WAVEFRONT_ROWS: u64 = 2;
/// Side and steps at scale 1.
const PUBLISHED_SIDE: u64 = 1200;
const PUBLISHED_STEPS: u32 = 5;

/// Options of `fdtd2d`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fdtd2dOptions {
    /// Rows of the grid. Default at scale 1: 1200 (UVMSmart's benchmarks).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Columns of the grid. Default: as for `rows`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<u64>,
    /// Steps, three launches each, at least 1. Default 5 (UVMSmart's benchmarks).
    pub steps: u32,
}

impl Default for Fdtd2dOptions {
    fn default() -> Self {
        Self { rows: None, columns: None, steps: PUBLISHED_STEPS }
    }
}

/// The fields of one grid.
pub struct Fdtd2d {
    rows: u64,
    columns: u64,
    steps: u32,
    /// `_fict_`: one value for each step.
    source: Buffer,
    ex: Matrix,
    ey: Matrix,
    hz: Matrix,
    buffers: Vec<Buffer>,
}

impl Fdtd2d {
    /// `steps` on a grid of `rows` x `columns`.
    ///
    /// # Errors
    /// A grid without points, or of more than 2^20 a side or 2^32 work-groups; no steps, or more than can be numbered.
    pub fn new(rows: u64, columns: u64, steps: u32) -> Result<Self, OptionError> {
        let (rows, columns) = (checked_side("rows", rows, 1)?, checked_side("columns", columns, 1)?);
        scale::work_groups("rows", columns.div_ceil(BLOCK[0]) * rows.div_ceil(BLOCK[1]))?;
        let steps = scale::repeated("steps", steps, 3, 0)?;
        let mut space = AddressSpace::default();
        let source = space.allocate("_fict_", u64::from(steps) * ELEMENT_BYTES);
        let ex = Matrix::allocate(&mut space, "ex", rows, columns + 1);
        let ey = Matrix::allocate(&mut space, "ey", rows + 1, columns);
        let hz = Matrix::allocate(&mut space, "hz", rows, columns);
        Ok(Self { rows, columns, steps, source, ex, ey, hz, buffers: space.buffers().to_vec() })
    }

    fn from_options(options: &Fdtd2dOptions, scale: f64) -> Result<Self, OptionError> {
        let side = |given: Option<u64>| given.map_or_else(|| scaled_side(PUBLISHED_SIDE, scale, 1), Ok);
        Self::new(side(options.rows)?, side(options.columns)?, options.steps)
    }

    /// The points of a wavefront that are inside the grid.
    fn patch(&self, group: u32, wavefront: u32) -> Patch {
        let across = self.columns.div_ceil(BLOCK[0]);
        let (x, y) = (u64::from(group) % across, u64::from(group) / across);
        let (left, top) = (x * BLOCK[0], y * BLOCK[1] + u64::from(wavefront) * WAVEFRONT_ROWS);
        let rows = top..(top + WAVEFRONT_ROWS).min(self.rows).max(top);
        Patch { rows, columns: left..(left + BLOCK[0]).min(self.columns) }
    }

    fn update_ey(&self, step: u64, patch: &Patch, out: &mut OpSink<'_>) {
        let (first, others) = patch.split_rows(1);
        if !first.is_empty() {
            load_span(out, self.source.at(step, ELEMENT_BYTES), ELEMENT_BYTES);
            push_all(out, &cost::COPY);
            first.store(out, &self.ey);
        }
        if !others.is_empty() {
            others.load(out, &self.ey);
            others.load(out, &self.hz);
            others.up().load(out, &self.hz);
            push_all(out, &cost::UPDATE);
            others.store(out, &self.ey);
        }
    }

    fn update_ex(&self, patch: &Patch, out: &mut OpSink<'_>) {
        let inner = patch.without_first_column();
        if !inner.is_empty() {
            inner.load(out, &self.ex);
            inner.load(out, &self.hz);
            inner.left().load(out, &self.hz);
            push_all(out, &cost::UPDATE);
            inner.store(out, &self.ex);
        }
    }

    fn update_hz(&self, patch: &Patch, out: &mut OpSink<'_>) {
        if !patch.is_empty() {
            patch.load(out, &self.hz);
            patch.right().load(out, &self.ex);
            patch.load(out, &self.ex);
            patch.down().load(out, &self.ey);
            patch.load(out, &self.ey);
            push_all(out, &cost::UPDATE);
            patch.store(out, &self.hz);
        }
    }
}

/// A few rows of neighbouring columns; at most 64 points.
#[derive(Clone)]
struct Patch {
    rows: Range<u64>,
    columns: Range<u64>,
}

impl Patch {
    fn is_empty(&self) -> bool {
        self.rows.is_empty() || self.columns.is_empty()
    }

    /// The rows above row `at`, and the others.
    fn split_rows(&self, at: u64) -> (Self, Self) {
        let middle = at.clamp(self.rows.start, self.rows.end);
        let part = |rows| Self { rows, columns: self.columns.clone() };
        (part(self.rows.start..middle), part(middle..self.rows.end))
    }

    fn without_first_column(&self) -> Self {
        Self { rows: self.rows.clone(), columns: self.columns.start.max(1)..self.columns.end }
    }

    fn up(&self) -> Self {
        Self { rows: self.rows.start - 1..self.rows.end - 1, columns: self.columns.clone() }
    }

    fn down(&self) -> Self {
        Self { rows: self.rows.start + 1..self.rows.end + 1, columns: self.columns.clone() }
    }

    fn left(&self) -> Self {
        Self { rows: self.rows.clone(), columns: self.columns.start - 1..self.columns.end - 1 }
    }

    fn right(&self) -> Self {
        Self { rows: self.rows.clone(), columns: self.columns.start + 1..self.columns.end + 1 }
    }

    fn addresses(&self, field: &Matrix) -> impl Iterator<Item = u64> {
        self.rows.clone().flat_map(move |row| self.columns.clone().map(move |column| field.at(row, column)))
    }

    fn load(&self, out: &mut OpSink<'_>, field: &Matrix) {
        load_lanes(out, self.addresses(field));
    }

    fn store(&self, out: &mut OpSink<'_>, field: &Matrix) {
        store_lanes(out, self.addresses(field), ELEMENT_BYTES);
    }
}

/// Instructions: vector, scalar, local data, branch. Counted by hand from the program, not from a compiled kernel.
mod cost {
    use octavo_program::Op;

    /// Row and column of the thread, whether the grid has them, and where they lie.
    pub const ENTRY: [Op; 3] = [Op::mix(0, 2, 0, 0), Op::WAIT, Op::mix(14, 4, 0, 2)];
    /// The source's value is all there is to it.
    pub const COPY: [Op; 2] = [Op::WAIT, Op::mix(1, 0, 0, 0)];
    /// Differences, times a constant, subtracted.
    pub const UPDATE: [Op; 2] = [Op::WAIT, Op::mix(4, 0, 0, 0)];
}

impl Workload for Fdtd2d {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers()).inputs(["_fict_", "ex", "ey", "hz"]).outputs(["hz"]).build()
    }

    fn launches(&self) -> u32 {
        3 * self.steps
    }

    fn launch(&self, index: u32) -> Launch {
        let kernel = ["fdtd_step1_kernel", "fdtd_step2_kernel", "fdtd_step3_kernel"][index as usize % 3];
        let work_groups = (self.columns.div_ceil(BLOCK[0]) * self.rows.div_ceil(BLOCK[1])) as u32;
        Launch { kernel: kernel.into(), work_groups, wavefronts_per_group: (BLOCK[1] / WAVEFRONT_ROWS) as u32 }
    }

    fn resources(&self, _index: u32) -> Resources {
        Resources { vector_registers: 16, scalar_registers: 16, local_data_bytes: 0 }
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, _cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let patch = self.patch(group, wavefront);
        push_all(out, &cost::ENTRY);
        match launch % 3 {
            0 => self.update_ey((launch / 3).into(), &patch, out),
            1 => self.update_ex(&patch, out),
            _ => self.update_hz(&patch, out),
        }
        out.push(Op::END);
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "fdtd2d",
    summary: "electric and magnetic field on a grid: three launches a step; 16 MB, stencil",
    source: "PolyBench/GPU FDTD-2D, 1200 x 1200 and five steps as in UVMSmart's benchmarks (ISCA 2019)",
    schema: typed::schema::<Fdtd2dOptions>,
    resolve: typed::resolve::<Fdtd2dOptions>,
    build: |options, size: &Size| Ok(Box::new(Fdtd2d::from_options(&typed::parse(options)?, size.scale)?)),
};
