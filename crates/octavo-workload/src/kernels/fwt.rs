//! Dyadic convolution by fast Walsh transforms (CUDA SDK fastWalshTransform), in place, of 2^23 floats.
//!
//! Three transforms (of the data, of the kernel, and of their product) and the multiplication between them. A transform
//! of 2^n elements has one launch for each two powers of its stride down to 2^11 elements: each thread combines four
//! elements a stride apart in global memory. In a last launch each work-group finishes up to 2^11 neighbours in local
//! memory, four for each thread. With a contiguous range of groups for each GPU each launch gives every element to one
//! GPU, but from launch to launch to another: of four GPUs, two or three write 15 pages in 16.
//!
//! Scale 1 is the published input, the sample's own: 2^23 floats of data; the kernel's 2^7 are padded to the same
//! length.

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{WAVEFRONT_LANES, load_span, parts, push_all, store_span};
use crate::kernels::matrix::ELEMENT_BYTES;
use crate::scale;

/// Threads of a work-group where elements are combined in global memory or multiplied.
const THREADS: u64 = 256;
/// Work-groups of the multiplication.
pub const MULTIPLYING_GROUPS: u64 = 128;
/// Binary logarithm of the elements that fit local memory.
const LOCAL: u32 = 11;
/// Elements that a thread combines.
const RADIX: u64 = 4;
const LANES: u64 = WAVEFRONT_LANES as u64;
/// Bytes of the consecutive elements of a wavefront.
const SPAN: u64 = LANES * ELEMENT_BYTES;
const PUBLISHED_ELEMENTS: u64 = 1 << 23;
/// Fewer would make the sample launch no work-groups.
const SMALLEST: u64 = 1 << (LOCAL + 1);

/// Options of `fwt`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FwtOptions {
    /// Elements of each of the two arrays, a power of two from 4096. Default: the one nearest to 2^23 times the scale
    /// (CUDA SDK; Mosaic, MICRO 2017).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elements: Option<u64>,
}

/// One launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Combines elements of array `array` that lie `stride` apart.
    Global {
        array: usize,
        stride: u64,
    },
    /// Finishes the transform of array `array`, 2^`log2` elements a work-group.
    Local {
        array: usize,
        log2: u32,
    },
    Multiply,
}

/// One dyadic convolution.
pub struct Fwt {
    elements: u64,
    steps: Vec<Step>,
    arrays: [Buffer; 2],
    buffers: Vec<Buffer>,
}

impl Fwt {
    /// A convolution of `elements` elements.
    ///
    /// # Errors
    /// Not a power of two from 4096.
    pub fn new(elements: u64) -> Result<Self, OptionError> {
        if !elements.is_power_of_two() || elements < SMALLEST {
            let message = format!("expected a power of two from {SMALLEST}, found {elements}");
            return Err(OptionError::new("elements", message));
        }
        let elements = scale::given("elements", elements)?;
        let mut space = AddressSpace::default();
        let arrays = ["Data", "Kernel"].map(|name| space.allocate(name, elements * ELEMENT_BYTES));
        let log2 = elements.ilog2();
        let steps =
            transform(0, log2).chain(transform(1, log2)).chain([Step::Multiply]).chain(transform(0, log2)).collect();
        Ok(Self { elements, steps, arrays, buffers: space.buffers().to_vec() })
    }

    fn combine(&self, array: usize, stride: u64, thread: u64, out: &mut OpSink<'_>) {
        // Strides are larger than a wavefront, so its threads stay neighbours.
        let low = thread & (stride - 1);
        let first = ((thread - low) << 2) + low;
        let address = |part: u64| self.arrays[array].at(first + part * stride, ELEMENT_BYTES);
        push_all(out, &cost::BEFORE_COMBINING);
        (0..RADIX).for_each(|part| load_span(out, address(part), SPAN));
        push_all(out, &cost::COMBINE);
        (0..RADIX).for_each(|part| store_span(out, address(part), SPAN));
        out.push(Op::END);
    }

    /// First part: to local memory; second: its stages; third: back.
    fn finish(&self, (array, log2): (usize, u32), group: u32, wavefront: u32, part: u32, out: &mut OpSink<'_>) {
        let first = (u64::from(group) << log2) + u64::from(wavefront) * LANES;
        let addresses = (0..RADIX).map(|part| self.arrays[array].at(first + (part << (log2 - 2)), ELEMENT_BYTES));
        match part {
            0 => {
                push_all(out, &cost::LOCAL_ENTRY);
                addresses.for_each(|address| {
                    out.push(cost::BEFORE_LOCAL_LOAD);
                    load_span(out, address, SPAN);
                    push_all(out, &cost::AFTER_LOCAL_LOAD);
                });
                push_all(out, &cost::BEFORE_STAGES);
            }
            1 => {
                (0..log2 / 2).for_each(|_| push_all(out, &cost::STAGE));
                out.push(cost::AFTER_STAGES);
                if !log2.is_multiple_of(2) {
                    push_all(out, &cost::BEFORE_LAST_STAGE);
                    (0..2).for_each(|_| push_all(out, &cost::LAST_STAGE));
                    out.push(cost::AFTER_LAST_STAGE);
                }
            }
            _ => {
                push_all(out, &cost::BEFORE_STORES);
                addresses.for_each(|address| {
                    push_all(out, &cost::BEFORE_LOCAL_STORE);
                    store_span(out, address, SPAN);
                    out.push(cost::AFTER_LOCAL_STORE);
                });
                out.push(Op::END);
            }
        }
    }

    /// First part: the set-up; then each element of a thread is one.
    fn multiply(&self, thread: u64, part: u32, out: &mut OpSink<'_>) {
        let element = |index: u64| thread + index * MULTIPLYING_GROUPS * THREADS;
        match part.checked_sub(1).map(|index| element(index.into())) {
            None => {
                push_all(out, &cost::MULTIPLY_ENTRY);
                if thread < self.elements {
                    out.push(cost::BEFORE_ELEMENTS);
                }
            }
            Some(first) if first < self.elements => {
                let [data, kernel] = self.arrays.each_ref().map(|array| array.at(first, ELEMENT_BYTES));
                push_all(out, &cost::BEFORE_FACTORS);
                load_span(out, kernel, SPAN);
                load_span(out, data, SPAN);
                push_all(out, &cost::MULTIPLY);
                store_span(out, data, SPAN);
                out.push(cost::AFTER_PRODUCT);
            }
            Some(_) => out.push(Op::END),
        }
    }
}

/// The launches of one transform of 2^`log2` elements.
fn transform(array: usize, log2: u32) -> impl Iterator<Item = Step> {
    let in_global = (log2 - LOCAL).div_ceil(2);
    (0..in_global)
        .map(move |step| Step::Global { array, stride: 1 << (log2 - 2 * (step + 1)) })
        .chain([Step::Local { array, log2: log2 - 2 * in_global }])
}

/// Instructions of the compiled GCN3 kernels: vector, scalar, local data, branch.
mod cost {
    use octavo_program::Op;

    pub const BEFORE_COMBINING: [Op; 3] = [Op::mix(1, 2, 0, 0), Op::WAIT, Op::mix(24, 5, 0, 0)];
    pub const COMBINE: [Op; 4] = [Op::wait_until(1), Op::mix(2, 0, 0, 0), Op::WAIT, Op::mix(6, 0, 0, 0)];

    pub const LOCAL_ENTRY: [Op; 4] = [Op::mix(0, 2, 0, 0), Op::WAIT, Op::mix(1, 6, 0, 1), Op::mix(3, 3, 0, 0)];
    pub const BEFORE_LOCAL_LOAD: Op = Op::mix(4, 0, 0, 0);
    pub const AFTER_LOCAL_LOAD: [Op; 3] = [Op::mix(2, 1, 0, 0), Op::WAIT, Op::mix(1, 1, 1, 1)];
    pub const BEFORE_STAGES: [Op; 2] = [Op::mix(0, 4, 0, 1), Op::mix(0, 1, 0, 0)];
    pub const STAGE: [Op; 9] = [
        Op::mix(8, 3, 0, 0),
        Op::WAIT,
        Op::BARRIER,
        Op::WAIT,
        Op::mix(0, 2, 4, 0),
        Op::WAIT,
        Op::mix(2, 0, 0, 0),
        Op::WAIT,
        Op::mix(6, 0, 4, 1),
    ];
    pub const AFTER_STAGES: Op = Op::mix(0, 4, 0, 1);
    pub const BEFORE_LAST_STAGE: [Op; 6] =
        [Op::mix(1, 1, 0, 0), Op::WAIT, Op::BARRIER, Op::WAIT, Op::mix(0, 1, 0, 1), Op::mix(2, 3, 0, 0)];
    pub const LAST_STAGE: [Op; 3] = [Op::mix(2, 1, 1, 0), Op::WAIT, Op::mix(3, 1, 1, 1)];
    pub const AFTER_LAST_STAGE: Op = Op::mix(0, 1, 0, 0);
    pub const BEFORE_STORES: [Op; 5] = [Op::WAIT, Op::BARRIER, Op::WAIT, Op::mix(0, 1, 0, 1), Op::mix(2, 3, 0, 0)];
    pub const BEFORE_LOCAL_STORE: [Op; 2] = [Op::mix(7, 1, 1, 0), Op::WAIT];
    pub const AFTER_LOCAL_STORE: Op = Op::mix(0, 1, 0, 1);

    pub const MULTIPLY_ENTRY: [Op; 3] = [Op::mix(1, 1, 0, 0), Op::WAIT, Op::mix(1, 1, 0, 1)];
    pub const BEFORE_ELEMENTS: Op = Op::mix(3, 1, 0, 0);
    pub const BEFORE_FACTORS: [Op; 3] = [Op::mix(1, 0, 0, 0), Op::WAIT, Op::mix(6, 0, 0, 0)];
    pub const MULTIPLY: [Op; 5] =
        [Op::mix(2, 1, 0, 0), Op::wait_until(1), Op::mix(1, 0, 0, 0), Op::WAIT, Op::mix(1, 0, 0, 0)];
    pub const AFTER_PRODUCT: Op = Op::mix(0, 1, 0, 1);
}

impl Workload for Fwt {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// The kernel's padding, which the sample clears on the GPU, is written by the host with the rest.
    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers()).inputs(["Data", "Kernel"]).outputs(["Data"]).build()
    }

    fn launches(&self) -> u32 {
        self.steps.len() as u32
    }

    fn launch(&self, index: u32) -> Launch {
        let (kernel, groups, threads) = match self.steps[index as usize] {
            Step::Global { .. } => ("fwtBatch2Kernel", self.elements / (RADIX * THREADS), THREADS),
            Step::Local { log2, .. } => ("fwtBatch1Kernel", self.elements >> log2, (1 << log2) / RADIX),
            Step::Multiply => ("modulateKernel", MULTIPLYING_GROUPS, THREADS),
        };
        Launch { kernel: kernel.into(), work_groups: groups as u32, wavefronts_per_group: (threads / LANES) as u32 }
    }

    fn resources(&self, index: u32) -> Resources {
        let (vector_registers, scalar_registers, local_data_bytes) = match self.steps[index as usize] {
            Step::Global { .. } => (13, 10, 0),
            Step::Local { log2, .. } => (10, 14, ELEMENT_BYTES as u32 * (1 << log2)),
            Step::Multiply => (8, 10, 0),
        };
        Resources { vector_registers, scalar_registers, local_data_bytes }
    }

    fn waits_for_some(&self) -> bool {
        true
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let thread = u64::from(group) * THREADS + u64::from(wavefront) * LANES;
        parts(cursor, out, |part, out| match self.steps[launch as usize] {
            Step::Global { array, stride } => self.combine(array, stride, thread, out),
            Step::Local { array, log2 } => self.finish((array, log2), group, wavefront, part, out),
            Step::Multiply => self.multiply(thread, part, out),
        });
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "fwt",
    summary: "dyadic convolution by Walsh transforms in place (CUDA SDK fastWalshTransform); 64 MB, strided, shared",
    source: "CUDA SDK fastWalshTransform; 2^23 floats as in Mosaic (MICRO 2017)",
    schema: typed::schema::<FwtOptions>,
    resolve: typed::resolve::<FwtOptions>,
    build: |options, size: &Size| {
        let FwtOptions { elements } = typed::parse(options)?;
        let fitting = || scale::power_of_two(PUBLISHED_ELEMENTS, size.scale, SMALLEST);
        Ok(Box::new(Fwt::new(elements.map_or_else(fitting, Ok)?)?))
    },
};
