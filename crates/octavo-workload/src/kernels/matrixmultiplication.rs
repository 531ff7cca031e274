//! Matrix multiplication C = A x B of the AMD APP SDK, the kernel that caches tiles of A in local memory (LDS).
//!
//! A work-group is one wavefront of 8x8 threads; each thread computes 4x4 elements of C, the group a 32x32 tile. For
//! every 32 columns of A the group copies a 32x32 tile of A to the LDS (four loads, each waited for). Then it walks the
//! 32 matching rows of B four at a time, straight from global memory. Rows of C are shared out over the groups with x
//! fastest, so a contiguous range of groups is a band of rows: A and C are private to its GPU, B is read by all.
//!
//! Instructions, waits and barriers come from the compiled GCN3 kernel, which loads four rows of B in the order 0, 2,
//! 1, 3. MGPUSim records 148,736 memory instructions and 540,928 lines for 512^3. One load of each wavefront reads the
//! work-group size from the dispatch packet, which is not managed memory. It is left out here, as are scalar loads of
//! kernel arguments. The recorded kernel takes A's row from the local id and so reads A's first 32 rows only; this one
//! reads the right rows.

use octavo_program::{AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Workload, WorkloadEntry};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kernels::matrix::{Matrix, Rows, checked_side, scaled_side};

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
pub struct MatrixMultiplicationOptions {
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
pub struct MatrixMultiplication {
    space: AddressSpace,
    a: Matrix,
    b: Matrix,
    c: Matrix,
    groups_x: u32,
    groups_y: u32,
    /// 32-column tiles of A that a group walks.
    tiles: u32,
    /// Whether A's row is taken from the local id.
    local_rows: bool,
}

impl MatrixMultiplication {
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
            local_rows: false,
        })
    }

    /// The same with the defect of the kernel that MGPUSim v4.2.0 ships: every group reads A's first 32 rows. It serves
    /// comparison with recordings of that kernel alone.
    #[must_use]
    pub fn with_local_rows_of_a(self) -> Self {
        Self { local_rows: true, ..self }
    }

    fn from_options(options: &MatrixMultiplicationOptions, scale: f64) -> Result<Self, OptionError> {
        let side = |given: Option<u64>| given.map_or_else(|| scaled_side(PUBLISHED_SIDE, scale, TILE), Ok);
        Self::new(side(options.rows)?, side(options.inner)?, side(options.columns)?)
    }

    /// Copies the tile of A at (`row`, `column`) to the LDS: every eighth thread row loads each fourth row.
    fn cache_tile_of_a(&self, row: u64, column: u64, first: bool, out: &mut OpSink<'_>) {
        if first {
            // For the kernel arguments.
            out.push(cost::BEFORE_ARGUMENTS);
            out.push(Op::WAIT);
            out.push(cost::ENTRY);
            out.push(Op::WAIT);
        }
        out.push(if first { cost::FIRST_TILE } else { cost::NEXT_TILE });
        for part in 0..BLOCK {
            self.a.load(out, thread_rows(row + part, column));
            if part == 0 {
                out.push(cost::ADDRESSES_OF_A);
            }
            out.push(Op::WAIT);
            out.push(cost::A_TO_LDS);
        }
        out.push(Op::WAIT);
        out.push(Op::BARRIER);
    }

    /// Multiplies the cached tile of A with the 32 rows of B from `row` on, four rows at a time.
    fn multiply_tile(&self, row: u64, column: u64, out: &mut OpSink<'_>) {
        for quad in (row..row + TILE).step_by(BLOCK as usize) {
            out.push(if quad == row { cost::BEFORE_B } else { cost::PRODUCTS_AND_NEXT });
            for part in cost::ORDER_OF_B {
                self.b.load(out, Rows { row: quad + part, step: 0, count: 1, column, columns: TILE });
                if part == 0 {
                    out.push(cost::LDS_READS);
                }
            }
            out.push(cost::BEFORE_PRODUCTS);
            out.push(Op::wait_until(1));
            out.push(cost::PRODUCTS);
            out.push(Op::WAIT);
        }
        out.push(cost::LAST_PRODUCTS);
        out.push(Op::BARRIER);
    }

    fn write_tile_of_c(&self, row: u64, column: u64, out: &mut OpSink<'_>) {
        out.push(cost::AFTER_TILES);
        out.push(Op::WAIT);
        for (part, before) in (0..BLOCK).zip(cost::BEFORE_C) {
            out.push(before);
            self.c.store(out, thread_rows(row + part, column));
        }
        out.push(Op::END);
    }
}

/// What the 8x8 threads touch when each accesses one float4 of the first row of its 4x4 block.
fn thread_rows(row: u64, column: u64) -> Rows {
    Rows { row, step: BLOCK, count: THREADS, column, columns: TILE }
}

/// Instructions between the memory accesses of the compiled GCN3 kernel: vector, scalar, local data, branch.
mod cost {
    use octavo_program::Op;

    pub const BEFORE_ARGUMENTS: Op = Op::mix(0, 1, 0, 0);
    /// The division that finds the number of tiles.
    pub const ENTRY: Op = Op::mix(38, 16, 0, 1);
    /// Zeroing of the sums, and the address of the first load of A.
    pub const FIRST_TILE: Op = Op::mix(39, 19, 0, 0);
    pub const NEXT_TILE: Op = Op::mix(11, 3, 0, 1);
    /// Addresses of the other three.
    pub const ADDRESSES_OF_A: Op = Op::mix(16, 3, 0, 0);
    pub const A_TO_LDS: Op = Op::mix(0, 0, 1, 0);
    /// Address of the first row of B.
    pub const BEFORE_B: Op = Op::mix(14, 3, 0, 1);
    /// LDS reads of A and the addresses of the other rows of B.
    pub const LDS_READS: Op = Op::mix(25, 1, 7, 0);
    /// The order in which four rows of B are loaded.
    pub const ORDER_OF_B: [u64; 4] = [0, 2, 1, 3];
    pub const BEFORE_PRODUCTS: Op = Op::mix(0, 3, 0, 0);
    /// Multiply-adds with the first three rows of B.
    pub const PRODUCTS: Op = Op::mix(48, 0, 0, 0);
    /// Multiply-adds with the fourth row, and the loop around them up to the next load of B or to the barrier.
    pub const PRODUCTS_AND_NEXT: Op = Op::mix(38, 0, 0, 1);
    pub const LAST_PRODUCTS: Op = Op::mix(32, 0, 0, 1);
    pub const AFTER_TILES: Op = Op::mix(5, 2, 0, 2);
    /// Before each of the four stores of C.
    pub const BEFORE_C: [Op; 4] = [Op::mix(14, 2, 0, 0), Op::mix(1, 0, 0, 0), Op::mix(7, 0, 0, 0), Op::mix(5, 0, 0, 0)];
}

impl Workload for MatrixMultiplication {
    fn buffers(&self) -> &[Buffer] {
        self.space.buffers()
    }

    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers()).inputs(["A", "B"]).outputs(["C"]).build()
    }

    fn launches(&self) -> u32 {
        1
    }

    fn launch(&self, _index: u32) -> Launch {
        Launch { kernel: "mmmKernel_local".into(), work_groups: self.groups_x * self.groups_y, wavefronts_per_group: 1 }
    }

    fn resources(&self, _index: u32) -> Resources {
        Resources { vector_registers: 74, scalar_registers: 30, local_data_bytes: 4096 }
    }

    fn waits_for_some(&self) -> bool {
        true
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    /// The cursor counts half tiles: caching A, then multiplying with B; each is at most 82 operations.
    fn fill(&self, _launch: u32, group: u32, _wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let row = u64::from(group / self.groups_x) * TILE;
        let column = u64::from(group % self.groups_x) * TILE;
        let half = &mut cursor.0[0];
        while out.remaining() >= OpSink::MIN_CAPACITY {
            let inner = u64::from(*half / 2) * TILE;
            if *half / 2 == self.tiles {
                return self.write_tile_of_c(row, column, out);
            } else if half.is_multiple_of(2) {
                let row = if self.local_rows { 0 } else { row };
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
    name: "matrixmultiplication",
    summary: "matrix multiplication with tiles of A in local memory (AMD APP SDK); 33 MB, scatter-gather",
    source: "AMD APP SDK MatrixMultiplication, mmmKernel_local, as in MGPUSim v4.2.0; footprint from GRIT (HPCA 2024)",
    schema: typed::schema::<MatrixMultiplicationOptions>,
    resolve: typed::resolve::<MatrixMultiplicationOptions>,
    build: |options, size| Ok(Box::new(MatrixMultiplication::from_options(&typed::parse(options)?, size.scale)?)),
};
