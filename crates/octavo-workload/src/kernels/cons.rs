//! Separable convolution of an image with a mask of 17 elements (CUDA SDK convolutionSeparable): rows, then columns.
//!
//! Both kernels copy a tile and its halo to local memory and compute from there. A work-group of the first has 16 x 4
//! threads, which is one wavefront, and takes 128 neighbouring elements of four rows, with 16 more at either side. One
//! of the second has 16 x 8 threads and takes 64 rows of 16 columns, with 8 more above and below. Halos outside the
//! image are not read. Groups are numbered along rows. The mask is in constant memory and left out.
//!
//! Scale 1 is the sample's own input: 3072 x 3072 single-precision elements, in three arrays (input, intermediate
//! result, output). The sample repeats both launches 17 times.

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{parts, push_all};
use crate::kernels::matrix::{Matrix, Rows, checked_side, scaled_side};
use crate::scale;

/// Threads along x of both kernels' work-groups.
const WIDTH: u64 = 16;
/// Rows of a wavefront.
const HEIGHT: u64 = 4;
/// Elements that a thread computes.
const STEPS: u64 = 8;
/// Threads along y of the second kernel's work-groups.
const COLUMN_THREADS: u64 = 8;
/// Columns of the first kernel's tile, and rows of the second's.
pub const TILE_COLUMNS: u64 = STEPS * WIDTH;
/// Like [`TILE_COLUMNS`].
pub const TILE_ROWS: u64 = STEPS * COLUMN_THREADS;
const PUBLISHED_SIDE: u64 = 3072;

/// Options of `cons`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConsOptions {
    /// Width of the image in elements, a multiple of 128. Default: 3072 at scale 1 (CUDA SDK), near a square.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u64>,
    /// Height of the image in elements, a multiple of 64. Default: as for `width`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<u64>,
    /// How often the image is convolved, at least once. Default 2 (CUDA SDK: 17, all alike).
    pub iterations: u32,
}

impl Default for ConsOptions {
    fn default() -> Self {
        Self { width: None, height: None, iterations: 2 }
    }
}

/// Convolutions of one image.
pub struct Cons {
    space: AddressSpace,
    input: Matrix,
    between: Matrix,
    output: Matrix,
    width: u64,
    height: u64,
    iterations: u32,
}

impl Cons {
    /// `iterations` convolutions of `width` x `height` elements.
    ///
    /// # Errors
    /// Sizes that are not multiples of [`TILE_COLUMNS`] and [`TILE_ROWS`], which the sample refuses, or no iterations.
    pub fn new(width: u64, height: u64, iterations: u32) -> Result<Self, OptionError> {
        let width = checked_side("width", width, TILE_COLUMNS)?;
        let height = checked_side("height", height, TILE_ROWS)?;
        let iterations = scale::repeated("iterations", iterations, 2, 0)?;
        let mut space = AddressSpace::default();
        let mut image = |name| Matrix::allocate(&mut space, name, height, width);
        let (input, output, between) = (image("Input"), image("Output"), image("Buffer"));
        Ok(Self { space, input, between, output, width, height, iterations })
    }

    fn from_options(options: &ConsOptions, scale: f64) -> Result<Self, OptionError> {
        let side = |given: Option<u64>, tile| given.map_or_else(|| scaled_side(PUBLISHED_SIDE, scale, tile), Ok);
        Self::new(side(options.width, TILE_COLUMNS)?, side(options.height, TILE_ROWS)?, options.iterations)
    }

    /// The tile of a wavefront of the launch over rows.
    fn row_tile(&self, group: u32) -> Tile<'_> {
        let tiles = self.width / TILE_COLUMNS;
        let (x, y) = (u64::from(group) % tiles, u64::from(group) / tiles);
        Tile {
            from: &self.input,
            to: &self.between,
            first: block(y * HEIGHT, x * TILE_COLUMNS),
            step: (0, WIDTH),
            halo: [x > 0, x + 1 < tiles],
            cost: &cost::ROWS,
        }
    }

    /// The tile of a wavefront of the launch over columns.
    fn column_tile(&self, group: u32, wavefront: u32) -> Tile<'_> {
        let tiles = self.width / WIDTH;
        let (x, y) = (u64::from(group) % tiles, u64::from(group) / tiles);
        Tile {
            from: &self.between,
            to: &self.output,
            first: block(y * TILE_ROWS + u64::from(wavefront) * HEIGHT, x * WIDTH),
            step: (COLUMN_THREADS, 0),
            halo: [y > 0, (y + 1) * TILE_ROWS < self.height],
            cost: &cost::COLUMNS,
        }
    }
}

fn block(row: u64, column: u64) -> Rows {
    Rows { row, step: 1, count: HEIGHT as u32, column, columns: WIDTH }
}

/// The part that a wavefront computes, in eight blocks of 4 rows x 16 columns.
struct Tile<'a> {
    from: &'a Matrix,
    to: &'a Matrix,
    first: Rows,
    /// Rows and columns from one block to the next.
    step: (u64, u64),
    /// Whether the blocks before the first and after the last are inside the image.
    halo: [bool; 2],
    cost: &'static cost::Costs,
}

impl Tile<'_> {
    fn block(&self, index: u64) -> Rows {
        let (down, right) = self.step;
        Rows { column: self.first.column + index * right, ..self.first.down(index * down) }
    }

    fn before(&self) -> Rows {
        let (down, right) = self.step;
        Rows { row: self.first.row - down, column: self.first.column - right, ..self.first }
    }

    fn load(&self, out: &mut OpSink<'_>) {
        push_all(out, &self.cost.entry);
        for (index, before) in (0..STEPS).zip(self.cost.before_loads) {
            if let Some(before) = before {
                out.push(before);
            }
            self.from.load(out, self.block(index));
        }
        push_all(out, &self.cost.after_loads);
        if self.halo[0] {
            self.from.load(out, self.before());
        }
        push_all(out, &cost::AFTER_FIRST_HALO);
        if self.halo[1] {
            out.push(self.cost.before_last_halo);
            self.from.load(out, self.block(STEPS));
        }
        push_all(out, self.cost.after_last_halo);
    }

    fn store(&self, out: &mut OpSink<'_>) {
        for (index, before) in (0..STEPS).zip(self.cost.before_stores) {
            if let Some(before) = before {
                out.push(before);
            }
            self.to.store(out, self.block(index));
        }
        out.push(Op::END);
    }
}

/// Instructions of the compiled GCN3 kernels: vector, scalar, local data, branch. Between stores, waits for local
/// memory alone are left out.
mod cost {
    use octavo_program::Op;

    pub struct Costs {
        pub entry: [Op; 3],
        pub before_loads: [Option<Op>; 8],
        /// The tile to local memory, two blocks an instruction.
        pub after_loads: [Op; 9],
        pub before_last_halo: Op,
        pub after_last_halo: &'static [Op],
        pub before_stores: [Option<Op>; 8],
    }

    const fn after_loads(first: Op) -> [Op; 9] {
        let write = Op::mix(0, 0, 1, 0);
        [
            first,
            Op::wait_until(6),
            write,
            Op::wait_until(4),
            write,
            Op::wait_until(2),
            write,
            Op::WAIT,
            Op::mix(0, 1, 1, 1),
        ]
    }

    pub const AFTER_FIRST_HALO: [Op; 3] = [Op::mix(0, 1, 0, 0), Op::WAIT, Op::mix(3, 2, 1, 1)];

    const fn mix(vector: u32, scalar: u32, local_data: u32) -> Option<Op> {
        Some(Op::mix(vector, scalar, local_data, 0))
    }

    pub const ROWS: Costs = Costs {
        entry: [Op::mix(2, 2, 0, 0), Op::WAIT, Op::mix(24, 6, 0, 0)],
        before_loads: [None; 8],
        after_loads: after_loads(Op::mix(5, 1, 0, 0)),
        before_last_halo: Op::mix(2, 0, 0, 0),
        // The work-group is one wavefront: no barrier.
        after_last_halo: &[Op::mix(1, 1, 0, 0), Op::WAIT, Op::mix(1, 0, 1, 0), Op::WAIT, Op::WAIT],
        before_stores: [
            mix(24, 2, 16),
            mix(23, 0, 7),
            mix(47, 0, 25),
            mix(22, 3, 3),
            None,
            None,
            mix(19, 1, 10),
            mix(19, 0, 7),
        ],
    };

    const TWO: Option<Op> = mix(2, 0, 0);

    pub const COLUMNS: Costs = Costs {
        entry: [Op::mix(2, 1, 0, 0), Op::WAIT, Op::mix(20, 7, 0, 0)],
        before_loads: [None, None, None, None, None, TWO, TWO, TWO],
        after_loads: after_loads(Op::mix(4, 2, 0, 0)),
        before_last_halo: Op::mix(3, 2, 0, 0),
        after_last_halo: &[
            Op::mix(1, 1, 0, 0),
            Op::WAIT,
            Op::mix(0, 0, 1, 0),
            Op::WAIT,
            Op::mix(1, 0, 0, 0),
            Op::WAIT,
            Op::BARRIER,
            Op::WAIT,
        ],
        before_stores: [
            mix(77, 9, 29),
            mix(10, 0, 4),
            mix(27, 4, 14),
            None,
            mix(6, 2, 0),
            mix(6, 0, 0),
            mix(24, 3, 10),
            mix(12, 3, 3),
        ],
    };
}

impl Workload for Cons {
    fn buffers(&self) -> &[Buffer] {
        self.space.buffers()
    }

    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers()).inputs(["Input"]).outputs(["Output"]).scratch(["Buffer"]).build()
    }

    fn launches(&self) -> u32 {
        2 * self.iterations
    }

    fn launch(&self, index: u32) -> Launch {
        let (kernel, groups, wavefronts) = if index.is_multiple_of(2) {
            ("convolutionRowsKernel", self.width / TILE_COLUMNS * (self.height / HEIGHT), 1)
        } else {
            ("convolutionColumnsKernel", self.width / WIDTH * (self.height / TILE_ROWS), COLUMN_THREADS / HEIGHT)
        };
        Launch { kernel: kernel.into(), work_groups: groups as u32, wavefronts_per_group: wavefronts as u32 }
    }

    fn resources(&self, index: u32) -> Resources {
        let (vector_registers, scalar_registers, local_data_bytes) =
            if index.is_multiple_of(2) { (33, 68, 2560) } else { (35, 71, 5184) };
        Resources { vector_registers, scalar_registers, local_data_bytes }
    }

    fn waits_for_some(&self) -> bool {
        true
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    /// Emits both halves of a group: loads into local memory, then reads from it and stores.
    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let rows = launch.is_multiple_of(2);
        let tile = if rows { self.row_tile(group) } else { self.column_tile(group, wavefront) };
        parts(cursor, out, |part, out| if part == 0 { tile.load(out) } else { tile.store(out) });
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "cons",
    summary: "convolution by rows, then by columns (CUDA SDK convolutionSeparable); 108 MB, adjacent, shared",
    source: "CUDA SDK convolutionSeparable, 3072 x 3072",
    schema: typed::schema::<ConsOptions>,
    resolve: typed::resolve::<ConsOptions>,
    build: |options, size: &Size| Ok(Box::new(Cons::from_options(&typed::parse(options)?, size.scale)?)),
};
