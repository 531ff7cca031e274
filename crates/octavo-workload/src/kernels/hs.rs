//! Heat of a chip, step by step (Rodinia hotspot): blocks of 16 x 16 threads that take several steps at a time.
//!
//! A work-group loads 16 x 16 elements of temperature and power, those outside the grid left out, and takes `pyramid`
//! steps in local memory. At each step one more ring at its border is out of date. So it stores only the inner
//! 16 - 2 `pyramid` elements a side, and groups overlap by the rest. Temperatures swap between two arrays from launch
//! to launch. Groups are numbered along rows: with a contiguous range for each GPU, pages at the borders of the ranges
//! are shared.
//!
//! Scale 1 is the largest input that Rodinia ships, 1024 x 1024, with its pyramid height of 2. With `input`, it is the
//! 16384 x 16384 of the Grace Hopper study, with the two steps of Rodinia's script. The study does not name its steps.

use std::ops::Range;

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{parts, push_all};
use crate::inputs::{self, Input};
use crate::kernels::last_written;
use crate::kernels::matrix::{Matrix, Rows, checked_side, overlap, scaled_side};
use crate::scale;

/// Threads along each side of a work-group.
pub const BLOCK: i64 = 16;
/// Rows of a wavefront, and wavefronts of a work-group.
const WAVEFRONT_ROWS: i64 = 4;
const WAVEFRONTS: u32 = (BLOCK / WAVEFRONT_ROWS) as u32;
/// Sides are multiples of it, so that rows share no line.
const SIDE_GRANULE: u64 = 32;
/// Sides at scale 1: Rodinia's largest input, and the Grace Hopper study's input.
const SIDES: [u64; 2] = [1024, 16 << 10];
/// Steps in all: Rodinia's code, and Rodinia's script.
const STEPS: [u32; 2] = [60, 2];

/// Options of `hs`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HsOptions {
    /// The source of the input: `own` or `grace-hopper`. Default `own`.
    #[serde(skip_serializing_if = "Input::is_own")]
    pub input: Input,
    /// Rows and columns, in elements, a multiple of 32. Default at scale 1: 1024 (the largest input of Rodinia);
    /// 16384 (Grace Hopper study).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<u64>,
    /// Steps of one launch, 1 to 7. Default 2 (Rodinia's script).
    pub pyramid: u32,
    /// Steps in all, a multiple of `pyramid`. Default 60 (Rodinia's code); 2 with the input of the Grace Hopper study,
    /// which does not say (Rodinia's script).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
}

impl HsOptions {
    fn steps(&self) -> u32 {
        self.steps.unwrap_or(self.input.either(STEPS[0], STEPS[1]))
    }
}

impl Default for HsOptions {
    fn default() -> Self {
        Self { input: Input::Own, side: None, pyramid: 2, steps: None }
    }
}

/// A simulation of one chip.
pub struct Hs {
    space: AddressSpace,
    /// Read by even launches and written by odd ones, and the other way round.
    temperatures: [Matrix; 2],
    power: Matrix,
    side: i64,
    pyramid: i64,
    launches: u32,
}

impl Hs {
    /// `steps` steps on `side` x `side` elements, `pyramid` a launch.
    ///
    /// # Errors
    /// A side that is not a multiple of 32; a pyramid that leaves nothing of a block; steps that are not a multiple of
    /// it. With such steps, the program's last launch would leave out parts of the grid.
    pub fn new(side: u64, pyramid: u32, steps: u32) -> Result<Self, OptionError> {
        let side = checked_side("side", side, SIDE_GRANULE)?;
        if !(1..=7).contains(&pyramid) {
            return Err(OptionError::new("pyramid", format!("expected 1 to 7, found {pyramid}")));
        }
        if steps == 0 || !steps.is_multiple_of(pyramid) {
            return Err(OptionError::new("steps", format!("expected a multiple of {pyramid}, found {steps}")));
        }
        scale::work_groups("side", side.div_ceil(BLOCK as u64 - 2 * u64::from(pyramid)).pow(2))?;
        let mut space = AddressSpace::default();
        let mut array = |name| Matrix::allocate(&mut space, name, side, side);
        let temperatures = [array("MatrixTemp0"), array("MatrixTemp1")];
        let power = array("MatrixPower");
        let (side, pyramid, launches) = (side as i64, i64::from(pyramid), steps / pyramid);
        Ok(Self { space, temperatures, power, side, pyramid, launches })
    }

    fn from_options(options: &HsOptions, scale: f64) -> Result<Self, OptionError> {
        let usual = options.input.either(SIDES[0], SIDES[1]);
        let side = options.side.map_or_else(|| scaled_side(usual, scale, SIDE_GRANULE), Ok)?;
        Self::new(side, options.pyramid, options.steps())
    }

    /// Rows and columns that a work-group stores.
    fn stored(&self) -> i64 {
        BLOCK - 2 * self.pyramid
    }

    fn groups_x(&self) -> i64 {
        (self.side as u64).div_ceil(self.stored() as u64) as i64
    }

    fn patch(&self, group: u32, wavefront: u32) -> Patch {
        let (x, y) = (i64::from(group) % self.groups_x(), i64::from(group) / self.groups_x());
        let (top, left) = (y * self.stored() - self.pyramid, x * self.stored() - self.pyramid);
        let row = top + i64::from(wavefront) * WAVEFRONT_ROWS;
        let grid = 0..self.side;
        Patch {
            rows: overlap(&(row..row + WAVEFRONT_ROWS), &grid),
            columns: overlap(&(left..left + BLOCK), &grid),
            block: (top..top + BLOCK, left..left + BLOCK),
        }
    }

    /// First part of a wavefront: its rows to local memory.
    fn load(&self, from: &Matrix, patch: &Patch, out: &mut OpSink<'_>) {
        push_all(out, &cost::ENTRY);
        if let Some(rows) = Rows::block(&patch.rows, &patch.columns) {
            push_all(out, &cost::BEFORE_LOADS);
            from.load(out, rows);
            self.power.load(out, rows);
            push_all(out, &cost::AFTER_LOADS);
        }
        push_all(out, &cost::BEFORE_STEPS);
    }

    /// One part for each step; after the last the result is stored.
    fn step(&self, step: i64, to: &Matrix, patch: &Patch, out: &mut OpSink<'_>) {
        let computed = patch.within(step + 1);
        push_all(out, &cost::BEFORE_STEP);
        if computed.is_some() {
            push_all(out, &cost::COMPUTE);
        }
        push_all(out, &cost::AFTER_COMPUTING);
        if step + 1 < self.pyramid {
            out.push(cost::BRANCH);
            if computed.is_some() {
                push_all(out, &cost::COPY_BACK);
            }
            push_all(out, &cost::NEXT_STEP);
        } else {
            push_all(out, &cost::LAST_STEP);
            if let Some(rows) = computed {
                push_all(out, &cost::BEFORE_STORE);
                to.store(out, rows);
            }
            out.push(Op::END);
        }
    }
}

/// A wavefront's rows and columns inside the grid.
struct Patch {
    rows: Range<i64>,
    columns: Range<i64>,
    /// Rows and columns of its work-group, inside the grid or not.
    block: (Range<i64>, Range<i64>),
}

impl Patch {
    /// The part that is at least `rings` elements away from the border of the work-group's block.
    fn within(&self, rings: i64) -> Option<Rows> {
        let inner = |range: &Range<i64>| range.start + rings..range.end - rings;
        let (rows, columns) = (inner(&self.block.0), inner(&self.block.1));
        Rows::block(&overlap(&self.rows, &rows), &overlap(&self.columns, &columns))
    }
}

/// Instructions of the compiled GCN3 kernel: vector, scalar, local data, branch.
mod cost {
    use octavo_program::Op;

    pub const ENTRY: [Op; 3] = [Op::mix(0, 1, 0, 0), Op::WAIT, Op::mix(8, 10, 0, 1)];
    pub const BEFORE_LOADS: [Op; 3] = [Op::mix(2, 0, 0, 0), Op::WAIT, Op::mix(6, 0, 0, 0)];
    pub const AFTER_LOADS: [Op; 3] = [Op::mix(3, 0, 0, 0), Op::WAIT, Op::mix(0, 0, 1, 0)];
    pub const BEFORE_STEPS: [Op; 8] = [
        Op::mix(0, 2, 0, 0),
        Op::WAIT,
        Op::BARRIER,
        Op::WAIT,
        Op::mix(0, 0, 0, 1),
        Op::mix(9, 16, 0, 0),
        Op::WAIT,
        Op::mix(27, 3, 0, 1),
    ];
    pub const BEFORE_STEP: [Op; 3] = [Op::mix(1, 2, 0, 1), Op::mix(3, 9, 0, 0), Op::mix(0, 2, 0, 1)];
    pub const COMPUTE: [Op; 9] = [
        Op::mix(0, 0, 6, 0),
        Op::WAIT,
        Op::mix(1, 0, 0, 0),
        Op::WAIT,
        Op::mix(1, 0, 0, 0),
        Op::WAIT,
        Op::mix(1, 0, 0, 0),
        Op::WAIT,
        Op::mix(6, 0, 1, 0),
    ];
    pub const AFTER_COMPUTING: [Op; 5] = [Op::mix(0, 3, 0, 0), Op::WAIT, Op::BARRIER, Op::WAIT, Op::mix(0, 0, 0, 1)];
    pub const BRANCH: Op = Op::mix(0, 1, 0, 1);
    pub const COPY_BACK: [Op; 3] = [Op::mix(0, 0, 1, 0), Op::WAIT, Op::mix(0, 0, 1, 1)];
    pub const NEXT_STEP: [Op; 5] = [Op::mix(0, 4, 0, 0), Op::WAIT, Op::BARRIER, Op::WAIT, BRANCH];
    pub const LAST_STEP: [Op; 2] = [BRANCH, BRANCH];
    pub const BEFORE_STORE: [Op; 2] = [Op::mix(5, 0, 1, 0), Op::WAIT];
}

impl Workload for Hs {
    fn buffers(&self) -> &[Buffer] {
        self.space.buffers()
    }

    fn host_side(&self) -> HostSide {
        let result = last_written(["MatrixTemp0", "MatrixTemp1"], self.launches());
        let stated = HostSide::of(self.buffers()).inputs(["MatrixTemp0", "MatrixPower"]).scratch(["MatrixTemp1"]);
        stated.outputs([result]).build()
    }

    fn launches(&self) -> u32 {
        self.launches
    }

    fn launch(&self, _index: u32) -> Launch {
        let work_groups = (self.groups_x() * self.groups_x()) as u32;
        Launch { kernel: "calculate_temp".into(), work_groups, wavefronts_per_group: WAVEFRONTS }
    }

    fn resources(&self, _index: u32) -> Resources {
        Resources { vector_registers: 20, scalar_registers: 21, local_data_bytes: 3072 }
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let patch = self.patch(group, wavefront);
        let from = launch as usize % 2;
        parts(cursor, out, |part, out| match part.checked_sub(1) {
            None => self.load(&self.temperatures[from], &patch, out),
            Some(step) => self.step(step.into(), &self.temperatures[1 - from], &patch, out),
        });
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "hs",
    summary: "heat of a chip, two steps a launch in overlapping blocks (Rodinia hotspot); 12 MB, stencil",
    source: "Rodinia hotspot, calculate_temp, 1024 x 1024",
    schema: typed::schema::<HsOptions>,
    resolve: |options| inputs::resolve(options, |own: &HsOptions| vec![("steps", own.steps().into())]),
    build: |options, size: &Size| Ok(Box::new(Hs::from_options(&typed::parse(options)?, size.scale)?)),
};
