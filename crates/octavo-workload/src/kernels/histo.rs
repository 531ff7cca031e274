//! Histogram of bytes (CUDA SDK `histogram`, 256 bins): partial histograms in local memory, then their sum.
//!
//! 240 work-groups of 192 threads walk the data together, a word of four bytes for each thread and turn, and count in
//! one histogram for every 32 threads in local memory, with atomic additions. Each group writes the sum of its six. A
//! second kernel has a work-group of 256 threads for each bin, which reads that bin of all 240 partial histograms: one
//! word on 240 lines. The host repeats both, 16 times by default, on the same data.
//!
//! Which bin a byte belongs to decides where in local memory it is counted and nothing else, so no data are drawn:
//! conflicts in local memory are not modelled.
//!
//! Published input: 1920 x 1080 pixels of four bytes.

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{WAVEFRONT_LANES, load_lanes, load_span, push_all, steps, store_span};
use crate::scale;

/// Bytes of a word of data and of a count.
const WORD: u64 = 4;
const LANES: u64 = WAVEFRONT_LANES as u64;
const BINS: u64 = 256;
/// Work-groups of the first kernel, and so partial histograms; threads of each.
const PARTS: u64 = 240;
const PART_GROUP: u64 = 192;
/// Words that all work-groups read in a turn.
const STRIDE: u64 = PARTS * PART_GROUP;
/// Threads of a work-group of the second kernel.
const MERGE_GROUP: u64 = 256;
/// Halvings of the sum of a work-group's threads.
const HALVINGS: u32 = MERGE_GROUP.ilog2();
/// Words at scale 1.
const PUBLISHED_WORDS: u64 = 1920 * 1080;
/// Words at most: 64 GB.
const MOST_WORDS: u64 = 1 << 34;

/// Instructions of the kernels, compiled for GCN3: vector, scalar, local data, branch.
mod cost {
    use octavo_program::Op;

    pub const CLEAR: Op = Op::mix(3, 2, 4, 0);
    pub const BEFORE_FIRST: Op = Op::mix(1, 1, 0, 1);
    pub const BEFORE_WORDS: Op = Op::mix(5, 1, 0, 0);
    pub const BEFORE_WORD: Op = Op::mix(4, 0, 0, 0);
    pub const DURING_WORD: Op = Op::mix(1, 0, 0, 0);
    pub const COUNT: Op = Op::mix(9, 2, 4, 1);
    pub const BEFORE_BINS: Op = Op::mix(2, 3, 0, 0);
    pub const ADD_SIX: Op = Op::mix(14, 1, 3, 0);
    pub const NEXT_BIN: Op = Op::mix(0, 1, 0, 1);

    pub const BEFORE_COUNT: Op = Op::mix(2, 1, 0, 1);
    pub const BEFORE_PART: Op = Op::mix(9, 1, 0, 0);
    pub const DURING_PART: Op = Op::mix(3, 1, 0, 0);
    pub const ADD_PART: Op = Op::mix(1, 1, 0, 1);
    pub const BEFORE_SUM: Op = Op::mix(1, 4, 1, 1);
    pub const HALVE: Op = Op::mix(1, 5, 0, 2);
    /// The work of threads that remain in a halving.
    pub const ADD_HALF: Op = Op::mix(2, 1, 3, 1);
    pub const AFTER_SUM: Op = Op::mix(1, 2, 0, 1);
    pub const BEFORE_STORE: Op = Op::mix(3, 3, 1, 0);
}

/// Options of `histo`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HistoOptions {
    /// Words of four bytes. Default: 1920 x 1080 times the scale (Mosaic, MICRO 2017).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<u64>,
    /// How often the host repeats both kernels, 1 to 1000. Default 16 (CUDA SDK).
    pub runs: u32,
}

impl Default for HistoOptions {
    fn default() -> Self {
        Self { words: None, runs: 16 }
    }
}

/// Histograms of one array.
pub struct Histo {
    words: u64,
    runs: u32,
    data: Buffer,
    partial: Buffer,
    histogram: Buffer,
    buffers: Vec<Buffer>,
}

impl Histo {
    /// `runs` histograms of `words` words, neither zero.
    ///
    /// # Errors
    /// Numbers that the options do not allow.
    pub fn new(words: u64, runs: u32) -> Result<Self, OptionError> {
        if !(1..=1000).contains(&runs) {
            return Err(OptionError::new("runs", format!("expected 1 to 1000, found {runs}")));
        }
        let mut space = AddressSpace::default();
        let data = space.allocate("data", words * WORD);
        let partial = space.allocate("partial_histograms", PARTS * BINS * WORD);
        let histogram = space.allocate("histogram", BINS * WORD);
        Ok(Self { words, runs, data, partial, histogram, buffers: space.buffers().to_vec() })
    }

    /// A wavefront of the first kernel: its threads are `first` and the 63 after it in their group.
    fn count(&self, group: u64, first: u64, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let place = group * PART_GROUP + first;
        let turns = self.words.saturating_sub(place).div_ceil(STRIDE) as u32;
        steps(cursor, out, turns + 2, |step, out| {
            if step == 0 {
                push_all(out, &[cost::CLEAR, Op::WAIT, cost::BEFORE_FIRST, Op::BARRIER]);
            } else if step <= turns {
                let word = place + u64::from(step - 1) * STRIDE;
                if step == 1 {
                    out.push(cost::BEFORE_WORDS);
                }
                out.push(cost::BEFORE_WORD);
                load_span(out, self.data.at(word, WORD), LANES.min(self.words - word) * WORD);
                push_all(out, &[cost::DURING_WORD, Op::WAIT, cost::COUNT]);
            } else {
                push_all(out, &[cost::BEFORE_BINS, Op::BARRIER]);
                for bin in (first..BINS).step_by(PART_GROUP as usize) {
                    out.push(cost::ADD_SIX);
                    store_span(out, self.partial.at(group * BINS + bin, WORD), LANES * WORD);
                    out.push(cost::NEXT_BIN);
                }
            }
        });
    }

    /// A wavefront of the second kernel, which has a work-group for each bin.
    fn merge(&self, bin: u64, first: u64, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        steps(cursor, out, 2, |step, out| {
            if step == 0 {
                let parts = first..PARTS.min(first + LANES);
                push_all(out, &[Op::WAIT, cost::BEFORE_COUNT, cost::BEFORE_PART]);
                load_lanes(out, parts.map(|part| self.partial.at(part * BINS + bin, WORD)));
                push_all(out, &[cost::DURING_PART, Op::WAIT, cost::ADD_PART, cost::BEFORE_SUM]);
            } else {
                self.sum(bin, first, out);
            }
        });
    }

    /// The sum of what the group's threads have, in local memory.
    fn sum(&self, bin: u64, first: u64, out: &mut OpSink<'_>) {
        for halving in 1..=HALVINGS {
            push_all(out, &[cost::HALVE, Op::BARRIER]);
            if first < MERGE_GROUP >> halving {
                out.push(cost::ADD_HALF);
            }
        }
        out.push(cost::AFTER_SUM);
        if first == 0 {
            out.push(cost::BEFORE_STORE);
            store_span(out, self.histogram.at(bin, WORD), WORD);
        }
    }
}

impl Workload for Histo {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers()).inputs(["data"]).outputs(["histogram"]).scratch(["partial_histograms"]).build()
    }

    fn launches(&self) -> u32 {
        2 * self.runs
    }

    fn launch(&self, index: u32) -> Launch {
        let (kernel, groups, threads) = match index % 2 {
            0 => ("histogram256Kernel", PARTS, PART_GROUP),
            _ => ("mergeHistogram256Kernel", BINS, MERGE_GROUP),
        };
        Launch { kernel: kernel.into(), work_groups: groups as u32, wavefronts_per_group: (threads / LANES) as u32 }
    }

    fn resources(&self, index: u32) -> Resources {
        match index % 2 {
            0 => Resources { vector_registers: 14, scalar_registers: 12, local_data_bytes: 6144 },
            _ => Resources { vector_registers: 8, scalar_registers: 12, local_data_bytes: 1024 },
        }
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let (group, first) = (u64::from(group), u64::from(wavefront) * LANES);
        match launch % 2 {
            0 => self.count(group, first, cursor, out),
            _ => self.merge(group, first, cursor, out),
        }
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "histo",
    summary: "histogram of bytes: streaming reads, then a strided gather of partial histograms",
    source: "CUDA SDK histogram (256 bins); input from Mosaic (MICRO 2017)",
    schema: typed::schema::<HistoOptions>,
    resolve: typed::resolve::<HistoOptions>,
    build: |options, size: &Size| {
        let HistoOptions { words, runs } = typed::parse(options)?;
        let words = scale::chosen("words", words, PUBLISHED_WORDS, size.scale, 1, MOST_WORDS)?;
        Ok(Box::new(Histo::new(words, runs)?))
    },
};
