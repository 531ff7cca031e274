//! Speckle-reducing anisotropic diffusion of an image (Rodinia srad, version 2): two launches an iteration.
//!
//! Blocks of 16 x 16 threads. The first kernel loads the rows above and below its block, the columns left and right of
//! it, and the block. All threads load the columns, so that 16 of them side by side load one element. It writes the
//! coefficient of diffusion and four derivatives. The second kernel reads those, and the coefficients below and right,
//! and updates the image. Blocks at the border first load what lies beyond it, as the program does. Above and below the
//! image that is not the program's memory, and left out. Left and right it is the end of the row before or the start of
//! the next.
//!
//! Groups are numbered along rows: with a contiguous range for each GPU, pages at the borders of the ranges are shared.
//! Scale 1 is the input of Rodinia's script, 2048 x 2048, with its two iterations. With `input`, it is the Grace Hopper
//! study's: 20480 x 20480, 12 iterations, and an image that a kernel of its own writes first. Between iterations the
//! host needs statistics of a part of the image: Rodinia's program copies all of it to the host, a program without
//! copies reads that part. Rodinia's copy back, of what the host has not changed, is left out.

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, Options, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{parts, push_all};
use crate::inputs::{self, Input};
use crate::kernels::matrix::{ELEMENT_BYTES, Matrix, Rows, checked_side, scaled_side};
use crate::scale;

/// Threads along each side of a work-group.
pub const BLOCK: u64 = 16;
/// Rows of a wavefront.
const WAVEFRONT_ROWS: u64 = 4;
/// Sides at scale 1: Rodinia's script, and the Grace Hopper study.
const PUBLISHED_SIDES: [u64; 2] = [2048, 20 << 10];
const PUBLISHED_ITERATIONS: [u32; 2] = [2, 12];
/// Rows of the part whose statistics the host needs, in Rodinia's script.
const REGION_ROWS: u64 = 128;

/// Options of `srad`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SradOptions {
    /// The source of the input: `own` or `grace-hopper`. Default `own`.
    #[serde(skip_serializing_if = "Input::is_own")]
    pub input: Input,
    /// Rows of the image, a multiple of 16. Default at scale 1: 2048 (Rodinia's script), 20480 (Grace Hopper study).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Columns of the image, a multiple of 16. Default: as for `rows`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<u64>,
    /// Iterations, two launches each, at least 1. Default 2 (Rodinia's script); 12 (Grace Hopper study).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u32>,
    /// Which processor writes the image first: `host`, or `gpu` in a launch before the others. Default `host`
    /// (Rodinia); `gpu` (Grace Hopper study).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initialised_by: Option<Side>,
    /// Rows of the image, from the first, that the host reads before each further iteration. Default: all (Rodinia
    /// copies the image); with the input of the Grace Hopper study 128 of 20480 (the region of Rodinia's script), or as
    /// much of a smaller image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_rows: Option<u64>,
}

/// A side of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The host's threads.
    Host,
    /// A kernel.
    Gpu,
}

impl SradOptions {
    fn iterations(&self) -> u32 {
        self.iterations.unwrap_or(self.input.either(PUBLISHED_ITERATIONS[0], PUBLISHED_ITERATIONS[1]))
    }

    fn initialised_by(&self) -> Side {
        self.initialised_by.unwrap_or(self.input.either(Side::Host, Side::Gpu))
    }

    fn read_rows(&self, rows: u64) -> u64 {
        let share = REGION_ROWS as f64 / PUBLISHED_SIDES[1] as f64;
        let region = || ((rows as f64 * share).round() as u64).max(1);
        self.read_rows.unwrap_or_else(|| self.input.either(rows, region()))
    }
}

/// Diffusion of one image.
pub struct Srad {
    space: AddressSpace,
    image: Matrix,
    coefficients: Matrix,
    /// East, west, south, north.
    derivatives: [Matrix; 4],
    rows: u64,
    columns: u64,
    iterations: u32,
    initialised_by: Side,
    read_rows: u64,
}

impl Srad {
    /// `iterations` on `rows` x `columns` elements that the host writes first; it reads all of them between iterations.
    ///
    /// # Errors
    /// Sizes that are not multiples of [`BLOCK`], which the program refuses, or no iterations.
    pub fn new(rows: u64, columns: u64, iterations: u32) -> Result<Self, OptionError> {
        let rows = checked_side("rows", rows, BLOCK)?;
        let columns = checked_side("columns", columns, BLOCK)?;
        scale::work_groups("rows", rows / BLOCK * (columns / BLOCK))?;
        let iterations = scale::repeated("iterations", iterations, 2, 1)?;
        let mut space = AddressSpace::default();
        let mut array = |name| Matrix::allocate(&mut space, name, rows, columns);
        let (image, coefficients) = (array("J"), array("C"));
        let derivatives = ["E_C", "W_C", "S_C", "N_C"].map(array);
        let (initialised_by, read_rows) = (Side::Host, rows);
        Ok(Self { space, image, coefficients, derivatives, rows, columns, iterations, initialised_by, read_rows })
    }

    /// The same with an image that `side` writes first.
    #[must_use]
    pub fn initialised_by(self, side: Side) -> Self {
        Self { initialised_by: side, ..self }
    }

    /// The same with a host that reads the first `rows` rows between iterations.
    ///
    /// # Errors
    /// None, or more than the image has.
    pub fn read_rows(self, rows: u64) -> Result<Self, OptionError> {
        if !(1..=self.rows).contains(&rows) {
            return Err(OptionError::new("read_rows", format!("expected 1 to {}, found {rows}", self.rows)));
        }
        Ok(Self { read_rows: rows, ..self })
    }

    fn from_options(options: &SradOptions, scale: f64) -> Result<Self, OptionError> {
        let published = options.input.either(PUBLISHED_SIDES[0], PUBLISHED_SIDES[1]);
        let side = |given: Option<u64>| given.map_or_else(|| scaled_side(published, scale, BLOCK), Ok);
        let srad = Self::new(side(options.rows)?, side(options.columns)?, options.iterations())?;
        let read_rows = options.read_rows(srad.rows);
        srad.initialised_by(options.initialised_by()).read_rows(read_rows)
    }

    /// What a launch does.
    fn step(&self, launch: u32) -> Step {
        match launch.checked_sub(self.first_iteration()) {
            None => Step::Initialise,
            Some(launch) if launch.is_multiple_of(2) => Step::Derive,
            Some(_) => Step::Update,
        }
    }

    /// The launch that the first iteration begins with.
    fn first_iteration(&self) -> u32 {
        u32::from(self.initialised_by == Side::Gpu)
    }

    /// The kernel that writes the image first: each thread its element.
    fn initialise(&self, patch: &Patch, out: &mut OpSink<'_>) {
        push_all(out, &cost::INITIALISE);
        self.image.store(out, patch.block());
        out.push(Op::END);
    }

    fn patch(&self, group: u32, wavefront: u32) -> Patch {
        let groups_x = self.columns / BLOCK;
        let (x, y) = (u64::from(group) % groups_x, u64::from(group) / groups_x);
        Patch {
            top: y * BLOCK,
            left: x * BLOCK,
            row: y * BLOCK + u64::from(wavefront) * WAVEFRONT_ROWS,
            rows: self.rows,
            columns: self.columns,
        }
    }

    /// First part of the first kernel: all loads.
    fn load_image(&self, patch: &Patch, out: &mut OpSink<'_>) {
        let image = &self.image;
        push_all(out, &cost::FIRST_ENTRY);
        [patch.above(), patch.below()].into_iter().flatten().for_each(|rows| image.load(out, rows));
        push_all(out, &cost::AFTER_ABOVE_AND_BELOW);
        if let Some(row) = patch.first_or_last_row() {
            out.push(cost::BEFORE_REPLACED);
            image.load(out, row);
            push_all(out, &cost::TO_LOCAL);
        }
        out.push(cost::BEFORE_SIDES);
        [patch.left(), patch.right()].into_iter().flatten().for_each(|rows| image.load(out, rows));
        push_all(out, &cost::AFTER_SIDES);
        if let Some(column) = patch.first_or_last_column() {
            out.push(cost::BEFORE_REPLACED);
            image.load(out, column);
            push_all(out, &cost::TO_LOCAL);
        }
        out.push(cost::BEFORE_BLOCK);
        image.load(out, patch.block());
        push_all(out, &cost::AFTER_BLOCK);
    }

    /// Second part of the first kernel.
    fn store_coefficients(&self, patch: &Patch, out: &mut OpSink<'_>) {
        push_all(out, &cost::DERIVE);
        self.coefficients.store(out, patch.block());
        self.derivatives.iter().for_each(|derivative| derivative.store(out, patch.block()));
        out.push(Op::END);
    }

    /// First part of the second kernel: all loads.
    fn load_coefficients(&self, patch: &Patch, out: &mut OpSink<'_>) {
        let coefficients = &self.coefficients;
        push_all(out, &cost::SECOND_ENTRY);
        self.image.load(out, patch.block());
        patch.below().into_iter().for_each(|row| coefficients.load(out, row));
        push_all(out, &cost::AFTER_IMAGE);
        if patch.is_last_row() {
            out.push(cost::BEFORE_REPLACED_COEFFICIENT);
            coefficients.load(out, patch.row_of_block(BLOCK - 1));
            push_all(out, &cost::TO_LOCAL);
        }
        out.push(cost::BEFORE_RIGHT);
        patch.right().into_iter().for_each(|column| coefficients.load(out, column));
        push_all(out, &cost::AFTER_RIGHT);
        if patch.is_last_column() {
            out.push(cost::BEFORE_REPLACED_COEFFICIENT);
            coefficients.load(out, patch.column_of_block(BLOCK - 1));
            push_all(out, &cost::TO_LOCAL);
        }
        let [east, west, south, north] = &self.derivatives;
        for matrix in [coefficients, north, south, west, east] {
            out.push(cost::BEFORE_OPERAND);
            matrix.load(out, patch.block());
        }
    }

    /// Second part of the second kernel.
    fn store_image(&self, patch: &Patch, out: &mut OpSink<'_>) {
        push_all(out, &cost::UPDATE);
        self.image.store(out, patch.block());
        out.push(Op::END);
    }
}

/// What a launch does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Initialise,
    /// The first kernel of an iteration.
    Derive,
    Update,
}

/// Where a wavefront's four rows and its work-group's block lie.
struct Patch {
    top: u64,
    left: u64,
    /// First of the wavefront's rows.
    row: u64,
    /// Rows of the image.
    rows: u64,
    columns: u64,
}

impl Patch {
    fn block(&self) -> Rows {
        Rows { row: self.row, step: 1, count: WAVEFRONT_ROWS as u32, column: self.left, columns: BLOCK }
    }

    /// Row `index` of the work-group's block, which all of its wavefronts load.
    fn row_of_block(&self, index: u64) -> Rows {
        Rows { row: self.top + index, count: 1, ..self.block() }
    }

    /// Column `index` of the work-group's block in the wavefront's rows.
    fn column_of_block(&self, index: u64) -> Rows {
        Rows { column: self.left + index, columns: 1, ..self.block() }
    }

    fn above(&self) -> Option<Rows> {
        (self.top > 0).then(|| Rows { row: self.top - 1, ..self.row_of_block(0) })
    }

    fn below(&self) -> Option<Rows> {
        (!self.is_last_row()).then(|| self.row_of_block(BLOCK))
    }

    /// The column left of the block: at the left border, the end of the row before.
    fn left(&self) -> Option<Rows> {
        if self.left > 0 {
            return Some(Rows { column: self.left - 1, ..self.column_of_block(0) });
        }
        let first = self.row.max(1);
        let count = (self.row + WAVEFRONT_ROWS - first) as u32;
        Some(Rows { row: first - 1, step: 1, count, column: self.columns - 1, columns: 1 })
    }

    /// The column right of the block: at the right border, the start of the next row.
    fn right(&self) -> Option<Rows> {
        if !self.is_last_column() {
            return Some(self.column_of_block(BLOCK));
        }
        let count = (self.rows - 1 - self.row).min(WAVEFRONT_ROWS) as u32;
        (count > 0).then_some(Rows { row: self.row + 1, step: 1, count, column: 0, columns: 1 })
    }

    /// The replacement for the row beyond the upper and lower border in blocks there.
    fn first_or_last_row(&self) -> Option<Rows> {
        if self.top == 0 {
            return Some(self.row_of_block(0));
        }
        self.is_last_row().then(|| self.row_of_block(BLOCK - 1))
    }

    /// The replacement for the column beyond the left and right border in blocks there.
    fn first_or_last_column(&self) -> Option<Rows> {
        if self.left == 0 {
            return Some(self.column_of_block(0));
        }
        self.is_last_column().then(|| self.column_of_block(BLOCK - 1))
    }

    fn is_last_row(&self) -> bool {
        self.top + BLOCK == self.rows
    }

    fn is_last_column(&self) -> bool {
        self.left + BLOCK == self.columns
    }
}

/// Instructions of the compiled GCN3 kernels: vector, scalar, local data, branch. Blocks inside the image and at its
/// border take different paths through a few scalar instructions; the instructions of inner blocks are counted for all.
mod cost {
    use octavo_program::Op;

    /// Chosen, not compiled: the place of an element, and a value made of it.
    pub const INITIALISE: [Op; 3] = [Op::mix(0, 2, 0, 0), Op::WAIT, Op::mix(12, 4, 0, 0)];

    pub const TO_LOCAL: [Op; 2] = [Op::WAIT, Op::mix(0, 0, 1, 0)];

    pub const FIRST_ENTRY: [Op; 3] = [Op::mix(0, 2, 0, 0), Op::WAIT, Op::mix(12, 4, 0, 0)];
    pub const AFTER_ABOVE_AND_BELOW: [Op; 7] = [
        Op::mix(3, 0, 0, 0),
        Op::WAIT,
        Op::mix(0, 0, 1, 1),
        Op::mix(0, 3, 0, 1),
        Op::mix(1, 2, 0, 1),
        Op::mix(3, 1, 0, 1),
        Op::mix(0, 1, 0, 1),
    ];
    pub const BEFORE_REPLACED: Op = Op::mix(5, 0, 0, 0);
    pub const BEFORE_SIDES: Op = Op::mix(13, 1, 0, 0);
    pub const AFTER_SIDES: [Op; 7] = [
        Op::mix(2, 0, 0, 0),
        Op::WAIT,
        Op::BARRIER,
        Op::WAIT,
        Op::mix(0, 0, 1, 1),
        Op::mix(2, 3, 0, 1),
        Op::mix(0, 1, 0, 1),
    ];
    pub const BEFORE_BLOCK: Op = Op::mix(6, 0, 0, 0);
    pub const AFTER_BLOCK: [Op; 8] =
        [Op::mix(14, 0, 0, 0), Op::WAIT, Op::BARRIER, Op::WAIT, Op::mix(7, 2, 1, 0), Op::WAIT, Op::BARRIER, Op::WAIT];
    pub const DERIVE: [Op; 12] = [
        Op::mix(2, 0, 5, 0),
        Op::WAIT,
        Op::mix(1, 0, 0, 0),
        Op::WAIT,
        Op::mix(4, 0, 0, 0),
        Op::WAIT,
        Op::mix(44, 0, 1, 0),
        Op::WAIT,
        Op::BARRIER,
        Op::WAIT,
        Op::mix(4, 0, 1, 0),
        Op::WAIT,
    ];

    pub const SECOND_ENTRY: [Op; 3] = [Op::mix(0, 2, 0, 0), Op::WAIT, Op::mix(14, 4, 0, 0)];
    pub const AFTER_IMAGE: [Op; 7] = [
        Op::mix(4, 2, 0, 0),
        Op::wait_until(1),
        Op::mix(0, 0, 1, 0),
        Op::WAIT,
        Op::BARRIER,
        Op::WAIT,
        Op::mix(0, 0, 1, 1),
    ];
    pub const BEFORE_REPLACED_COEFFICIENT: Op = Op::mix(6, 0, 0, 0);
    pub const BEFORE_RIGHT: Op = Op::mix(6, 0, 0, 0);
    pub const AFTER_RIGHT: [Op; 5] = [Op::mix(1, 2, 0, 0), Op::WAIT, Op::BARRIER, Op::WAIT, Op::mix(0, 0, 1, 1)];
    pub const BEFORE_OPERAND: Op = Op::mix(3, 0, 0, 0);
    pub const UPDATE: [Op; 20] = [
        Op::mix(4, 2, 0, 0),
        Op::WAIT,
        Op::BARRIER,
        Op::WAIT,
        Op::mix(4, 0, 1, 0),
        Op::WAIT,
        Op::BARRIER,
        Op::WAIT,
        Op::mix(0, 0, 4, 0),
        Op::WAIT,
        Op::mix(3, 0, 0, 0),
        Op::WAIT,
        Op::mix(1, 0, 0, 0),
        Op::WAIT,
        Op::mix(1, 0, 1, 0),
        Op::WAIT,
        Op::BARRIER,
        Op::WAIT,
        Op::mix(0, 0, 1, 0),
        Op::WAIT,
    ];
}

impl Workload for Srad {
    fn buffers(&self) -> &[Buffer] {
        self.space.buffers()
    }

    /// Between iterations the host reads the image for statistics.
    fn host_side(&self) -> HostSide {
        let stated = HostSide::of(self.buffers()).outputs(["J"]).scratch(["C", "E_C", "W_C", "S_C", "N_C"]);
        let stated = match self.initialised_by {
            Side::Host => stated.inputs(["J"]),
            Side::Gpu => stated,
        };
        let bytes = self.read_rows * self.columns * ELEMENT_BYTES;
        let further = (self.first_iteration()..self.launches()).step_by(2).skip(1);
        further.fold(stated, |side, launch| side.reads_part_before(launch, "J", bytes)).build()
    }

    fn launches(&self) -> u32 {
        self.first_iteration() + 2 * self.iterations
    }

    fn launch(&self, index: u32) -> Launch {
        let kernel = match self.step(index) {
            Step::Initialise => "initialise",
            Step::Derive => "srad_cuda_1",
            Step::Update => "srad_cuda_2",
        };
        let work_groups = (self.rows / BLOCK * (self.columns / BLOCK)) as u32;
        Launch { kernel: kernel.into(), work_groups, wavefronts_per_group: (BLOCK / WAVEFRONT_ROWS) as u32 }
    }

    fn resources(&self, index: u32) -> Resources {
        let (vector_registers, scalar_registers, local_data_bytes) = match self.step(index) {
            Step::Initialise => (12, 16, 0),
            Step::Derive => (21, 20, 6144),
            Step::Update => (15, 18, 5120),
        };
        Resources { vector_registers, scalar_registers, local_data_bytes }
    }

    fn waits_for_some(&self) -> bool {
        true
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let patch = self.patch(group, wavefront);
        let step = self.step(launch);
        parts(cursor, out, |part, out| match (step, part) {
            (Step::Initialise, _) => self.initialise(&patch, out),
            (Step::Derive, 0) => self.load_image(&patch, out),
            (Step::Derive, _) => self.store_coefficients(&patch, out),
            (Step::Update, 0) => self.load_coefficients(&patch, out),
            (Step::Update, _) => self.store_image(&patch, out),
        });
    }
}

/// `options` with their defaults; options of Rodinia's own program are not written out.
fn resolve(options: &Options) -> Result<Options, OptionError> {
    inputs::resolve(options, |own: &SradOptions| {
        let side = own.input.either(None, Some(("initialised_by", "gpu".into())));
        [("iterations", own.iterations().into())].into_iter().chain(side).collect()
    })
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "srad",
    summary: "diffusion of an image, two launches an iteration (Rodinia srad v2); 96 MB, stencil",
    source: "Rodinia srad_v2, srad_cuda_1 and srad_cuda_2, 2048 x 2048",
    schema: typed::schema::<SradOptions>,
    resolve,
    build: |options, size: &Size| Ok(Box::new(Srad::from_options(&typed::parse(options)?, size.scale)?)),
};
