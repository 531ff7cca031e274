//! Addition of two vectors (HIP sample, as MGPUSim ships it): one element for each thread, work-groups of 64.
//!
//! The plainest of streams: every line is touched once. Kernel arguments are left out.
//!
//! Scale 1 is 32 MB, this project's choice, as nothing is published.

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::typed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{WAVEFRONT_LANES, load_span, store_span};
use crate::scale;

/// Bytes of an element.
const ELEMENT: u64 = 4;
const LANES: u64 = WAVEFRONT_LANES as u64;
/// Elements at scale 1.
const USUAL_ELEMENTS: u64 = 32 * scale::MEGABYTE / (3 * ELEMENT);

/// Instructions of the compiled GCN3 kernel: vector, scalar, local data, branch.
const BEFORE_ARGUMENTS: Op = Op::mix(2, 0, 0, 0);
const LOCATE: Op = Op::mix(6, 6, 0, 1);
const BEFORE_LOADS: Op = Op::mix(2, 0, 0, 0);
const BEFORE_WAIT: Op = Op::mix(1, 0, 0, 0);
const ADD: Op = Op::mix(1, 0, 0, 0);

/// Options of `vectoradd`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VectorAddOptions {
    /// Elements of each vector. Default: enough for a footprint of 32 MB times the scale (this project's choice).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elements: Option<u64>,
}

/// One addition.
pub struct VectorAdd {
    elements: u64,
    sum: Buffer,
    addends: [Buffer; 2],
    buffers: Vec<Buffer>,
}

impl VectorAdd {
    /// An addition of two vectors of `elements` elements, not zero.
    #[must_use]
    pub fn new(elements: u64) -> Self {
        assert!(elements > 0, "a vector needs elements");
        let mut space = AddressSpace::default();
        let sum = space.allocate("a", elements * ELEMENT);
        let addends = ["b", "c"].map(|name| space.allocate(name, elements * ELEMENT));
        Self { elements, sum, addends, buffers: space.buffers().to_vec() }
    }
}

impl Workload for VectorAdd {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers()).inputs(["b", "c"]).outputs(["a"]).build()
    }

    fn launches(&self) -> u32 {
        1
    }

    fn launch(&self, _index: u32) -> Launch {
        let work_groups = self.elements.div_ceil(LANES) as u32;
        Launch { kernel: "_Z15vectoradd_floatPfPKfS1_ii".into(), work_groups, wavefronts_per_group: 1 }
    }

    fn resources(&self, _index: u32) -> Resources {
        Resources { vector_registers: 8, scalar_registers: 16, local_data_bytes: 0 }
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    fn fill(&self, _launch: u32, group: u32, _wavefront: u32, _cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let thread = u64::from(group) * LANES;
        let bytes = LANES.min(self.elements - thread) * ELEMENT;
        // The waits are for kernel arguments.
        [BEFORE_ARGUMENTS, Op::WAIT, LOCATE, Op::WAIT, BEFORE_LOADS].into_iter().for_each(|op| out.push(op));
        self.addends.iter().for_each(|addend| load_span(out, addend.at(thread, ELEMENT), bytes));
        [BEFORE_WAIT, Op::WAIT, ADD].into_iter().for_each(|op| out.push(op));
        store_span(out, self.sum.at(thread, ELEMENT), bytes);
        out.push(Op::END);
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "vectoradd",
    summary: "sum of two vectors: every line once, pages nearly all private",
    source: "HIP vectoradd, as shipped with MGPUSim v4.2.0",
    schema: typed::schema::<VectorAddOptions>,
    resolve: typed::resolve::<VectorAddOptions>,
    build: |options, size: &Size| {
        let VectorAddOptions { elements } = typed::parse(options)?;
        let fitting = || scale::length(USUAL_ELEMENTS, size.scale, LANES);
        let elements = elements.map_or_else(fitting, |given| scale::given("elements", given))?;
        scale::work_groups("elements", elements.div_ceil(LANES))?;
        Ok(Box::new(VectorAdd::new(elements)))
    },
};
