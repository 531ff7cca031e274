//! Random updates of a table (HPC Challenge `RandomAccess`, giga-updates per second): the plainest of irregular
//! patterns, a read and a write of eight bytes anywhere in the table.
//!
//! The updates follow the benchmark's own sequence: each number is the one before shifted left, with 7 added (xor) when
//! a bit fell out. That is multiplication by x of polynomials over GF(2) modulo x^64 + x^2 + x + 1. Each thread has its
//! own stretch of the sequence, whose first number it reads from a table that the host made, and updates the word that
//! the low bits of each number select. Work-groups of 256 threads. Updates are not atomic: the benchmark allows that a
//! few are lost.
//!
//! The benchmark wants the largest table that fits and four updates a word; scale 1 is a table of 64 MB, this project's
//! choice.

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{WAVEFRONT_LANES, load_lanes, load_span, push_all, steps, store_lanes};
use crate::scale;

/// Bytes of a word of the table and of a number of the sequence.
const WORD: u64 = 8;
const LANES: u64 = WAVEFRONT_LANES as u64;
/// Threads of a work-group.
const GROUP: u64 = 256;
/// Threads at most: enough to fill 16 GPUs of 64 compute units with one work-group each, this project's choice.
const MOST_THREADS: u64 = 1 << 18;
/// Words at scale 1.
const USUAL_WORDS: u64 = 64 * scale::MEGABYTE / WORD;
/// Words at least, so that every wavefront is full, and at most.
const LEAST_WORDS: u64 = LANES;
const MOST_WORDS: u64 = 1 << 31;

/// Instructions of the kernel, compiled for GCN3: vector, scalar, local data, branch.
const BEFORE_ARGUMENTS: Op = Op::mix(0, 1, 0, 1);
const LOCATE: Op = Op::mix(3, 1, 0, 0);
const BEFORE_START: Op = Op::mix(3, 0, 0, 0);
const BEFORE_READ: Op = Op::mix(6, 0, 0, 0);
const DURING_READ: Op = Op::mix(4, 2, 0, 0);
const UPDATE: Op = Op::mix(2, 0, 0, 0);
const NEXT: Op = Op::mix(2, 0, 0, 1);

/// Options of `gups`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GupsOptions {
    /// Words of eight bytes in the table, a power of two from 64 to 2^31. Default: enough for a table of 64 MB times
    /// the scale, to the nearest power of two (this project's choice).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<u64>,
    /// Updates for each word of the table, a power of two from 1 to 64. Default 4 (HPC Challenge).
    pub updates: u32,
}

impl Default for GupsOptions {
    fn default() -> Self {
        Self { words: None, updates: 4 }
    }
}

/// One run over a table.
pub struct Gups {
    table: Buffer,
    starts: Buffer,
    buffers: Vec<Buffer>,
    /// Selects a word from a number.
    mask: u64,
    /// First number of each thread.
    first: Vec<u64>,
    /// Updates of each thread.
    updates: u32,
}

impl Gups {
    /// A run over `words` words with `updates` updates for each.
    ///
    /// # Errors
    /// Numbers that the options do not allow.
    pub fn new(words: u64, updates: u32) -> Result<Self, OptionError> {
        if !words.is_power_of_two() || !(LEAST_WORDS..=MOST_WORDS).contains(&words) {
            let expected = format!("expected a power of two from {LEAST_WORDS} to 2^31, found {words}");
            return Err(OptionError::new("words", expected));
        }
        if !updates.is_power_of_two() || updates > 64 {
            return Err(OptionError::new("updates", format!("expected a power of two from 1 to 64, found {updates}")));
        }
        let total = words * u64::from(updates);
        let threads = total.min(MOST_THREADS);
        let each = total / threads;
        let first = std::iter::successors(Some(1), |number| Some(advance(*number, each))).take(threads as usize);
        let mut space = AddressSpace::default();
        let table = space.allocate("table", words * WORD);
        let starts = space.allocate("starts", threads * WORD);
        let buffers = space.buffers().to_vec();
        Ok(Self { table, starts, buffers, mask: words - 1, first: first.collect(), updates: each as u32 })
    }

    /// Addresses of the words that 64 threads from `thread` on update in their `update`-th update.
    fn addresses(&self, thread: u64, update: u32) -> impl Iterator<Item = u64> {
        let first = &self.first[thread as usize..(thread + LANES) as usize];
        first.iter().map(move |first| self.table.base + (advance(*first, update.into()) & self.mask) * WORD)
    }
}

/// The number `places` after `number` in the sequence: its product with x^places.
fn advance(mut number: u64, mut places: u64) -> u64 {
    // A product with x^60 leaves 60 bits beyond the 64, and each stands for itself times x^2 + x + 1: still 62 bits.
    while places > 0 {
        let some = places.min(60);
        let beyond = number >> (64 - some);
        number = number << some ^ beyond << 2 ^ beyond << 1 ^ beyond;
        places -= some;
    }
    number
}

impl Workload for Gups {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers()).inputs(["table", "starts"]).outputs(["table"]).build()
    }

    fn launches(&self) -> u32 {
        1
    }

    fn launch(&self, _index: u32) -> Launch {
        let threads = self.first.len() as u64;
        let wavefronts_per_group = (threads.min(GROUP) / LANES) as u32;
        Launch { kernel: "update".into(), work_groups: threads.div_ceil(GROUP) as u32, wavefronts_per_group }
    }

    fn resources(&self, _index: u32) -> Resources {
        Resources { vector_registers: 9, scalar_registers: 10, local_data_bytes: 0 }
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    /// Steps: the first number; then for each update its read and its write.
    fn fill(&self, _launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let thread = u64::from(group) * GROUP + u64::from(wavefront) * LANES;
        steps(cursor, out, 1 + 2 * self.updates, |step, out| {
            if step == 0 {
                push_all(out, &[Op::WAIT, BEFORE_ARGUMENTS, LOCATE, Op::WAIT, BEFORE_START]);
                load_span(out, self.starts.at(thread, WORD), LANES * WORD);
                return out.push(Op::WAIT);
            }
            let addresses = self.addresses(thread, (step - 1) / 2);
            if step % 2 == 1 {
                out.push(BEFORE_READ);
                load_lanes(out, addresses);
                push_all(out, &[DURING_READ, Op::WAIT, UPDATE]);
            } else {
                store_lanes(out, addresses, WORD);
                out.push(NEXT);
            }
        });
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "gups",
    summary: "random updates of a table (GUPS): a read and a write anywhere, no locality",
    source: "HPC Challenge RandomAccess; one of Mosaic's applications (MICRO 2017), table of this project's choice",
    schema: typed::schema::<GupsOptions>,
    resolve: typed::resolve::<GupsOptions>,
    build: |options, size: &Size| {
        let GupsOptions { words, updates } = typed::parse(options)?;
        let fitting = || {
            let words = scale::power_of_two(USUAL_WORDS, size.scale, LEAST_WORDS)?;
            scale::at_most(MOST_WORDS, words, size.scale)
        };
        Ok(Box::new(Gups::new(words.map_or_else(fitting, Ok)?, updates)?))
    },
};
