//! Random access as UVMSmart's benchmark `ra` has it: of every hundredth thread, a word of one array says which word of
//! a second is read and of a third is written. Work-groups of 256.
//!
//! The first array holds random numbers. Here each is computed from its place, so that nothing is stored. `gups`
//! updates a table at random instead.
//!
//! Scale 1 is the input of UVMSmart's benchmarks (ISCA 2019), 2^20 words an array.

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::typed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{WAVEFRONT_LANES, load_lanes, push_all, steps, store_lanes};
use crate::random::mixed;
use crate::scale;

/// Bytes of a number.
const WORD: u64 = 4;
const LANES: u64 = WAVEFRONT_LANES as u64;
/// Threads of a work-group.
const GROUP: u64 = 256;
/// One in this many threads has something to do.
const EVERY: u64 = 100;
/// Words of an array at scale 1, and at most.
const PUBLISHED_WORDS: u64 = 1 << 20;
const MOST_WORDS: u64 = 1 << 31;

/// Instructions: vector, scalar, local data, branch. Counted by hand from the program, not from a compiled kernel.
mod cost {
    use octavo_program::Op;

    /// The thread's number, and whether it is one of those.
    pub const ENTRY: [Op; 3] = [Op::mix(0, 2, 0, 0), Op::WAIT, Op::mix(8, 1, 0, 1)];
    pub const BEFORE_INPUT: [Op; 1] = [Op::mix(3, 0, 0, 0)];
    /// The fraction times the length is the word's place.
    pub const LOCATE: [Op; 2] = [Op::WAIT, Op::mix(8, 0, 0, 0)];
    pub const MULTIPLY: [Op; 2] = [Op::WAIT, Op::mix(4, 0, 0, 0)];
}

/// Options of `random-access`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RandomAccessOptions {
    /// Words of four bytes in each of the three arrays, at most 2^31. Default at scale 1: 2^20 (UVMSmart's benchmarks).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<u64>,
}

/// One run over three arrays.
pub struct RandomAccess {
    words: u64,
    seed: u64,
    input: Buffer,
    output: Buffer,
    table: Buffer,
    buffers: Vec<Buffer>,
}

impl RandomAccess {
    /// Arrays of this many words, at least one.
    #[must_use]
    pub fn new(words: u64, seed: u64) -> Self {
        let mut space = AddressSpace::default();
        let [input, output, table] = ["input", "output", "table"].map(|name| space.allocate(name, words * WORD));
        Self { words, seed, input, output, table, buffers: space.buffers().to_vec() }
    }

    /// The word that a thread reads and writes.
    #[must_use]
    pub fn target(&self, thread: u64) -> u64 {
        ((u128::from(mixed(thread ^ mixed(self.seed))) * u128::from(self.words)) >> 64) as u64
    }
}

impl Workload for RandomAccess {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers()).inputs(["input", "table"]).outputs(["output"]).build()
    }

    fn launches(&self) -> u32 {
        1
    }

    fn launch(&self, _index: u32) -> Launch {
        let work_groups = self.words.div_ceil(GROUP) as u32;
        Launch { kernel: "kernel".into(), work_groups, wavefronts_per_group: (GROUP / LANES) as u32 }
    }

    fn resources(&self, _index: u32) -> Resources {
        Resources { vector_registers: 8, scalar_registers: 12, local_data_bytes: 0 }
    }

    fn fill(&self, _launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let first = u64::from(group) * GROUP + u64::from(wavefront) * LANES;
        let active = (first..(first + LANES).min(self.words)).filter(|thread| thread % EVERY == 0);
        steps(cursor, out, 1, |_, out| {
            push_all(out, &cost::ENTRY);
            if active.clone().next().is_none() {
                return;
            }
            push_all(out, &cost::BEFORE_INPUT);
            load_lanes(out, active.clone().map(|thread| self.input.at(thread, WORD)));
            push_all(out, &cost::LOCATE);
            load_lanes(out, active.clone().map(|thread| self.table.at(self.target(thread), WORD)));
            push_all(out, &cost::MULTIPLY);
            store_lanes(out, active.clone().map(|thread| self.output.at(self.target(thread), WORD)), WORD);
            out.push(Op::WAIT);
        });
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "random-access",
    summary: "every hundredth thread reads and writes a word that a word of its own says",
    source: "UVMSmart's benchmark ra (ISCA 2019), 2^20 words",
    schema: typed::schema::<RandomAccessOptions>,
    resolve: typed::resolve::<RandomAccessOptions>,
    build: |options, size: &Size| {
        let RandomAccessOptions { words } = typed::parse(options)?;
        let words = scale::chosen("words", words, PUBLISHED_WORDS, size.scale, 1, MOST_WORDS)?;
        Ok(Box::new(RandomAccess::new(words, size.seed)))
    },
};
