//! Rectified linear unit (DNN-Mark, forward pass): one element for each thread, work-groups of 64.
//!
//! Kernel arguments are left out. Scale 1 is 32 MB, this project's choice, as nothing is published.

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
const USUAL_ELEMENTS: u64 = 32 * scale::MEGABYTE / (2 * ELEMENT);

/// Instructions of the compiled GCN3 kernel: vector, scalar, local data, branch.
const LOCATE: Op = Op::mix(5, 3, 0, 1);
const BEFORE_LOAD: Op = Op::mix(3, 0, 0, 0);
const BEFORE_WAIT: Op = Op::mix(3, 0, 0, 0);
const RECTIFY: Op = Op::mix(2, 0, 0, 0);

/// Options of `relu`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReluOptions {
    /// Elements of input and output. Default: enough for a footprint of 32 MB times the scale (this project's choice).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elements: Option<u64>,
}

/// One forward pass.
pub struct Relu {
    elements: u64,
    input: Buffer,
    output: Buffer,
    buffers: Vec<Buffer>,
}

impl Relu {
    /// A pass over `elements` elements, not zero.
    #[must_use]
    pub fn new(elements: u64) -> Self {
        assert!(elements > 0, "a layer needs elements");
        let mut space = AddressSpace::default();
        let [input, output] = ["input", "output"].map(|name| space.allocate(name, elements * ELEMENT));
        Self { elements, input, output, buffers: space.buffers().to_vec() }
    }
}

impl Workload for Relu {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers()).inputs(["input"]).outputs(["output"]).build()
    }

    fn launches(&self) -> u32 {
        1
    }

    fn launch(&self, _index: u32) -> Launch {
        let work_groups = self.elements.div_ceil(LANES) as u32;
        Launch { kernel: "ReLUForward".into(), work_groups, wavefronts_per_group: 1 }
    }

    fn resources(&self, _index: u32) -> Resources {
        Resources { vector_registers: 5, scalar_registers: 11, local_data_bytes: 0 }
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    fn fill(&self, _launch: u32, group: u32, _wavefront: u32, _cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let thread = u64::from(group) * LANES;
        let bytes = LANES.min(self.elements - thread) * ELEMENT;
        // The waits are for kernel arguments.
        [Op::WAIT, LOCATE, Op::WAIT, BEFORE_LOAD].into_iter().for_each(|op| out.push(op));
        load_span(out, self.input.at(thread, ELEMENT), bytes);
        [BEFORE_WAIT, Op::WAIT, RECTIFY].into_iter().for_each(|op| out.push(op));
        store_span(out, self.output.at(thread, ELEMENT), bytes);
        out.push(Op::END);
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "relu",
    summary: "rectified linear unit: every line once, pages nearly all private",
    source: "DNN-Mark ReLU, as shipped with MGPUSim v4.2.0",
    schema: typed::schema::<ReluOptions>,
    resolve: typed::resolve::<ReluOptions>,
    build: |options, size: &Size| {
        let ReluOptions { elements } = typed::parse(options)?;
        let fitting = || scale::length(USUAL_ELEMENTS, size.scale, LANES);
        let elements = elements.map_or_else(fitting, |given| scale::given("elements", given))?;
        scale::work_groups("elements", elements.div_ceil(LANES))?;
        Ok(Box::new(Relu::new(elements)))
    },
};
