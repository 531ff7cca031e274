//! Finite impulse response filter (Hetero-Mark `FIR`): one output sample for each thread, work-groups of 256.
//!
//! Thread `t` sums `coefficient[i] * input[t - i]` over the taps, with `history[taps - (i - t)]` where the input has
//! not begun yet. Every tap is one load that is waited for before the multiplication; neighbouring taps touch the same
//! four or five lines, so nearly all accesses hit close caches. The coefficients' address is uniform, so the compiler
//! reads them with scalar loads, one for each tap. Kernel arguments are left out.
//!
//! Published footprint 155 MB: input and output of 20,316,160 samples.

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{WAVEFRONT_LANES, load_ascending, load_scalar, load_span, store_span};
use crate::scale;

/// Bytes of a sample.
const SAMPLE: u64 = 4;
const LANES: u64 = WAVEFRONT_LANES as u64;
/// Threads of a work-group.
const GROUP: u64 = 256;
/// Samples at scale 1: 155 MB of input and output.
const PUBLISHED_SAMPLES: u64 = 155 * scale::MEGABYTE / (2 * SAMPLE);

/// Instructions of the compiled GCN3 kernel: vector, scalar, local data, branch.
const BEFORE_ARGUMENTS: Op = Op::mix(1, 0, 0, 0);
const BEFORE_FIRST_LOAD: Op = Op::mix(19, 5, 0, 1);
const DURING_LOAD: Op = Op::mix(0, 4, 0, 0);
const BEFORE_NEXT_LOAD: Op = Op::mix(15, 0, 0, 1);
const EPILOGUE: Op = Op::mix(6, 0, 0, 1);

/// Operations of one tap at most: prologue with its wait, compute, a load from history and input, coefficient, compute,
/// wait.
const TAP_OPS: usize = 8;
/// Operations after the last tap: compute, store, end.
const TAIL_OPS: usize = 3;

/// Options of `fir`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FirOptions {
    /// Filter coefficients, and so loads for each sample. Default 16 (Hetero-Mark and MGPUSim).
    pub taps: u32,
    /// Samples, one for each thread. Default: enough for a footprint of 155 MB times the scale (GRIT, table of
    /// applications).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
}

impl Default for FirOptions {
    fn default() -> Self {
        Self { taps: 16, samples: None }
    }
}

/// A filter over one signal.
pub struct Fir {
    samples: u64,
    taps: u64,
    history: Buffer,
    input: Buffer,
    output: Buffer,
    filter: Buffer,
    buffers: Vec<Buffer>,
}

impl Fir {
    /// A filter of `taps` coefficients over `samples` samples, neither zero.
    #[must_use]
    pub fn new(samples: u64, taps: u32) -> Self {
        assert!(samples > 0 && taps > 0, "a filter needs samples and taps");
        let mut space = AddressSpace::default();
        let taps = u64::from(taps);
        let history = space.allocate("history", taps * SAMPLE);
        let input = space.allocate("input", samples * SAMPLE);
        let output = space.allocate("output", samples * SAMPLE);
        let filter = space.allocate("filter", taps * SAMPLE);
        Self { samples, taps, history, input, output, filter, buffers: space.buffers().to_vec() }
    }

    /// The load of tap `tap` by `lanes` threads from `thread` on: the first lanes may still need history.
    #[inline]
    fn load_tap(&self, out: &mut OpSink<'_>, thread: u64, lanes: u64, tap: u64) {
        if tap <= thread {
            return load_span(out, self.input.base + (thread - tap) * SAMPLE, lanes * SAMPLE);
        }
        let early = lanes.min(tap - thread);
        let history = self.history.base + (self.taps - (tap - thread)) * SAMPLE;
        // The first lane that needs no history reads the first sample.
        load_ascending(out, [(history, early * SAMPLE), (self.input.base, (lanes - early) * SAMPLE)]);
    }
}

impl Workload for Fir {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers()).inputs(["history", "input", "filter"]).outputs(["output"]).build()
    }

    fn launches(&self) -> u32 {
        1
    }

    fn launch(&self, _index: u32) -> Launch {
        let work_groups = self.samples.div_ceil(GROUP) as u32;
        Launch { kernel: "FIR".into(), work_groups, wavefronts_per_group: (GROUP / LANES) as u32 }
    }

    fn resources(&self, _index: u32) -> Resources {
        Resources { vector_registers: 10, scalar_registers: 22, local_data_bytes: 0 }
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    /// The cursor holds the next tap.
    fn fill(&self, _launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let thread = u64::from(group) * GROUP + u64::from(wavefront) * LANES;
        if thread >= self.samples {
            return out.push(Op::END);
        }
        let lanes = LANES.min(self.samples - thread);
        let mut tap = u64::from(cursor.0[0]);
        while tap < self.taps && out.remaining() >= TAP_OPS {
            if tap == 0 {
                out.push(BEFORE_ARGUMENTS);
                out.push(Op::WAIT);
            }
            out.push(if tap == 0 { BEFORE_FIRST_LOAD } else { BEFORE_NEXT_LOAD });
            self.load_tap(out, thread, lanes, tap);
            load_scalar(out, self.filter.at(tap, SAMPLE));
            out.push(DURING_LOAD);
            out.push(Op::WAIT);
            tap += 1;
        }
        cursor.0[0] = tap as u32;
        if tap == self.taps && out.remaining() >= TAIL_OPS {
            out.push(EPILOGUE);
            store_span(out, self.output.base + thread * SAMPLE, lanes * SAMPLE);
            out.push(Op::END);
        }
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "fir",
    summary: "finite impulse response filter: adjacent pattern, pages nearly all private",
    source: "Hetero-Mark FIR, as shipped with MGPUSim v4.2.0; footprint from GRIT (HPCA 2024), application table",
    schema: typed::schema::<FirOptions>,
    resolve: typed::resolve::<FirOptions>,
    build: |options, size: &Size| {
        let FirOptions { taps, samples } = typed::parse(options)?;
        let samples = match samples {
            Some(samples) => scale::given("samples", samples)?,
            None => scale::length(PUBLISHED_SAMPLES, size.scale, GROUP)?,
        };
        if taps == 0 || u64::from(taps) > samples {
            return Err(OptionError::new("taps", format!("expected 1 to {samples} (the samples), found {taps}")));
        }
        Ok(Box::new(Fir::new(samples, taps)))
    },
};
