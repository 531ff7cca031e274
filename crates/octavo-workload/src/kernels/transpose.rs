//! Transposition of a square matrix (AMD APP SDK `MatrixTranspose`) through local memory (LDS).
//!
//! A work-group is four wavefronts of 16x4 threads, each thread moves 4x4 elements, the group a tile of 64x64. Every
//! wavefront loads 16 rows of the input's tile with four instructions, waits for the others at a barrier, and stores 16
//! rows of the output's. Work-group (x, y) takes the tile in row x and column (x + y) mod the tiles of a row, so that
//! groups that run together are spread over memory banks. So a contiguous range of groups, as a GPU has it, is no band
//! of rows or columns of either matrix. Kernel arguments are left out.
//!
//! Scale 1 is 32 MB, this project's choice, as nothing is published.

use octavo_program::{AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Workload, WorkloadEntry};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kernels::matrix::{Matrix, Rows, checked_side, scaled_side};

/// Side in elements of the tile that a work-group moves.
pub const TILE: u64 = 64;
/// Side of the block that one thread moves; threads along y, which is also the number along x in a wavefront.
const BLOCK: u64 = 4;
/// Rows of a wavefront.
const WAVEFRONT_ROWS: u64 = 16;
/// Side of two square matrices of 32 MB in all.
const USUAL_SIDE: u64 = 2048;

/// Options of the transposition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TransposeOptions {
    /// Rows and columns, in elements, a multiple of 64. Default: 2048 at scale 1, the side of two square matrices of
    /// 32 MB in all (this project's choice).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u64>,
}

/// One transposition.
#[derive(Debug)]
pub struct Transpose {
    space: AddressSpace,
    input: Matrix,
    output: Matrix,
    /// Tiles along each side.
    tiles: u32,
}

impl Transpose {
    /// A transposition of `width` x `width` elements.
    ///
    /// # Errors
    /// A width that is not a multiple of [`TILE`]: the kernel has no code for partial tiles.
    pub fn new(width: u64) -> Result<Self, OptionError> {
        let width = checked_side("width", width, TILE)?;
        let mut space = AddressSpace::default();
        let [input, output] = ["input", "output"].map(|name| Matrix::allocate(&mut space, name, width, width));
        Ok(Self { space, input, output, tiles: (width / TILE) as u32 })
    }

    fn from_options(options: &TransposeOptions, scale: f64) -> Result<Self, OptionError> {
        Self::new(options.width.map_or_else(|| scaled_side(USUAL_SIDE, scale, TILE), Ok)?)
    }
}

/// The rows touched by a wavefront's threads when each accesses one row of its 4x4 block.
fn thread_rows(row: u64, column: u64) -> Rows {
    Rows { row, step: BLOCK, count: BLOCK as u32, column, columns: TILE }
}

/// Instructions between the memory accesses of the compiled GCN3 kernel: vector, scalar, local data, branch.
mod cost {
    use octavo_program::Op;

    pub const BEFORE_ARGUMENTS: Op = Op::mix(2, 1, 0, 0);
    pub const ENTRY: Op = Op::mix(45, 7, 0, 0);
    /// Before the waits for the first load and for the last.
    pub const AFTER_FIRST_LOAD: Op = Op::mix(22, 0, 0, 0);
    pub const AFTER_LAST_LOAD: Op = Op::mix(2, 0, 0, 0);
    pub const TO_LDS: Op = Op::mix(0, 0, 1, 0);
    pub const FROM_LDS: Op = Op::mix(5, 0, 4, 0);
    pub const AFTER_LDS_READ: Op = Op::mix(1, 0, 0, 0);
    /// Before each store but the first.
    pub const BEFORE_STORE: [Op; 3] = [Op::mix(12, 0, 0, 0), Op::mix(6, 0, 0, 0), Op::mix(7, 0, 0, 0)];
}

impl Transpose {
    fn load(&self, row: u64, column: u64, out: &mut OpSink<'_>) {
        // For kernel arguments.
        [Op::WAIT, cost::BEFORE_ARGUMENTS, Op::WAIT, cost::ENTRY].into_iter().for_each(|op| out.push(op));
        for part in 0..BLOCK {
            self.input.load(out, thread_rows(row + part, column));
            if part == 0 {
                out.push(cost::AFTER_FIRST_LOAD);
            } else if part + 1 == BLOCK {
                out.push(cost::AFTER_LAST_LOAD);
            }
            out.push(Op::WAIT);
            out.push(cost::TO_LDS);
        }
        out.push(Op::WAIT);
        out.push(Op::BARRIER);
    }

    fn store(&self, row: u64, column: u64, out: &mut OpSink<'_>) {
        out.push(cost::FROM_LDS);
        for outstanding in (0..BLOCK as u32).rev() {
            out.push(Op::wait_until(outstanding));
            out.push(cost::AFTER_LDS_READ);
        }
        for part in 0..BLOCK {
            if part > 0 {
                out.push(cost::BEFORE_STORE[part as usize - 1]);
            }
            self.output.store(out, thread_rows(row + part, column));
        }
        out.push(Op::END);
    }
}

impl Workload for Transpose {
    fn buffers(&self) -> &[Buffer] {
        self.space.buffers()
    }

    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers()).inputs(["input"]).outputs(["output"]).build()
    }

    fn launches(&self) -> u32 {
        1
    }

    fn launch(&self, _index: u32) -> Launch {
        Launch { kernel: "matrixTranspose".into(), work_groups: self.tiles * self.tiles, wavefronts_per_group: 4 }
    }

    fn resources(&self, _index: u32) -> Resources {
        Resources { vector_registers: 23, scalar_registers: 18, local_data_bytes: 16_384 }
    }

    fn waits_for_some(&self) -> bool {
        true
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    /// At most 61 operations, so always the whole wavefront.
    fn fill(&self, _launch: u32, group: u32, wavefront: u32, _cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let (x, y) = (group % self.tiles, group / self.tiles);
        let (row, column) = (u64::from(x) * TILE, u64::from((x + y) % self.tiles) * TILE);
        let offset = u64::from(wavefront) * WAVEFRONT_ROWS;
        self.load(row + offset, column, out);
        self.store(column + offset, row, out);
    }
}

/// The transposition of the AMD APP SDK.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "transpose",
    summary: "transposition of a matrix through local memory (AMD APP SDK): every line once, pages shared",
    source: "AMD APP SDK MatrixTranspose, as shipped with MGPUSim v4.2.0",
    schema: typed::schema::<TransposeOptions>,
    resolve: typed::resolve::<TransposeOptions>,
    build: |options, size| Ok(Box::new(Transpose::from_options(&typed::parse(options)?, size.scale)?)),
};
