//! Sums of absolute differences for motion estimation (Parboil `sad`). They say how well each 4 x 4 block of a frame
//! matches a reference frame at 33 x 33 places around it, and the same for larger blocks.
//!
//! The first kernel has a work-group of 61 threads for each 4 x 4 block. A quarter of a wavefront copies the block to
//! local memory. Each thread then has 18 neighbouring places, three at a time. For each three it reads six pixels of
//! four rows of the reference frame (a texture: coordinates outside are moved to the edge). Half a wavefront copies the
//! group's sums from local memory. The other two kernels add the sums of four blocks to sums for blocks of twice and
//! four times their size, 32 threads for each place, two places in a word. The sums of all sizes lie in one array, size
//! by size.
//!
//! Pixels are two bytes. None are drawn: neither control flow nor addresses depend on them. The reference frame is
//! taken to lie row by row, not as a texture would.
//!
//! Scale 1 is a CIF frame, 352 x 288, with 34 MB of sums, this project's choice: Parboil's default frame has 9 MB.

mod larger;

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::larger::{Larger, Merge, PADDED, PIXEL, PLACES, RANGE};
use crate::emit::{load_lanes, push_all, steps, store_span};
use crate::kernels::matrix::{checked_side, scaled_side};
use crate::scale;

/// Pixels along a side of a macroblock and of the smallest block.
const MACROBLOCK: u64 = 16;
const BLOCK: u64 = 4;
/// Places of a thread, of a turn, and threads of a work-group.
const OWN_PLACES: u64 = 18;
const TURN: u64 = 3;
const THREADS: u64 = PLACES.div_ceil(OWN_PLACES);
/// Loads of reference pixels at once: two rows of six.
const PIXELS: u32 = 12;
const TURNS: u32 = (OWN_PLACES / TURN) as u32;
/// Arrays of sums of a macroblock, all sizes together; of sizes larger than 4 x 4.
const ARRAYS: u64 = 41;
const LARGER_ARRAYS: u64 = 25;
/// Pixels of a frame at scale 1.
const USUAL_WIDTH: u64 = 352;
const USUAL_HEIGHT: u64 = 288;

/// Instructions of the first kernel, compiled for GCN3: vector, scalar, local data, branch.
mod cost {
    use octavo_program::Op;

    pub const BEFORE_ARGUMENTS: Op = Op::mix(1, 5, 0, 0);
    pub const LOCATE: Op = Op::mix(2, 3, 0, 1);
    pub const BEFORE_BLOCK: Op = Op::mix(11, 2, 0, 0);
    pub const DURING_BLOCK: Op = Op::mix(2, 0, 0, 0);
    pub const KEEP_BLOCK: Op = Op::mix(5, 1, 1, 0);
    pub const BEFORE_PLACES: Op = Op::mix(7, 11, 0, 1);
    pub const BEFORE_TURN: Op = Op::mix(28, 2, 0, 0);
    pub const BEFORE_PIXELS: Op = Op::mix(71, 2, 3, 0);
    /// After the second and the third load of a pixel.
    pub const DURING_PIXELS: [Op; 2] = [Op::mix(0, 0, 3, 0), Op::mix(0, 0, 2, 0)];
    pub const AFTER_PIXELS: Op = Op::mix(0, 4, 0, 0);
    pub const ADD: Op = Op::mix(99, 0, 0, 1);
    pub const KEEP_SUMS: Op = Op::mix(10, 2, 3, 1);
    pub const AFTER_PLACES: Op = Op::mix(1, 1, 0, 0);
    pub const TEST: Op = Op::mix(0, 1, 0, 1);
    pub const BEFORE_SUMS: Op = Op::mix(14, 13, 0, 0);
    pub const FETCH_SUM: Op = Op::mix(3, 1, 1, 0);
    pub const NEXT_SUM: Op = Op::mix(2, 1, 0, 1);
}

/// For local data, around a barrier.
const MEET: [Op; 3] = [Op::WAIT, Op::BARRIER, Op::WAIT];

/// Options of `sad`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SadOptions {
    /// Width of a frame in pixels, a multiple of 16. Default: 352 times the root of the scale (this project's choice).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u64>,
    /// Height of a frame in pixels, a multiple of 16. Default: 288 times the root of the scale (this project's choice).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<u64>,
}

/// The sums for one frame.
pub struct Sad {
    width: u64,
    height: u64,
    frame: Buffer,
    reference: Buffer,
    sums: Buffer,
    buffers: Vec<Buffer>,
}

impl Sad {
    /// A frame of `width` x `height` pixels.
    ///
    /// # Errors
    /// Sides that are not multiples of 16.
    pub fn new(width: u64, height: u64) -> Result<Self, OptionError> {
        let width = checked_side("width", width, MACROBLOCK)?;
        let height = checked_side("height", height, MACROBLOCK)?;
        let mut space = AddressSpace::default();
        let [frame, reference] = ["frame", "ref"].map(|name| space.allocate(name, width * height * PIXEL));
        let macroblocks = width * height / (MACROBLOCK * MACROBLOCK);
        scale::work_groups("width", macroblocks * (MACROBLOCK / BLOCK).pow(2))?;
        let sums = space.allocate("sads", ARRAYS * PADDED * macroblocks * PIXEL);
        Ok(Self { width, height, frame, reference, sums, buffers: space.buffers().to_vec() })
    }

    fn macroblocks(&self) -> u64 {
        self.width * self.height / (MACROBLOCK * MACROBLOCK)
    }

    fn macroblocks_across(&self) -> u64 {
        self.width / MACROBLOCK
    }
}

/// A work-group of the first kernel.
struct Group<'a> {
    sad: &'a Sad,
    /// The block, counted in blocks.
    x: u64,
    y: u64,
}

impl Group<'_> {
    fn load_block(&self, out: &mut OpSink<'_>) {
        let pixel = |lane: u64| (self.y * BLOCK + lane / BLOCK) * self.sad.width + self.x * BLOCK + lane % BLOCK;
        push_all(out, &[cost::BEFORE_ARGUMENTS, Op::WAIT, cost::LOCATE, cost::BEFORE_BLOCK]);
        load_lanes(out, (0..BLOCK * BLOCK).map(|lane| self.sad.frame.at(pixel(lane), PIXEL)));
        push_all(out, &[cost::DURING_BLOCK, Op::WAIT, cost::KEEP_BLOCK]);
        push_all(out, &MEET);
        out.push(cost::BEFORE_PLACES);
    }

    /// One load of a pixel of the reference frame for each thread: the `pixel`-th of 24 in a turn, row by row.
    fn load_pixel(&self, turn: u32, pixel: u32, out: &mut OpSink<'_>) {
        let at = pixel % PIXELS;
        if pixel == 0 {
            out.push(cost::BEFORE_TURN);
        }
        if at == 0 {
            out.push(cost::BEFORE_PIXELS);
        }
        load_lanes(out, self.threads(turn).map(|thread| self.reference(thread, turn, pixel)));
        match at {
            1 | 2 => out.push(cost::DURING_PIXELS[at as usize - 1]),
            11 => push_all(out, &[cost::AFTER_PIXELS, Op::WAIT, cost::ADD]),
            _ => {}
        }
        if pixel == 2 * PIXELS - 1 {
            out.push(cost::KEEP_SUMS);
        }
    }

    /// Threads that still have places: in the last turn half as many as in the others.
    fn threads(&self, turn: u32) -> impl Iterator<Item = u64> + use<> {
        (0..THREADS).filter(move |thread| thread * OWN_PLACES + u64::from(turn) * TURN < PLACES)
    }

    fn reference(&self, thread: u64, turn: u32, pixel: u32) -> u64 {
        let place = thread * OWN_PLACES + u64::from(turn) * TURN;
        let inside = |start: u64, offset: u64, size: u64| (start + offset).saturating_sub(RANGE / 2).min(size - 1);
        let x = inside(self.x * BLOCK, place % RANGE + u64::from(pixel % 6), self.sad.width);
        let y = inside(self.y * BLOCK, place / RANGE + u64::from(pixel / 6), self.sad.height);
        self.sad.reference.at(y * self.sad.width + x, PIXEL)
    }

    /// Where the block's sums lie.
    fn sums(&self) -> u64 {
        let across = MACROBLOCK / BLOCK;
        let macroblock = self.y / across * self.sad.macroblocks_across() + self.x / across;
        let block = self.y % across * across + self.x % across;
        let array = self.sad.macroblocks() * LARGER_ARRAYS + macroblock * across * across + block;
        self.sad.sums.at(array * PADDED, PIXEL)
    }

    /// 32 threads copy eight bytes each at a time.
    fn store_sums(&self, out: &mut OpSink<'_>) {
        push_all(out, &[cost::TEST, cost::BEFORE_SUMS]);
        let (bytes, at_once) = (PADDED * PIXEL, 32 * 8);
        for start in (0..bytes).step_by(at_once as usize) {
            push_all(out, &[cost::FETCH_SUM, Op::WAIT]);
            store_span(out, self.sums() + start, at_once.min(bytes - start));
            out.push(cost::NEXT_SUM);
        }
    }
}

impl Workload for Sad {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers()).inputs(["frame", "ref"]).outputs(["sads"]).build()
    }

    fn launches(&self) -> u32 {
        3
    }

    fn launch(&self, index: u32) -> Launch {
        let macroblocks = self.macroblocks() as u32;
        let blocks = (MACROBLOCK / BLOCK).pow(2) as u32;
        let (kernel, work_groups, wavefronts_per_group) = match index {
            0 => ("mb_sad_calc", macroblocks * blocks, 1),
            1 => ("larger_sad_calc_8", macroblocks, 2),
            _ => ("larger_sad_calc_16", macroblocks, 1),
        };
        Launch { kernel: kernel.into(), work_groups, wavefronts_per_group }
    }

    fn resources(&self, index: u32) -> Resources {
        match index {
            0 => Resources { vector_registers: 48, scalar_registers: 24, local_data_bytes: 2224 },
            1 => Resources { vector_registers: 20, scalar_registers: 10, local_data_bytes: 0 },
            _ => Resources { vector_registers: 18, scalar_registers: 28, local_data_bytes: 0 },
        }
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    /// Steps of the first kernel: the block; for each turn 24 loads of pixels; the sums.
    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        if launch > 0 {
            let merge = if launch == 1 { Merge::To8 { half: wavefront.into() } } else { Merge::To16 };
            return Larger { sums: &self.sums, macroblocks: self.macroblocks(), macroblock: group.into(), merge }
                .fill(cursor, out);
        }
        let across = u64::from(group) % (self.width / BLOCK);
        let group = Group { sad: self, x: across, y: u64::from(group) / (self.width / BLOCK) };
        let loads = TURNS * 2 * PIXELS;
        steps(cursor, out, loads + 3, |step, out| match step {
            0 => group.load_block(out),
            step if step <= loads => {
                group.load_pixel((step - 1) / (2 * PIXELS), (step - 1) % (2 * PIXELS), out);
            }
            step if step == loads + 1 => {
                out.push(cost::AFTER_PLACES);
                push_all(out, &MEET);
            }
            _ => group.store_sums(out),
        });
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "sad",
    summary: "sums of absolute differences for motion estimation: gathers from a frame, then sums of sums",
    source: "Parboil sad; one of Mosaic's applications (MICRO 2017), frame of this project's choice",
    schema: typed::schema::<SadOptions>,
    resolve: typed::resolve::<SadOptions>,
    build: |options, size: &Size| {
        let SadOptions { width, height } = typed::parse(options)?;
        let side = |given: Option<u64>, usual| given.map_or_else(|| scaled_side(usual, size.scale, MACROBLOCK), Ok);
        Ok(Box::new(Sad::new(side(width, USUAL_WIDTH)?, side(height, USUAL_HEIGHT)?)?))
    },
};
