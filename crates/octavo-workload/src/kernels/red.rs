//! Reduction (SHOC): the sum of a vector, 64 work-groups of 256 threads that walk it together.
//!
//! A work-group adds 512 neighbouring elements in each turn, two for each thread, into its local memory, and moves one
//! grid further: the groups' parts interleave every 2 KB. So four GPUs with contiguous ranges of groups alternate every
//! 32 KB: small pages are private, large ones read by all. In the end each group adds up its 256 sums and stores one
//! number, which the host sums.
//!
//! SHOC's largest size: 64 MB of single-precision elements. It repeats the launch 256 times and then does the same in
//! double precision, which is left out.

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{WAVEFRONT_LANES, load_span, parts, push_all};
use crate::kernels::group_sum::{self, THREADS, WAVEFRONTS};
use crate::kernels::matrix::ELEMENT_BYTES;
use crate::scale;

/// Work-groups of a launch.
pub const GROUPS: u64 = 64;
/// Elements that a work-group adds in one turn.
pub const TURN: u64 = 2 * THREADS;
/// Elements at scale 1.
const PUBLISHED_ELEMENTS: u64 = 64 * scale::MEGABYTE / ELEMENT_BYTES;

/// Options of `red`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RedOptions {
    /// Elements of the vector, a multiple of 512. Default: 64 MB of them times the scale (SHOC, size 4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elements: Option<u64>,
    /// How often the vector is summed, at least once. Default 8 (SHOC: 256, all alike).
    pub iterations: u32,
}

impl Default for RedOptions {
    fn default() -> Self {
        Self { elements: None, iterations: 8 }
    }
}

/// Sums of one vector.
pub struct Red {
    elements: u64,
    iterations: u32,
    input: Buffer,
    sums: Buffer,
    buffers: Vec<Buffer>,
}

impl Red {
    /// `iterations` sums of `elements` elements.
    ///
    /// # Errors
    /// Not a multiple of [`TURN`] (the kernel would read past the end), or no iterations.
    pub fn new(elements: u64, iterations: u32) -> Result<Self, OptionError> {
        let elements = scale::multiple("elements", elements, TURN)?;
        let iterations = scale::at_least_one("iterations", iterations)?;
        let mut space = AddressSpace::default();
        let input = space.allocate("idata", elements * ELEMENT_BYTES);
        let sums = space.allocate("odata", GROUPS * ELEMENT_BYTES);
        Ok(Self { elements, iterations, input, sums, buffers: space.buffers().to_vec() })
    }

    fn turn(&self, first: u64, out: &mut OpSink<'_>) {
        let bytes = u64::from(WAVEFRONT_LANES) * ELEMENT_BYTES;
        push_all(out, &cost::BEFORE_LOADS);
        load_span(out, self.input.at(first, ELEMENT_BYTES), bytes);
        load_span(out, self.input.at(first + THREADS, ELEMENT_BYTES), bytes);
        push_all(out, &cost::AFTER_LOADS);
    }
}

/// Instructions of the compiled GCN3 kernel: vector, scalar, local data, branch.
mod cost {
    use octavo_program::Op;

    pub const ENTRY: [Op; 3] = [Op::mix(3, 2, 1, 0), Op::WAIT, Op::mix(1, 1, 0, 1)];
    pub const BEFORE_TURNS: Op = Op::mix(1, 2, 0, 0);
    pub const BEFORE_LOADS: [Op; 3] = [Op::mix(3, 0, 0, 0), Op::WAIT, Op::mix(6, 0, 0, 0)];
    pub const AFTER_LOADS: [Op; 5] =
        [Op::mix(2, 1, 1, 0), Op::WAIT, Op::mix(1, 0, 0, 0), Op::WAIT, Op::mix(1, 1, 1, 1)];
    pub const AFTER_TURNS: Op = Op::mix(1, 2, 0, 0);
}

impl Workload for Red {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers()).inputs(["idata"]).outputs(["odata"]).build()
    }

    fn launches(&self) -> u32 {
        self.iterations
    }

    fn launch(&self, _index: u32) -> Launch {
        Launch { kernel: "reduce".into(), work_groups: GROUPS as u32, wavefronts_per_group: WAVEFRONTS }
    }

    fn resources(&self, _index: u32) -> Resources {
        Resources { vector_registers: 9, scalar_registers: 14, local_data_bytes: 1024 }
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    /// The first part is the set-up, then each turn is one; the last adds up.
    fn fill(&self, _launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let start = u64::from(group) * TURN;
        let turn = |index: u64| start + index * GROUPS * TURN;
        parts(cursor, out, |part, out| match part.checked_sub(1).map(|index| turn(index.into())) {
            None => {
                push_all(out, &cost::ENTRY);
                if turn(0) < self.elements {
                    out.push(cost::BEFORE_TURNS);
                }
            }
            Some(first) if first < self.elements => {
                self.turn(first + u64::from(wavefront * WAVEFRONT_LANES), out);
            }
            Some(_) => {
                out.push(cost::AFTER_TURNS);
                group_sum::finish(out, wavefront, self.sums.at(group.into(), ELEMENT_BYTES));
            }
        });
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "red",
    summary: "sum of a vector by 64 interleaved work-groups (SHOC Reduction); 64 MB, streaming",
    source: "SHOC Reduction, reduce, size 4",
    schema: typed::schema::<RedOptions>,
    resolve: typed::resolve::<RedOptions>,
    build: |options, size: &Size| {
        let RedOptions { elements, iterations } = typed::parse(options)?;
        let fitting = || scale::length(PUBLISHED_ELEMENTS, size.scale, TURN);
        Ok(Box::new(Red::new(elements.map_or_else(fitting, Ok)?, iterations)?))
    },
};
