//! Cheapest way through a grid, row by row (Rodinia pathfinder, `dynproc`): blocks of 256 threads that take several
//! rows at a time.
//!
//! A thread has a column. A work-group loads the costs so far of its 256 columns, those outside the grid left out, and
//! takes `pyramid` rows. For each it loads the row of the grid and adds it to the cheapest of three neighbours in local
//! memory. At each row one more column at either end is out of date, so that a group stores the inner 256 - 2
//! `pyramid`, and groups overlap by that. Costs swap between two arrays from launch to launch. The last launch may have
//! fewer rows: its blocks are wider, and also begin `pyramid` columns left of their place, like all blocks.
//!
//! Scale 1 is the input of Rodinia's script, 100,000 columns, 100 rows and a pyramid of 20; or, as `input` says, the
//! 100,000 x 20,000 of the Grace Hopper study. Both dimensions follow the root of the scale.

use std::ops::Range;

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{load_span, parts, push_all, store_span};
use crate::inputs::Input;
use crate::kernels::last_written;
use crate::kernels::matrix::overlap;
use crate::scale;

/// Threads of a work-group, each with a column.
pub const BLOCK: i64 = 256;
const LANES: i64 = 64;
/// Bytes of a cost.
const WORD: u64 = 4;
const COLUMNS: u64 = 100_000;
/// Rows at scale 1: Rodinia's script, and the Grace Hopper study.
const ROWS: [u64; 2] = [100, 20_000];
/// Rows or columns at most, so that bytes stay below 2^44.
const MOST: u64 = 1 << 20;
/// Rows of a launch at most: more would leave nothing of a block.
const MOST_PYRAMID: u32 = 127;

/// Options of `pathfinder`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PathfinderOptions {
    /// The source of the input: `own` or `grace-hopper`. Default `own`.
    #[serde(skip_serializing_if = "Input::is_own")]
    pub input: Input,
    /// Columns, 1 to 2^20. Default: 100,000 times the root of the scale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<u64>,
    /// Rows, 2 to 2^20. Default: 100 times the root of the scale (Rodinia's script), or 20,000 (Grace Hopper study).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Rows of one launch, 1 to 127. Default 20 (Rodinia's script).
    pub pyramid: u32,
}

impl Default for PathfinderOptions {
    fn default() -> Self {
        Self { input: Input::Own, columns: None, rows: None, pyramid: 20 }
    }
}

/// A search of one grid.
pub struct Pathfinder {
    /// All rows but the first.
    wall: Buffer,
    /// Read by even launches and written by odd ones, and the other way round.
    results: [Buffer; 2],
    buffers: Vec<Buffer>,
    columns: i64,
    rows: i64,
    pyramid: i64,
}

impl Pathfinder {
    /// `rows` x `columns` costs, `pyramid` rows a launch.
    ///
    /// # Errors
    /// A grid without columns, or of less than two rows: the first is where ways begin; more than 2^20 of either; a
    /// pyramid that leaves nothing of a block.
    pub fn new(columns: u64, rows: u64, pyramid: u32) -> Result<Self, OptionError> {
        let columns = within("columns", columns, 1)?;
        let rows = within("rows", rows, 2)?;
        if !(1..=MOST_PYRAMID).contains(&pyramid) {
            return Err(OptionError::new("pyramid", format!("expected 1 to {MOST_PYRAMID}, found {pyramid}")));
        }
        let mut space = AddressSpace::default();
        let results = ["gpuResult0", "gpuResult1"].map(|name| space.allocate(name, columns * WORD));
        let wall = space.allocate("gpuWall", (rows - 1) * columns * WORD);
        let buffers = space.buffers().to_vec();
        Ok(Self { wall, results, buffers, columns: columns as i64, rows: rows as i64, pyramid: pyramid.into() })
    }

    fn from_options(options: &PathfinderOptions, scale: f64) -> Result<Self, OptionError> {
        let scaled = |given: Option<u64>, published| given.map_or_else(|| scale::side(published, scale, 1), Ok);
        let rows = options.input.either(ROWS[0], ROWS[1]);
        let rows = scaled(options.rows, rows)?;
        if options.rows.is_none() && rows < 2 {
            return Err(OptionError::new("scale", format!("{scale} leaves {rows} rows, expected at least 2")));
        }
        Self::new(scaled(options.columns, COLUMNS)?, rows, options.pyramid)
    }

    /// Rows of the wall that a launch takes.
    fn steps(&self, launch: u32) -> Range<i64> {
        let first = i64::from(launch) * self.pyramid;
        first..(first + self.pyramid).min(self.rows - 1)
    }

    /// The columns of a wavefront (also outside the grid) and of its work-group.
    fn columns_of(&self, launch: u32, group: u32, wavefront: u32) -> [Range<i64>; 2] {
        let steps = self.steps(launch);
        let stored = BLOCK - 2 * (steps.end - steps.start);
        let first = stored * i64::from(group) - self.pyramid;
        let own = first + i64::from(wavefront) * LANES;
        [own..own + LANES, first..first + BLOCK]
    }

    /// The part of a wavefront's columns that lies inside the grid and `rings` away from the ends of its work-group's.
    fn inside(&self, [own, block]: &[Range<i64>; 2], rings: i64) -> Option<Span> {
        let inner = overlap(own, &(block.start + rings..block.end - rings));
        let inside = overlap(&inner, &(0..self.columns));
        (!inside.is_empty()).then(|| Span { first: inside.start as u64, count: (inside.end - inside.start) as u64 })
    }

    /// First part of a wavefront: costs so far, to local memory.
    fn begin(&self, launch: u32, columns: &[Range<i64>; 2], out: &mut OpSink<'_>) {
        push_all(out, &cost::ENTRY);
        if let Some(span) = self.inside(columns, 0) {
            out.push(cost::BEFORE_LOAD);
            load_span(out, self.results[launch as usize % 2].at(span.first, WORD), span.count * WORD);
            push_all(out, &cost::TO_LOCAL);
        }
        push_all(out, &cost::BARRIER);
    }

    /// One part for each row; after the last the costs are stored.
    fn row(&self, launch: u32, step: i64, columns: &[Range<i64>; 2], out: &mut OpSink<'_>) {
        let steps = self.steps(launch);
        let computed = self.inside(columns, step + 1);
        let last = steps.start + step + 1 == steps.end;
        out.push(cost::BEFORE_ROW);
        if let Some(span) = computed {
            push_all(out, &cost::CHEAPEST);
            let first = (steps.start + step) as u64 * self.columns as u64 + span.first;
            load_span(out, self.wall.at(first, WORD), span.count * WORD);
            push_all(out, &cost::ADD);
        }
        push_all(out, &cost::BARRIER);
        if !last {
            if computed.is_some() {
                push_all(out, &cost::COPY_BACK);
            }
            return push_all(out, &cost::BARRIER);
        }
        if let Some(span) = computed {
            push_all(out, &cost::BEFORE_STORE);
            store_span(out, self.results[1 - launch as usize % 2].at(span.first, WORD), span.count * WORD);
        }
        out.push(Op::END);
    }
}

/// Columns of the grid, of which there are some.
#[derive(Clone, Copy)]
struct Span {
    first: u64,
    count: u64,
}

fn within(key: &str, count: u64, least: u64) -> Result<u64, OptionError> {
    if (least..=MOST).contains(&count) {
        return Ok(count);
    }
    Err(OptionError::new(key, format!("expected {least} to {MOST}, found {count}")))
}

/// Instructions: vector, scalar, local data, branch. Counted by hand from the program, not from a compiled kernel.
mod cost {
    use octavo_program::Op;

    /// Where the block and the thread's column lie, and the neighbours inside the grid.
    pub const ENTRY: [Op; 3] = [Op::mix(0, 2, 0, 0), Op::WAIT, Op::mix(14, 12, 0, 1)];
    pub const BEFORE_LOAD: Op = Op::mix(3, 0, 0, 0);
    pub const TO_LOCAL: [Op; 2] = [Op::WAIT, Op::mix(0, 0, 1, 0)];
    pub const BARRIER: [Op; 3] = [Op::WAIT, Op::BARRIER, Op::mix(0, 1, 0, 1)];
    /// Whether the thread's column is still up to date.
    pub const BEFORE_ROW: Op = Op::mix(3, 3, 0, 1);
    /// Three costs from local memory, the lowest of them, and the place in the grid.
    pub const CHEAPEST: [Op; 3] = [Op::mix(0, 0, 3, 0), Op::WAIT, Op::mix(5, 1, 0, 0)];
    pub const ADD: [Op; 2] = [Op::WAIT, Op::mix(1, 0, 1, 0)];
    pub const COPY_BACK: [Op; 3] = [Op::mix(0, 0, 1, 0), Op::WAIT, Op::mix(0, 0, 1, 0)];
    pub const BEFORE_STORE: [Op; 2] = [Op::mix(3, 0, 1, 0), Op::WAIT];
}

impl Workload for Pathfinder {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn host_side(&self) -> HostSide {
        let result = last_written(["gpuResult0", "gpuResult1"], self.launches());
        let stated = HostSide::of(self.buffers()).inputs(["gpuResult0", "gpuWall"]).scratch(["gpuResult1"]);
        stated.outputs([result]).build()
    }

    fn launches(&self) -> u32 {
        (self.rows - 1).cast_unsigned().div_ceil(self.pyramid.cast_unsigned()) as u32
    }

    fn launch(&self, _index: u32) -> Launch {
        let work_groups = self.columns.cast_unsigned().div_ceil((BLOCK - 2 * self.pyramid).cast_unsigned()) as u32;
        Launch { kernel: "dynproc_kernel".into(), work_groups, wavefronts_per_group: (BLOCK / LANES) as u32 }
    }

    fn resources(&self, _index: u32) -> Resources {
        Resources { vector_registers: 16, scalar_registers: 24, local_data_bytes: 2 * BLOCK as u32 * WORD as u32 }
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let columns = self.columns_of(launch, group, wavefront);
        parts(cursor, out, |part, out| match part.checked_sub(1) {
            None => self.begin(launch, &columns, out),
            Some(step) => self.row(launch, step.into(), &columns, out),
        });
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "pathfinder",
    summary: "cheapest way through a grid, 20 rows a launch in overlapping blocks (Rodinia pathfinder); 40 MB, streamed once",
    source: "Rodinia pathfinder, dynproc_kernel, 100000 x 100; 100000 x 20000 (Grace Hopper study, ICPP 2024)",
    schema: typed::schema::<PathfinderOptions>,
    resolve: typed::resolve::<PathfinderOptions>,
    build: |options, size: &Size| Ok(Box::new(Pathfinder::from_options(&typed::parse(options)?, size.scale)?)),
};
