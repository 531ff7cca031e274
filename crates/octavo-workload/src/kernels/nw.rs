//! Alignment of two sequences (Rodinia `nw`, Needleman-Wunsch): a table of scores filled block by block along its
//! antidiagonals, one launch for each.
//!
//! A work-group has one thread for each column of a square block (16, so a quarter of a wavefront is used). It copies
//! the block's rows of the similarities to local memory, waiting for each, then the column of scores left of it (a row
//! of the table for each thread) and the row above. It fills the block in local memory, antidiagonal by antidiagonal
//! with a barrier after each, and stores its rows. Rows are one element longer than the sequences, so nearly no row of
//! a block begins with a line. Antidiagonals grow to the table's width (first kernel), then shrink (second kernel); a
//! block's neighbours belong to the launch before.
//!
//! Instructions, waits and barriers come from the compiled GCN3 kernels that MGPUSim ships. Their blocks have a side of
//! 64. No scores are computed: neither control flow nor addresses depend on them.
//!
//! Published input: three tables of 2048^2 scores (Mosaic), 32768^2 (the Grace Hopper study). The third is allocated
//! and never touched.

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{load_lanes, load_scalar, load_span, push_all, steps, store_span};
use crate::inputs::Input;
use crate::kernels::matrix::{ELEMENT_BYTES, Matrix, checked_side, scaled_side};

/// Sides of a block that the kernels can be compiled for.
const BLOCKS: [u64; 3] = [16, 32, 64];
/// Scores along a side of the table at scale 1: Mosaic's, and the Grace Hopper study's.
const PUBLISHED_SIDES: [u64; 2] = [2048, 32 << 10];

/// Instructions of the compiled GCN3 kernels: vector, scalar, local data, branch; pairs for the first and the second.
mod cost {
    use octavo_program::Op;

    pub const BEFORE_ARGUMENTS: [Op; 2] = [Op::mix(0, 3, 0, 0), Op::mix(1, 2, 0, 0)];
    pub const LOCATE: [Op; 2] = [Op::mix(7, 9, 0, 1), Op::mix(0, 16, 0, 1)];
    pub const AFTER_CORNER: Op = Op::mix(1, 0, 0, 0);
    pub const KEEP_CORNER: Op = Op::mix(3, 2, 1, 0);
    pub const FIRST_ROW: [Op; 2] = [Op::mix(10, 1, 0, 1), Op::mix(15, 3, 1, 1)];
    pub const NEXT_ROW: Op = Op::mix(7, 0, 1, 1);
    pub const DURING_ROW: Op = Op::mix(2, 1, 0, 0);
    pub const AFTER_ROWS: Op = Op::mix(3, 1, 1, 1);
    pub const BEFORE_BARRIER: Op = Op::mix(3, 0, 0, 0);
    pub const BEFORE_COLUMN: Op = Op::mix(2, 0, 0, 0);
    pub const DURING_COLUMN: [Op; 2] = [Op::mix(11, 3, 0, 0), Op::mix(10, 3, 0, 0)];
    pub const KEEP: Op = Op::mix(0, 0, 1, 0);
    /// Up to the local loads of the first antidiagonal and of those after it.
    pub const GROW: [Op; 2] = [Op::mix(13, 4, 3, 3), Op::mix(3, 1, 3, 2)];
    pub const SHRINK: [Op; 2] = [Op::mix(17, 2, 3, 3), Op::mix(2, 1, 3, 2)];
    pub const SHRINK_OF_SECOND: Op = Op::mix(17, 4, 3, 4);
    pub const HALF_GROWN: Op = Op::mix(0, 2, 0, 1);
    pub const AFTER_LOCAL_LOAD: Op = Op::mix(1, 0, 0, 0);
    pub const SCORE: Op = Op::mix(6, 2, 1, 1);
    pub const BEFORE_STORE: [Op; 2] = [Op::mix(13, 4, 1, 2), Op::mix(9, 1, 1, 1)];
    pub const AFTER_STORES: Op = Op::mix(0, 0, 0, 1);
}

/// Options of `nw`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NwOptions {
    /// The source of the input: `own` or `grace-hopper`. Default `own`.
    #[serde(skip_serializing_if = "Input::is_own")]
    pub input: Input,
    /// Elements of each sequence, a multiple of `block`. Default: 2048 times the root of the scale (Mosaic, MICRO
    /// 2017), or 32768 (Grace Hopper study).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    /// Side of a block of the table and threads of a work-group: 16, 32 or 64. Default 16 (Rodinia; MGPUSim: 64).
    pub block: u64,
}

impl Default for NwOptions {
    fn default() -> Self {
        Self { input: Input::Own, length: None, block: 16 }
    }
}

/// One alignment.
pub struct Nw {
    block: u64,
    /// Blocks along a side of the table.
    blocks: u32,
    input: Matrix,
    reference: Matrix,
    buffers: Vec<Buffer>,
    /// Which kernel each launch runs, and for how many blocks.
    launches: Vec<(Half, u32)>,
}

/// The first kernel fills growing antidiagonals, the second shrinking ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Half {
    Growing = 0,
    Shrinking = 1,
}

impl Nw {
    /// An alignment of two sequences of `length` elements in blocks of side `block`.
    ///
    /// # Errors
    /// A block that the kernels are not compiled for, a length that is not a multiple of it.
    pub fn new(length: u64, block: u64) -> Result<Self, OptionError> {
        checked_block(block)?;
        let length = checked_side("length", length, block)?;
        let mut space = AddressSpace::default();
        let [input, _, reference] = ["input_itemsets", "output_itemsets", "reference"]
            .map(|name| Matrix::allocate(&mut space, name, length + 1, length + 1));
        let blocks = (length / block) as u32;
        let growing = (1..=blocks).map(|count| (Half::Growing, count));
        let shrinking = (1..blocks).rev().map(|count| (Half::Shrinking, count));
        let launches = growing.chain(shrinking).collect();
        Ok(Self { block, blocks, input, reference, buffers: space.buffers().to_vec(), launches })
    }

    /// The same with the launches of MGPUSim v4.2.0's host program, which runs the second kernel on growing
    /// antidiagonals too. It serves comparison with recordings of that program alone.
    #[must_use]
    pub fn with_growing_second_half(mut self) -> Self {
        let halves = [Half::Growing, Half::Shrinking];
        self.launches = halves.into_iter().flat_map(|half| (1..=self.blocks).map(move |count| (half, count))).collect();
        self
    }

    /// Row and column of the table that are above and left of a work-group's block.
    fn corner(&self, launch: u32, group: u32) -> (u64, u64) {
        let (half, count) = self.launches[launch as usize];
        let (down, right) = match half {
            Half::Growing => (count - 1 - group, group),
            Half::Shrinking => (self.blocks - 1 - group, self.blocks - count + group),
        };
        (u64::from(down) * self.block, u64::from(right) * self.block)
    }
}

fn checked_block(block: u64) -> Result<u64, OptionError> {
    let wrong = || OptionError::new("block", format!("expected 16, 32 or 64, found {block}"));
    BLOCKS.contains(&block).then_some(block).ok_or_else(wrong)
}

/// One work-group, which is one wavefront.
struct Group<'a> {
    nw: &'a Nw,
    half: usize,
    /// Row above and column left of the block.
    corner: (u64, u64),
}

impl Group<'_> {
    fn load_corner(&self, out: &mut OpSink<'_>) {
        let corner = self.nw.input.at(self.corner.0, self.corner.1);
        push_all(out, &[cost::BEFORE_ARGUMENTS[self.half], Op::WAIT, cost::LOCATE[self.half]]);
        if self.half == Half::Growing as usize {
            load_span(out, corner, ELEMENT_BYTES);
            push_all(out, &[cost::AFTER_CORNER, Op::WAIT, cost::KEEP_CORNER, Op::WAIT, Op::BARRIER, Op::WAIT]);
        } else {
            // Every thread loads it: the compiler made that a scalar load.
            load_scalar(out, corner);
            push_all(out, &[cost::AFTER_CORNER, Op::WAIT]);
        }
    }

    /// A row of the similarities.
    fn load_row(&self, row: u64, out: &mut OpSink<'_>) {
        out.push(if row == 0 { cost::FIRST_ROW[self.half] } else { cost::NEXT_ROW });
        load_span(out, self.inside(&self.nw.reference, row), self.nw.block * ELEMENT_BYTES);
        push_all(out, &[cost::DURING_ROW, Op::WAIT]);
    }

    /// The column of scores left of the block.
    fn load_left(&self, out: &mut OpSink<'_>) {
        let (above, left) = self.corner;
        push_all(out, &[cost::AFTER_ROWS, Op::WAIT, cost::BEFORE_BARRIER, Op::BARRIER, cost::BEFORE_COLUMN, Op::WAIT]);
        load_lanes(out, (1..=self.nw.block).map(|row| self.nw.input.at(above + row, left)));
        push_all(out, &[cost::DURING_COLUMN[self.half], Op::WAIT, cost::KEEP, Op::WAIT, Op::BARRIER, Op::WAIT]);
    }

    /// The row of scores above the block.
    fn load_above(&self, out: &mut OpSink<'_>) {
        load_span(out, self.nw.input.at(self.corner.0, self.corner.1 + 1), self.nw.block * ELEMENT_BYTES);
        push_all(out, &[Op::WAIT, cost::KEEP, Op::WAIT, Op::BARRIER, Op::WAIT]);
    }

    /// Scores along one of the block's antidiagonals: `block` growing ones, then `block` - 1 shrinking ones.
    fn score(&self, diagonal: u64, out: &mut OpSink<'_>) {
        let block = self.nw.block;
        let first = diagonal == block;
        if first && self.half == Half::Growing as usize {
            push_all(out, &[cost::HALF_GROWN, Op::WAIT, Op::BARRIER, Op::WAIT]);
        }
        out.push(match diagonal {
            0 => cost::GROW[0],
            _ if diagonal < block => cost::GROW[1],
            _ if first && self.half == Half::Shrinking as usize => cost::SHRINK_OF_SECOND,
            _ => cost::SHRINK[usize::from(!first)],
        });
        // Three local loads, which come back one after another.
        push_all(
            out,
            &[Op::wait_until(2), cost::AFTER_LOCAL_LOAD, Op::wait_until(1), cost::AFTER_LOCAL_LOAD, Op::WAIT],
        );
        push_all(out, &[cost::SCORE, Op::WAIT, Op::BARRIER, Op::WAIT]);
    }

    fn store_row(&self, row: u64, out: &mut OpSink<'_>) {
        push_all(out, &[cost::BEFORE_STORE[usize::from(row > 0)], Op::WAIT]);
        store_span(out, self.inside(&self.nw.input, row), self.nw.block * ELEMENT_BYTES);
        if row + 1 == self.nw.block {
            out.push(cost::AFTER_STORES);
        }
    }

    /// Address of the first element of a row of the block.
    fn inside(&self, table: &Matrix, row: u64) -> u64 {
        table.at(self.corner.0 + 1 + row, self.corner.1 + 1)
    }
}

impl Workload for Nw {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers())
            .inputs(["input_itemsets", "reference"])
            .outputs(["input_itemsets"])
            .scratch(["output_itemsets"])
            .build()
    }

    fn launches(&self) -> u32 {
        self.launches.len() as u32
    }

    fn launch(&self, index: u32) -> Launch {
        let (half, work_groups) = self.launches[index as usize];
        let kernel = ["nw_kernel1", "nw_kernel2"][half as usize];
        Launch { kernel: kernel.into(), work_groups, wavefronts_per_group: 1 }
    }

    fn resources(&self, _index: u32) -> Resources {
        let local_data_bytes = ((self.block + 1).pow(2) + self.block.pow(2)) * ELEMENT_BYTES;
        Resources { vector_registers: 12, scalar_registers: 35, local_data_bytes: local_data_bytes as u32 }
    }

    fn waits_for_some(&self) -> bool {
        true
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    /// Steps: the corner; rows of similarities; the column left; the row above; antidiagonals; rows of scores.
    fn fill(&self, launch: u32, group: u32, _wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let half = self.launches[launch as usize].0 as usize;
        let group = Group { nw: self, half, corner: self.corner(launch, group) };
        let block = self.block;
        steps(cursor, out, 4 * block as u32 + 2, |step, out| match u64::from(step) {
            0 => group.load_corner(out),
            row if row <= block => group.load_row(row - 1, out),
            step if step == block + 1 => group.load_left(out),
            step if step == block + 2 => group.load_above(out),
            step if step < 3 * block + 2 => group.score(step - block - 3, out),
            step => group.store_row(step - 3 * block - 2, out),
        });
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "nw",
    summary: "Needleman-Wunsch alignment: antidiagonals of blocks, rows that straddle lines",
    source: "Rodinia nw, as shipped with MGPUSim v4.2.0; input from Mosaic (MICRO 2017)",
    schema: typed::schema::<NwOptions>,
    resolve: typed::resolve::<NwOptions>,
    build: |options, size: &Size| {
        let NwOptions { input, length, block } = typed::parse(options)?;
        let published = input.either(PUBLISHED_SIDES[0], PUBLISHED_SIDES[1]);
        let fitting = || scaled_side(published, size.scale, checked_block(block)?);
        Ok(Box::new(Nw::new(length.map_or_else(fitting, Ok)?, block)?))
    },
};
