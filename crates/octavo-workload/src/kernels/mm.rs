//! Matrix multiplication C = A x B of the AMD APP SDK, the kernel that caches tiles of A in local memory (LDS).
//!
//! A work-group is one wavefront of 8x8 threads; each thread computes 4x4 elements of C, the group a 32x32 tile. For
//! every 32 columns of A the group copies a 32x32 tile of A to the LDS (four loads, each waited for), then walks the
//! 32 matching rows of B four at a time, straight from global memory. Rows of C are shared out over the groups with x
//! fastest, so a contiguous range of groups is a band of rows: A and C are private to its GPU, B is read by all.
//!
//! Computation is the vector-ALU and LDS instructions of the compiled GCN3 kernel; with its scalar ones, 51 and 74
//! a tile for each wavefront, the totals are MGPUSim's 4,516,352 instructions for 512^3. Of the 148,736 memory
//! instructions and 540,928 lines that it records, one of each wavefront reads the work-group size from the dispatch
//! packet, which is not managed memory and left out here. The recorded kernel takes A's row from the local id and so
//! reads A's first 32 rows only; this one reads the right rows.

use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kernels::matrix::{Matrix, Rows, checked_side, scaled_side};
use crate::{AddressSpace, Buffer, Cursor, Launch, Op, OpSink, Workload, WorkloadEntry};

/// Side in elements of the tile of C that a work-group computes, and of the tile of A it keeps in the LDS.
pub const TILE: u64 = 32;

/// Rows or columns of C that one thread computes; threads along each side of a work-group.
const BLOCK: u64 = 4;
const THREADS: u32 = 8;

/// Side of three square matrices of 33 MiB in all: (33 MiB / 12 bytes)^0.5.
const PUBLISHED_SIDE: u64 = 1698;

/// Options of the matrix multiplication.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MmOptions {
    /// Rows of A and C, in elements, a multiple of 32. Default: 1696 at scale 1, the side of three square matrices of
    /// 33 MB in all (GRIT, table of applications).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Columns of A and rows of B, in elements, a multiple of 32. Default: as `rows`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inner: Option<u64>,
    /// Columns of B and C, in elements, a multiple of 32. Default: as `rows`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<u64>,
}

/// The matrix multiplication; one launch.
#[derive(Debug)]
pub struct Mm {
    space: AddressSpace,
    a: Matrix,
    b: Matrix,
    c: Matrix,
    groups_x: u32,
    groups_y: u32,
    /// 32-column tiles of A that a group walks.
    tiles: u32,
}

impl Mm {
    /// C (`rows` x `columns`) = A (`rows` x `inner`) x B (`inner` x `columns`), in elements.
    ///
    /// # Errors
    /// A size that is not a multiple of [`TILE`]: the kernel has no code for partial tiles.
    pub fn new(rows: u64, inner: u64, columns: u64) -> Result<Self, OptionError> {
        let rows = checked_side("rows", rows, TILE)?;
        let inner = checked_side("inner", inner, TILE)?;
        let columns = checked_side("columns", columns, TILE)?;
        let mut space = AddressSpace::default();
        Ok(Self {
            a: Matrix::allocate(&mut space, "A", rows, inner),
            b: Matrix::allocate(&mut space, "B", inner, columns),
            c: Matrix::allocate(&mut space, "C", rows, columns),
            space,
            groups_x: (columns / TILE) as u32,
            groups_y: (rows / TILE) as u32,
            tiles: (inner / TILE) as u32,
        })
    }

    fn from_options(options: &MmOptions, scale: f64) -> Result<Self, OptionError> {
        let side = |given: Option<u64>| given.map_or_else(|| scaled_side(PUBLISHED_SIDE, scale, TILE), Ok);
        Self::new(side(options.rows)?, side(options.inner)?, side(options.columns)?)
    }

    /// Copies the tile of A at (`row`, `column`) to the LDS: every eighth thread row loads each fourth row.
    fn cache_tile_of_a(&self, row: u64, column: u64, first: bool, out: &mut OpSink<'_>) {
        out.push(Op::compute(if first { cost::ENTRY } else { cost::NEXT_TILE } + cost::BEFORE_A));
        for part in 0..BLOCK {
            self.a.load(out, thread_rows(row + part, column));
            if part == 0 {
                out.push(Op::compute(cost::ADDRESSES_OF_A));
            }
            out.push(Op::WAIT);
            out.push(Op::compute(if part + 1 < BLOCK { cost::A_TO_LDS } else { cost::AFTER_A }));
        }
    }

    /// Multiplies the cached tile of A with the 32 rows of B from `row` on, four rows at a time.
    fn multiply_tile(&self, row: u64, column: u64, out: &mut OpSink<'_>) {
        for quad in (row..row + TILE).step_by(BLOCK as usize) {
            for part in 0..BLOCK {
                self.b.load(out, Rows { row: quad + part, step: 0, count: 1, column, columns: TILE });
                if part == 0 {
                    out.push(Op::compute(cost::LDS_READS));
                }
            }
            out.push(Op::WAIT);
            let last = quad + BLOCK == row + TILE;
            out.push(Op::compute(if last { cost::PRODUCTS } else { cost::PRODUCTS + cost::BEFORE_B }));
        }
    }

    fn write_tile_of_c(&self, row: u64, column: u64, out: &mut OpSink<'_>) {
        for (part, &before) in (0..BLOCK).zip(&cost::BEFORE_C) {
            out.push(Op::compute(before));
            self.c.store(out, thread_rows(row + part, column));
        }
        out.push(Op::END);
    }
}

/// What the 8x8 threads touch when each accesses one float4 of the first row of its 4x4 block.
fn thread_rows(row: u64, column: u64) -> Rows {
    Rows { row, step: BLOCK, count: THREADS, column, columns: TILE }
}

/// Vector-ALU and LDS instructions between the memory accesses of the compiled GCN3 kernel.
mod cost {
    /// Prologue, with the division that finds the number of tiles.
    pub const ENTRY: u32 = 71;
    /// Address of the first load of A.
    pub const BEFORE_A: u32 = 6;
    /// Addresses of the other three.
    pub const ADDRESSES_OF_A: u32 = 16;
    /// One LDS write.
    pub const A_TO_LDS: u32 = 1;
    /// The last LDS write, loop set-up (the barrier is one wavefront's, so none) and the first address of B.
    pub const AFTER_A: u32 = 1 + 8 + BEFORE_B;
    /// Address of the first row of B.
    pub const BEFORE_B: u32 = 6;
    /// Seven LDS reads of A and the addresses of the other rows of B.
    pub const LDS_READS: u32 = 32;
    /// 64 multiply-adds, with the moves and the loop around them.
    pub const PRODUCTS: u32 = 48 + 32;
    /// Loop around the tiles.
    pub const NEXT_TILE: u32 = 5;
    /// Before each of the four stores of C.
    pub const BEFORE_C: [u32; 4] = [NEXT_TILE + 14, 1, 7, 5];
}

impl Workload for Mm {
    fn buffers(&self) -> &[Buffer] {
        self.space.buffers()
    }

    fn launches(&self) -> u32 {
        1
    }

    fn launch(&self, _index: u32) -> Launch {
        Launch { kernel: "mmmKernel_local".into(), work_groups: self.groups_x * self.groups_y, wavefronts_per_group: 1 }
    }

    /// The cursor counts half tiles: caching A, then multiplying with B; each is at most 56 operations.
    fn fill(&self, _launch: u32, group: u32, _wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let row = u64::from(group / self.groups_x) * TILE;
        let column = u64::from(group % self.groups_x) * TILE;
        let half = &mut cursor.0[0];
        while out.remaining() >= OpSink::MIN_CAPACITY {
            let inner = u64::from(*half / 2) * TILE;
            if *half / 2 == self.tiles {
                return self.write_tile_of_c(row, column, out);
            } else if half.is_multiple_of(2) {
                self.cache_tile_of_a(row, inner, *half == 0, out);
            } else {
                self.multiply_tile(inner, column, out);
            }
            *half += 1;
        }
    }
}

/// The matrix multiplication of the AMD APP SDK.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "mm",
    summary: "matrix multiplication with tiles of A in local memory (AMD APP SDK); 33 MB, scatter-gather",
    source: "AMD APP SDK MatrixMultiplication, mmmKernel_local, as in MGPUSim v4.2.0; footprint from GRIT (HPCA 2024)",
    schema: typed::schema::<MmOptions>,
    resolve: typed::resolve::<MmOptions>,
    build: |options, size| Ok(Box::new(Mm::from_options(&typed::parse(options)?, size.scale)?)),
};
