//! Decomposition of a matrix into a lower and an upper triangle (Rodinia `lud`), in place, in blocks of 16 x 16.
//!
//! For each block on the diagonal there are three launches. In the first, one wavefront, of which 16 lanes are used,
//! decomposes that block. The second has a work-group of 32 threads for each further block: half of them finish a block
//! below, first, and the other half one right of it. The third has a work-group of 16 x 16 threads for each block of
//! the rest, which subtracts the product of a block below and a block right. The rest shrinks by a row and a column of
//! blocks each time.
//!
//! A row of a block is one line of 64 bytes. No elements are computed: neither control flow nor addresses depend on
//! them.
//!
//! Scale 1 is a matrix of 2048^2, the largest that Rodinia ships, 16 MB.

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{push_all, steps};
use crate::kernels::matrix::{Matrix, Rows, checked_side, scaled_side};

/// Side of a block.
const SIDE: u64 = 16;
/// Wavefronts of a work-group of the third kernel, and rows of a block for each.
const WAVEFRONTS: u32 = 4;
const ROWS: u32 = SIDE as u32 / WAVEFRONTS;
/// Elements along a side at scale 1.
const USUAL_SIDE: u64 = 2048;

/// Instructions of the kernels, compiled for GCN3: vector, scalar, local data, branch.
mod cost {
    use super::SIDE;
    use octavo_program::Op;

    /// Turns of the inner loops for one block: over i below 16 and j below i.
    const TURNS: u32 = (SIDE * (SIDE - 1) / 2) as u32;

    pub const DIAGONAL: [Op; 2] = [Op::mix(0, 3, 0, 0), Op::mix(82, 5, 0, 0)];
    /// Loads come back two by two, each pair to one local store.
    pub const KEEP_TWO: Op = Op::mix(0, 0, 1, 0);
    pub const KEEP_LAST: Op = Op::mix(5, 0, 1, 0);
    pub const BEFORE_TURNS: Op = Op::mix(0, 0, 0, 1);
    pub const AFTER_TURN: Op = Op::mix(0, 6, 0, 0);
    pub const NEXT_TURN: Op = Op::mix(0, 0, 0, 1);
    pub const STORE: [Op; 4] = [Op::mix(7, 3, 1, 0), Op::mix(5, 0, 0, 0), Op::mix(5, 0, 1, 0), Op::mix(4, 0, 1, 0)];

    /// A column of the lower triangle, in the `turn`-th turn of 15.
    pub const fn lower(turn: u32) -> Op {
        let first = if turn > 0 { 1 } else { 0 };
        Op::mix(10 + 3 * (first + turn), 6 + 3 * (first + turn), 3 + first + 3 * turn, 3 + turn)
    }

    /// A row of the upper triangle.
    pub const fn upper(turn: u32) -> Op {
        Op::mix(6 + 3 * turn, 7 + 3 * turn, 4 + 3 * turn, 3 + turn)
    }

    pub const PERIMETER: Op = Op::mix(1, 3, 0, 1);
    pub const BEFORE_EIGHT: [Op; 3] = [Op::mix(43, 8, 0, 0), Op::mix(40, 1, 0, 0), Op::mix(40, 0, 0, 0)];
    pub const KEEP_SOME: Op = Op::mix(2, 0, 5, 0);
    pub const KEEP_BELOW: Op = Op::mix(0, 2, 7, 1);
    pub const BEFORE_RIGHT: Op = Op::mix(108, 11, 0, 0);
    pub const KEEP_RIGHT: Op = Op::mix(0, 1, 7, 0);
    /// All of the block below, then all of the block right.
    pub const SOLVE: [Op; 2] = [
        Op::mix(14 + 15 * 11 + 3 * TURNS, 13 + 15 * 10 + 3 * TURNS, 3 + 15 * 3 + 3 * TURNS, 6 + 15 * 3 + TURNS),
        Op::mix(2 + 15 * 3 + 3 * TURNS, 6 + 15 * 6 + 3 * TURNS, 15 + 3 * TURNS, 1 + 15 + TURNS),
    ];
    pub const TEST: Op = Op::mix(0, 2, 0, 1);
    pub const STORE_BELOW: [Op; 3] = [Op::mix(11, 6, 1, 0), Op::mix(5, 0, 1, 0), Op::mix(5, 0, 0, 0)];
    pub const STORE_RIGHT: [Op; 3] = [Op::mix(10, 6, 1, 0), Op::mix(3, 0, 0, 0), Op::mix(5, 0, 1, 0)];

    pub const INTERNAL: [Op; 2] = [Op::mix(1, 2, 0, 0), Op::mix(16, 3, 0, 0)];
    pub const DURING_TILES: Op = Op::mix(12, 5, 0, 0);
    pub const KEEP_TILE: Op = Op::mix(0, 0, 1, 0);
    pub const MULTIPLY: Op = Op::mix(20, 3, 16, 0);
    pub const SUBTRACT: Op = Op::mix(1, 0, 0, 0);
}

/// For local data, around a barrier.
const MEET: [Op; 3] = [Op::WAIT, Op::BARRIER, Op::WAIT];

/// Options of `lud`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LudOptions {
    /// Rows and columns of the matrix, a multiple of 16. Default: 2048 times the root of the scale (the largest matrix
    /// that Rodinia ships).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
}

/// One decomposition.
pub struct Lud {
    matrix: Matrix,
    /// Blocks along a side.
    blocks: u32,
    buffers: Vec<Buffer>,
}

impl Lud {
    /// A matrix of `rows` rows and columns.
    ///
    /// # Errors
    /// Rows that are not a multiple of 16.
    pub fn new(rows: u64) -> Result<Self, OptionError> {
        let rows = checked_side("rows", rows, SIDE)?;
        let mut space = AddressSpace::default();
        let matrix = Matrix::allocate(&mut space, "m", rows, rows);
        Ok(Self { matrix, blocks: (rows / SIDE) as u32, buffers: space.buffers().to_vec() })
    }

    fn decompose(&self, corner: u64, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let block = Block { matrix: &self.matrix, row: corner, column: corner };
        steps(cursor, out, 2 + SIDE as u32, |step, out| match step {
            0 => {
                push_all(out, &[cost::DIAGONAL[0], Op::WAIT, cost::DIAGONAL[1]]);
                (0..SIDE).for_each(|row| block.load(row, 1, out));
                for outstanding in (2..SIDE as u32).rev().step_by(2) {
                    push_all(out, &[Op::wait_until(outstanding - 1), cost::KEEP_TWO]);
                }
                push_all(out, &[Op::WAIT, cost::KEEP_LAST]);
                push_all(out, &MEET);
                out.push(cost::BEFORE_TURNS);
            }
            turn if turn < SIDE as u32 => {
                out.push(cost::lower(turn - 1));
                push_all(out, &MEET);
                push_all(out, &[cost::upper(turn - 1), cost::AFTER_TURN]);
                push_all(out, &MEET);
                out.push(cost::NEXT_TURN);
            }
            step if step == SIDE as u32 => (1..SIDE).for_each(|row| {
                // The first row stays as it is.
                out.push(match row {
                    1 => cost::STORE[0],
                    15 => cost::STORE[3],
                    _ => cost::STORE[1 + usize::from(row % 2 == 1)],
                });
                block.store(row, 1, out);
            }),
            _ => {}
        });
    }

    /// Finishes the block `away` blocks right of the diagonal's and that below it; the latter first.
    fn finish(&self, corner: u64, away: u64, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let diagonal = Block { matrix: &self.matrix, row: corner, column: corner };
        let right = Block { column: corner + away * SIDE, ..diagonal };
        let below = Block { row: corner + away * SIDE, ..diagonal };
        let half = SIDE / 2;
        steps(cursor, out, 4, |step, out| match step {
            0 => {
                push_all(out, &[cost::PERIMETER, Op::WAIT]);
                for (before, (block, first)) in
                    cost::BEFORE_EIGHT.into_iter().zip([(&diagonal, half), (&below, 0), (&below, half)])
                {
                    out.push(before);
                    (first..first + half).for_each(|row| block.load(row, 1, out));
                }
                push_all(out, &[Op::wait_until(14), cost::KEEP_SOME, Op::WAIT, cost::KEEP_BELOW]);
            }
            1 => {
                out.push(cost::BEFORE_RIGHT);
                (0..half).for_each(|row| diagonal.load(row, 1, out));
                (0..SIDE).for_each(|row| right.load(row, 1, out));
                push_all(out, &[Op::wait_until(14), cost::KEEP_SOME, Op::WAIT, cost::KEEP_RIGHT]);
                push_all(out, &MEET);
                push_all(out, &cost::SOLVE);
                push_all(out, &MEET);
                out.push(cost::TEST);
            }
            2 => below.store_all(0, cost::STORE_BELOW, out),
            _ => {
                out.push(cost::TEST);
                right.store_all(1, cost::STORE_RIGHT, out);
            }
        });
    }

    /// Subtracts a product from the block (`down`, `right`) blocks from the diagonal's; rows from `first` on.
    fn subtract(&self, corner: u64, (down, right): (u64, u64), first: u64, out: &mut OpSink<'_>) {
        let target = Block { matrix: &self.matrix, row: corner + down * SIDE, column: corner + right * SIDE };
        push_all(out, &[cost::INTERNAL[0], Op::WAIT, cost::INTERNAL[1]]);
        Block { row: corner, ..target }.load(first, ROWS, out);
        Block { column: corner, ..target }.load(first, ROWS, out);
        push_all(out, &[cost::DURING_TILES, Op::wait_until(1), cost::KEEP_TILE, Op::WAIT, cost::KEEP_TILE]);
        push_all(out, &MEET);
        target.load(first, ROWS, out);
        push_all(out, &[cost::MULTIPLY, Op::WAIT, cost::SUBTRACT]);
        target.store(first, ROWS, out);
        out.push(Op::END);
    }
}

/// A block of the matrix, by its first row and column.
#[derive(Clone, Copy)]
struct Block<'a> {
    matrix: &'a Matrix,
    row: u64,
    column: u64,
}

impl Block<'_> {
    fn rows(&self, first: u64, count: u32) -> Rows {
        Rows { row: self.row + first, step: 1, count, column: self.column, columns: SIDE }
    }

    fn load(&self, first: u64, count: u32, out: &mut OpSink<'_>) {
        self.matrix.load(out, self.rows(first, count));
    }

    fn store(&self, first: u64, count: u32, out: &mut OpSink<'_>) {
        self.matrix.store(out, self.rows(first, count));
    }

    /// Stores the rows from `first` on, with the costs of the first, of odd ones and of even ones after it.
    fn store_all(&self, first: u64, before: [Op; 3], out: &mut OpSink<'_>) {
        for row in first..SIDE {
            let place = row - first;
            out.push(if place == 0 { before[0] } else { before[2 - (place % 2) as usize] });
            self.store(row, 1, out);
        }
    }
}

impl Workload for Lud {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers()).inputs(["m"]).outputs(["m"]).build()
    }

    /// The last block needs the first kernel alone.
    fn launches(&self) -> u32 {
        3 * (self.blocks - 1) + 1
    }

    fn launch(&self, index: u32) -> Launch {
        let left = self.blocks - 1 - index / 3;
        let (kernel, work_groups, wavefronts_per_group) = match index % 3 {
            0 => ("lud_diagonal", 1, 1),
            1 => ("lud_perimeter", left, 1),
            _ => ("lud_internal", left * left, WAVEFRONTS),
        };
        Launch { kernel: kernel.into(), work_groups, wavefronts_per_group }
    }

    fn resources(&self, index: u32) -> Resources {
        match index % 3 {
            0 => Resources { vector_registers: 49, scalar_registers: 17, local_data_bytes: 1024 },
            1 => Resources { vector_registers: 50, scalar_registers: 20, local_data_bytes: 3072 },
            _ => Resources { vector_registers: 20, scalar_registers: 10, local_data_bytes: 2048 },
        }
    }

    fn waits_for_some(&self) -> bool {
        true
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let corner = u64::from(launch / 3) * SIDE;
        let left = self.blocks - 1 - launch / 3;
        match launch % 3 {
            0 => self.decompose(corner, cursor, out),
            1 => self.finish(corner, u64::from(group) + 1, cursor, out),
            _ => {
                let block = (u64::from(group / left) + 1, u64::from(group % left) + 1);
                self.subtract(corner, block, u64::from(wavefront * ROWS), out);
            }
        }
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "lud",
    summary: "LU decomposition in blocks: three kernels for each block of the diagonal, a shrinking rest",
    source: "Rodinia lud; one of Mosaic's applications (MICRO 2017), matrix of Rodinia's largest size",
    schema: typed::schema::<LudOptions>,
    resolve: typed::resolve::<LudOptions>,
    build: |options, size: &Size| {
        let LudOptions { rows } = typed::parse(options)?;
        Ok(Box::new(Lud::new(rows.map_or_else(|| scaled_side(USUAL_SIDE, size.scale, SIDE), Ok)?)?))
    },
};
