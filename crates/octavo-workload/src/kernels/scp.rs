//! Scalar products of many pairs of vectors (CUDA SDK scalarProd): 128 work-groups of 256 threads, a pair at a time
//! each.
//!
//! A thread adds up every 1024th product four times over, which leaves 1024 partial sums in local memory; these are
//! halved ten times, with a barrier before each, and the first thread stores the product. A group continues with the
//! pair 128 further. Every element is read once; with a contiguous range of groups for each GPU a page belongs to one
//! GPU.
//!
//! Scale 1 is the published input, the sample's own: 256 pairs of vectors of 4096 elements, 2 x 4 MB.

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{WAVEFRONT_LANES, load_span, parts, push_all, store_span};
use crate::kernels::matrix::ELEMENT_BYTES;
use crate::scale;

/// Work-groups of the launch.
pub const GROUPS: u64 = 128;
/// Threads of a work-group.
pub const THREADS: u64 = 256;
/// Partial sums of a pair.
pub const SUMS: u64 = 1024;
/// Partial sums of a thread.
const SLOTS: u64 = SUMS / THREADS;
const HALVINGS: u64 = SUMS.ilog2() as u64;
const LANES: u64 = WAVEFRONT_LANES as u64;
/// Pairs at scale 1.
const PUBLISHED_PAIRS: u64 = 256;

/// Options of `scp`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ScpOptions {
    /// Pairs of vectors. Default: 256 times the scale (CUDA SDK; Mosaic, MICRO 2017).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<u64>,
    /// Elements of a vector, a multiple of 1024. Default 4096 (CUDA SDK).
    pub elements: u64,
}

impl Default for ScpOptions {
    fn default() -> Self {
        Self { pairs: None, elements: 4096 }
    }
}

/// Scalar products of pairs of vectors.
pub struct Scp {
    pairs: u64,
    elements: u64,
    factors: [Buffer; 2],
    products: Buffer,
    buffers: Vec<Buffer>,
}

impl Scp {
    /// `pairs` pairs of vectors of `elements` elements.
    ///
    /// # Errors
    /// None of them, or not a multiple of [`SUMS`] elements.
    pub fn new(pairs: u64, elements: u64) -> Result<Self, OptionError> {
        let elements = scale::multiple("elements", elements, SUMS)?;
        let pairs = scale::given("pairs", pairs)?;
        scale::given("pairs", pairs.saturating_mul(elements))?;
        let mut space = AddressSpace::default();
        let products = space.allocate("C", pairs * ELEMENT_BYTES);
        let factors = ["A", "B"].map(|name| space.allocate(name, pairs * elements * ELEMENT_BYTES));
        Ok(Self { pairs, elements, factors, products, buffers: space.buffers().to_vec() })
    }

    /// Turns of the loop over one partial sum's elements.
    fn turns(&self) -> u64 {
        self.elements / SUMS
    }

    /// Adds one product to one partial sum of each thread.
    fn multiply(&self, pair: u64, wavefront: u32, slot: u64, turn: u64, out: &mut OpSink<'_>) {
        if (slot, turn) == (0, 0) {
            out.push(cost::BEFORE_PAIR);
        }
        if turn == 0 {
            push_all(out, &cost::BEFORE_SUM);
        }
        push_all(out, &cost::BEFORE_LOADS);
        let first = pair * self.elements + turn * SUMS + slot * THREADS + u64::from(wavefront) * LANES;
        self.factors.iter().for_each(|f| load_span(out, f.at(first, ELEMENT_BYTES), LANES * ELEMENT_BYTES));
        push_all(out, &cost::AFTER_LOADS);
        if turn + 1 == self.turns() {
            push_all(out, &cost::AFTER_SUM);
        }
    }

    fn store(&self, pair: u64, wavefront: u32, out: &mut OpSink<'_>) {
        push_all(out, &cost::MEET);
        out.push(cost::BRANCH);
        if wavefront == 0 {
            push_all(out, &cost::BEFORE_STORE);
            store_span(out, self.products.at(pair, ELEMENT_BYTES), ELEMENT_BYTES);
            out.push(cost::AFTER_STORE);
        }
        out.push(cost::NEXT_PAIR);
    }
}

/// Adds the second half of `2 * stride` partial sums to the first.
fn halve(stride: u64, wavefront: u32, out: &mut OpSink<'_>) {
    if stride == SUMS / 2 {
        out.push(cost::BEFORE_HALVINGS);
    }
    out.push(cost::BEFORE_HALVING);
    push_all(out, &cost::MEET);
    out.push(cost::BRANCH);
    let first = u64::from(wavefront) * LANES;
    if first < stride {
        out.push(cost::BEFORE_ADDING);
        (first..stride).step_by(THREADS as usize).for_each(|_| push_all(out, &cost::ADD));
        out.push(cost::AFTER_ADDING);
    }
    out.push(cost::NEXT_HALVING);
}

/// Instructions of the compiled GCN3 kernel: vector, scalar, local data, branch.
mod cost {
    use octavo_program::Op;

    pub const ENTRY: [Op; 2] = [Op::WAIT, Op::mix(0, 1, 0, 1)];
    pub const BEFORE_PAIRS: Op = Op::mix(3, 5, 0, 1);
    pub const BEFORE_PAIR: Op = Op::mix(1, 3, 0, 1);
    pub const BEFORE_SUM: [Op; 2] = [Op::mix(3, 1, 0, 1), Op::mix(1, 1, 0, 0)];
    pub const BEFORE_LOADS: [Op; 3] = [Op::mix(1, 0, 0, 0), Op::WAIT, Op::mix(6, 0, 0, 0)];
    pub const AFTER_LOADS: [Op; 3] = [Op::mix(2, 1, 0, 0), Op::WAIT, Op::mix(1, 1, 0, 1)];
    pub const AFTER_SUM: [Op; 2] = [Op::mix(0, 1, 0, 1), Op::mix(4, 3, 1, 1)];
    pub const BEFORE_HALVINGS: Op = Op::mix(0, 2, 0, 1);
    pub const BEFORE_HALVING: Op = Op::mix(1, 0, 0, 0);
    pub const MEET: [Op; 3] = [Op::WAIT, Op::BARRIER, Op::WAIT];
    pub const BRANCH: Op = Op::mix(0, 1, 0, 1);
    pub const BEFORE_ADDING: Op = Op::mix(4, 1, 0, 0);
    pub const ADD: [Op; 3] = [Op::mix(2, 0, 2, 0), Op::WAIT, Op::mix(3, 2, 1, 1)];
    pub const AFTER_ADDING: Op = Op::mix(0, 0, 0, 1);
    pub const NEXT_HALVING: Op = Op::mix(0, 4, 0, 1);
    pub const BEFORE_STORE: [Op; 2] = [Op::mix(2, 3, 1, 0), Op::WAIT];
    pub const AFTER_STORE: Op = Op::mix(0, 0, 0, 1);
    pub const NEXT_PAIR: Op = Op::mix(0, 3, 0, 1);
}

impl Workload for Scp {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers()).inputs(["A", "B"]).outputs(["C"]).build()
    }

    fn launches(&self) -> u32 {
        1
    }

    fn launch(&self, _index: u32) -> Launch {
        let wavefronts_per_group = (THREADS / LANES) as u32;
        Launch { kernel: "scalarProdGPU".into(), work_groups: GROUPS as u32, wavefronts_per_group }
    }

    fn resources(&self, _index: u32) -> Resources {
        Resources { vector_registers: 11, scalar_registers: 25, local_data_bytes: 4096 }
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    /// After the set-up, a pair is one part for each turn of each partial sum, one for each halving, and the store.
    fn fill(&self, _launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let sums = SLOTS * self.turns();
        let of_pair = sums + HALVINGS + 1;
        parts(cursor, out, |part, out| {
            let Some(part) = u64::from(part).checked_sub(1) else {
                push_all(out, &cost::ENTRY);
                if u64::from(group) < self.pairs {
                    out.push(cost::BEFORE_PAIRS);
                }
                return;
            };
            let (pair, step) = (u64::from(group) + part / of_pair * GROUPS, part % of_pair);
            if pair >= self.pairs {
                out.push(Op::END);
            } else if step < sums {
                self.multiply(pair, wavefront, step / self.turns(), step % self.turns(), out);
            } else if step < sums + HALVINGS {
                halve(SUMS >> (step - sums + 1), wavefront, out);
            } else {
                self.store(pair, wavefront, out);
            }
        });
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "scp",
    summary: "scalar products of 256 pairs of vectors (CUDA SDK scalarProd); 8 MB, streaming",
    source: "CUDA SDK scalarProd, scalarProdGPU; 2 x 4 MB as in Mosaic (MICRO 2017)",
    schema: typed::schema::<ScpOptions>,
    resolve: typed::resolve::<ScpOptions>,
    build: |options, size: &Size| {
        let ScpOptions { pairs, elements } = typed::parse(options)?;
        let fitting = || scale::length(PUBLISHED_PAIRS, size.scale, 1);
        Ok(Box::new(Scp::new(pairs.map_or_else(fitting, Ok)?, elements)?))
    },
};
