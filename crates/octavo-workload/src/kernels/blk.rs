//! Prices of European options by the Black-Scholes formula (CUDA SDK BlackScholes): two options a thread.
//!
//! Each thread reads price, strike and years as pairs of floats and writes call and put; work-groups of 128. Nothing is
//! read twice. The sample repeats the launch 512 times.
//!
//! Scale 1 is the published input: five arrays of 8 MB, two million options.

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{WAVEFRONT_LANES, load_span, push_all, store_span};
use crate::kernels::matrix::ELEMENT_BYTES;
use crate::scale;

/// Threads of a work-group.
pub const GROUP: u64 = 128;
/// Options of a thread, which are one element of each array.
pub const PAIR: u64 = 2;
const PAIR_BYTES: u64 = PAIR * ELEMENT_BYTES;
const LANES: u64 = WAVEFRONT_LANES as u64;
/// Options at scale 1.
const PUBLISHED_OPTIONS: u64 = 8 * scale::MEGABYTE / ELEMENT_BYTES;

/// Options of `blk`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BlkOptions {
    /// Options to price, an even number. Default: five arrays of 8 MB times the scale (Mosaic, MICRO 2017).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<u64>,
    /// How often all are priced, at least once. Default 4 (CUDA SDK: 512, all alike).
    pub iterations: u32,
}

impl Default for BlkOptions {
    fn default() -> Self {
        Self { options: None, iterations: 4 }
    }
}

/// Pricing of one set of options.
pub struct Blk {
    pairs: u64,
    iterations: u32,
    results: [Buffer; 2],
    inputs: [Buffer; 3],
    buffers: Vec<Buffer>,
}

impl Blk {
    /// `options` options, priced `iterations` times.
    ///
    /// # Errors
    /// An odd number of options, or none; no iterations.
    pub fn new(options: u64, iterations: u32) -> Result<Self, OptionError> {
        let options = scale::multiple("options", options, PAIR)?;
        let iterations = scale::at_least_one("iterations", iterations)?;
        let mut space = AddressSpace::default();
        let mut array = |name| space.allocate(name, options * ELEMENT_BYTES);
        let results = ["CallResult", "PutResult"].map(&mut array);
        let inputs = ["StockPrice", "OptionStrike", "OptionYears"].map(&mut array);
        Ok(Self { pairs: options / PAIR, iterations, results, inputs, buffers: space.buffers().to_vec() })
    }

    fn price(&self, first: u64, out: &mut OpSink<'_>) {
        let bytes = LANES.min(self.pairs - first) * PAIR_BYTES;
        let [price, strike, years] = self.inputs.each_ref().map(|input| input.at(first, PAIR_BYTES));
        push_all(out, &cost::BEFORE_LOADS);
        load_span(out, price, bytes);
        load_span(out, strike, bytes);
        push_all(out, &cost::BEFORE_LAST_LOAD);
        load_span(out, years, bytes);
        push_all(out, &cost::FORMULA);
        for result in &self.results {
            out.push(cost::BEFORE_STORE);
            store_span(out, result.at(first, PAIR_BYTES), bytes);
        }
    }
}

/// Instructions of the compiled GCN3 kernel: vector, scalar, local data, branch.
mod cost {
    use octavo_program::Op;

    pub const ENTRY: [Op; 2] = [Op::WAIT, Op::mix(2, 3, 0, 1)];
    pub const BEFORE_LOADS: [Op; 3] = [Op::mix(3, 0, 0, 0), Op::WAIT, Op::mix(6, 0, 0, 0)];
    /// The wait is for an argument, and on this machine for the loads, too.
    pub const BEFORE_LAST_LOAD: [Op; 3] = [Op::mix(3, 1, 0, 0), Op::WAIT, Op::mix(3, 0, 0, 0)];
    /// Both options of a thread.
    pub const FORMULA: [Op; 8] = [
        Op::mix(3, 5, 0, 0),
        Op::wait_until(2),
        Op::mix(1, 0, 0, 0),
        Op::wait_until(1),
        Op::mix(11, 0, 0, 0),
        Op::WAIT,
        Op::mix(103, 0, 0, 0),
        Op::WAIT,
    ];
    pub const BEFORE_STORE: Op = Op::mix(3, 0, 0, 0);
}

impl Workload for Blk {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers())
            .inputs(["StockPrice", "OptionStrike", "OptionYears"])
            .outputs(["CallResult", "PutResult"])
            .build()
    }

    fn launches(&self) -> u32 {
        self.iterations
    }

    fn launch(&self, _index: u32) -> Launch {
        let work_groups = self.pairs.div_ceil(GROUP) as u32;
        Launch { kernel: "BlackScholesGPU".into(), work_groups, wavefronts_per_group: (GROUP / LANES) as u32 }
    }

    fn resources(&self, _index: u32) -> Resources {
        Resources { vector_registers: 19, scalar_registers: 14, local_data_bytes: 0 }
    }

    fn waits_for_some(&self) -> bool {
        true
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    /// At most 24 operations, so always the whole wavefront.
    fn fill(&self, _launch: u32, group: u32, wavefront: u32, _cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let first = u64::from(group) * GROUP + u64::from(wavefront) * LANES;
        push_all(out, &cost::ENTRY);
        if first < self.pairs {
            self.price(first, out);
        }
        out.push(Op::END);
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "blk",
    summary: "Black-Scholes prices of two million options (CUDA SDK BlackScholes); 40 MB, streaming",
    source: "CUDA SDK BlackScholes, BlackScholesGPU; 5 x 8 MB as in Mosaic (MICRO 2017)",
    schema: typed::schema::<BlkOptions>,
    resolve: typed::resolve::<BlkOptions>,
    build: |options, size: &Size| {
        let BlkOptions { options, iterations } = typed::parse(options)?;
        let fitting = || scale::length(PUBLISHED_OPTIONS, size.scale, PAIR);
        Ok(Box::new(Blk::new(options.map_or_else(fitting, Ok)?, iterations)?))
    },
};
