//! General matrix multiply C = alpha A x B + beta C in the structure of the AMD APP SDK's `mmmKernel`, the 4x4-block
//! kernel *without* local memory.
//!
//! It computes the same 32x32 tile a wavefront as [`matrixmultiplication`](crate::kernels::matrixmultiplication), 4x4
//! elements a thread, but every thread reads both operands from global memory. For each four columns of A, these are
//! four float4 of A (one of each of its rows) and four float4 of B, all eight in flight before one wait. Threads side
//! by side share a float4 of A, so a load of A touches eight lines in eight distant rows and uses a quarter of each.
//! That makes 10 lines for each column of A where `matrixmultiplication` has 4, and A's lines come back four times in a
//! row. Unlike `matrixmultiplication` it reads the tile of C before it overwrites it in place, with one scaling by
//! alpha and one multiply-add by beta for each element (BLAS sgemm, nothing transposed).
//!
//! Pages behave as in `matrixmultiplication`: with a contiguous range of groups for each GPU, A and C are private and B
//! is read by all. No recorded counts exist for this kernel; computation is what `matrixmultiplication`'s compiled
//! kernel needs for the same arithmetic and addressing.

use octavo_program::{AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Workload, WorkloadEntry};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kernels::matrix::{Matrix, Rows, checked_side, scaled_side};

/// Side of the block of C that one thread computes; elements of a float4.
pub const BLOCK: u64 = 4;

/// Threads along each side of a work-group.
const THREADS: u64 = 8;

/// Side of the tile of C that a work-group computes.
const TILE: u64 = BLOCK * THREADS;

/// Side of three square matrices of 16 MiB in all: (16 MiB / 12 bytes)^0.5.
const PUBLISHED_SIDE: u64 = 1182;

/// Options of the general matrix multiply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GemmOptions {
    /// Rows of A and C, in elements, a multiple of 4. Default: 1184 at scale 1, the side of three square matrices of
    /// 16 MB in all (GRIT, table of applications).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Columns of A and rows of B, in elements, a multiple of 4. Default: as `rows`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inner: Option<u64>,
    /// Columns of B and C, in elements, a multiple of 4. Default: as `rows`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<u64>,
}

/// The general matrix multiply; one launch.
#[derive(Debug)]
pub struct Gemm {
    space: AddressSpace,
    a: Matrix,
    b: Matrix,
    c: Matrix,
    rows: u64,
    inner: u64,
    columns: u64,
}

impl Gemm {
    /// C (`rows` x `columns`) from A (`rows` x `inner`) and B (`inner` x `columns`), in elements.
    ///
    /// # Errors
    /// A size that is not a multiple of [`BLOCK`]: the kernel reads and writes float4 only. Tiles at the right and
    /// lower edge may be partial; their surplus threads do nothing.
    pub fn new(rows: u64, inner: u64, columns: u64) -> Result<Self, OptionError> {
        let rows = checked_side("rows", rows, BLOCK)?;
        let inner = checked_side("inner", inner, BLOCK)?;
        let columns = checked_side("columns", columns, BLOCK)?;
        let mut space = AddressSpace::default();
        Ok(Self {
            a: Matrix::allocate(&mut space, "A", rows, inner),
            b: Matrix::allocate(&mut space, "B", inner, columns),
            c: Matrix::allocate(&mut space, "C", rows, columns),
            space,
            rows,
            inner,
            columns,
        })
    }

    fn from_options(options: &GemmOptions, scale: f64) -> Result<Self, OptionError> {
        let side = |given: Option<u64>| given.map_or_else(|| scaled_side(PUBLISHED_SIDE, scale, BLOCK), Ok);
        Self::new(side(options.rows)?, side(options.inner)?, side(options.columns)?)
    }

    fn groups_x(&self) -> u64 {
        self.columns.div_ceil(TILE)
    }

    fn tile(&self, group: u32) -> Tile {
        let (row, column) = (u64::from(group) / self.groups_x() * TILE, u64::from(group) % self.groups_x() * TILE);
        Tile {
            row,
            column,
            thread_rows: ((self.rows - row).min(TILE) / BLOCK) as u32,
            columns: (self.columns - column).min(TILE),
        }
    }

    /// Reads four columns of A and four rows of B, and multiplies.
    fn step(&self, tile: &Tile, inner: u64, out: &mut OpSink<'_>) {
        out.push(Op::compute(if inner == 0 { cost::ENTRY + cost::ADDRESSES } else { cost::ADDRESSES }));
        for part in 0..BLOCK {
            self.a.load(out, tile.thread_rows(part, inner, BLOCK));
        }
        for row in inner..inner + BLOCK {
            self.b.load(out, Rows { row, step: 0, count: 1, column: tile.column, columns: tile.columns });
        }
        out.push(Op::WAIT);
        out.push(Op::compute(cost::PRODUCTS));
    }

    fn read_c(&self, tile: &Tile, out: &mut OpSink<'_>) {
        out.push(Op::compute(cost::ADDRESSES_OF_C));
        for part in 0..BLOCK {
            self.c.load(out, tile.thread_rows(part, tile.column, tile.columns));
        }
        out.push(Op::WAIT);
        out.push(Op::compute(cost::SCALING));
    }

    fn write_c(&self, tile: &Tile, out: &mut OpSink<'_>) {
        for part in 0..BLOCK {
            self.c.store(out, tile.thread_rows(part, tile.column, tile.columns));
        }
        out.push(Op::END);
    }
}

/// The part of C that a work-group computes, in elements; smaller than 32x32 at the edges.
struct Tile {
    row: u64,
    column: u64,
    /// Rows of threads that have rows of C.
    thread_rows: u32,
    columns: u64,
}

impl Tile {
    /// The `part`-th row of every thread's block, `columns` from `column` on.
    #[inline]
    fn thread_rows(&self, part: u64, column: u64, columns: u64) -> Rows {
        Rows { row: self.row + part, step: BLOCK, count: self.thread_rows, column, columns }
    }
}

/// Vector-ALU instructions between memory accesses, from the compiled GCN3 code of `mmmKernel_local` for the same
/// arithmetic.
mod cost {
    /// Prologue: ids, base addresses and zeroing of the sums, without that kernel's division.
    pub const ENTRY: u32 = 46;
    /// Addresses of eight loads, three instructions each.
    pub const ADDRESSES: u32 = 8 * 3;
    /// 64 multiply-adds, with the moves and the loop around them.
    pub const PRODUCTS: u32 = 48 + 32;
    /// Addresses of the four rows of C, which load and store share.
    pub const ADDRESSES_OF_C: u32 = 27;
    /// alpha and beta for 16 elements.
    pub const SCALING: u32 = 2 * 16;
}

impl Workload for Gemm {
    fn buffers(&self) -> &[Buffer] {
        self.space.buffers()
    }

    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers()).inputs(["A", "B", "C"]).outputs(["C"]).build()
    }

    fn launches(&self) -> u32 {
        1
    }

    fn launch(&self, _index: u32) -> Launch {
        let work_groups = (self.groups_x() * self.rows.div_ceil(TILE)) as u32;
        Launch { kernel: "mmmKernel".into(), work_groups, wavefronts_per_group: 1 }
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    /// The cursor counts steps of four columns of A, then the two halves of the epilogue; each is at most 39
    /// operations.
    fn fill(&self, _launch: u32, group: u32, _wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let tile = self.tile(group);
        while out.remaining() >= OPS_OF_STEP {
            let inner = u64::from(cursor.0[0]) * BLOCK;
            if inner < self.inner {
                self.step(&tile, inner, out);
            } else if inner == self.inner {
                self.read_c(&tile, out);
            } else {
                return self.write_c(&tile, out);
            }
            cursor.0[0] += 1;
        }
    }
}

/// Operations of a step at most: four loads of eight rows, four of one, two computations and a wait.
const OPS_OF_STEP: usize = 39;

/// The general matrix multiply.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "gemm",
    summary: "general matrix multiply, both operands from global memory, C updated in place; 16 MB, scatter-gather",
    source: "AMD APP SDK MatrixMultiplication, mmmKernel, with alpha and beta; footprint from GRIT (HPCA 2024)",
    schema: typed::schema::<GemmOptions>,
    resolve: typed::resolve::<GemmOptions>,
    build: |options, size| Ok(Box::new(Gemm::from_options(&typed::parse(options)?, size.scale)?)),
};
