//! The common parts of the layer's kernels.

use octavo_program::{Cursor, Launch, Op, OpSink, Resources};

use crate::kernels::matrix::ELEMENT_BYTES;

/// One kernel launch of the layer.
pub trait Step: std::fmt::Debug + Send + Sync {
    /// The grid.
    fn launch(&self) -> Launch;

    /// Like [`Workload::resources`](octavo_program::Workload::resources).
    fn resources(&self) -> Resources;

    /// Like [`Workload::fill`](octavo_program::Workload::fill).
    fn fill(&self, group: u64, wavefront: u64, cursor: &mut Cursor, out: &mut OpSink<'_>);
}

/// Registers of a wavefront's lanes and its own, for a kernel without local data.
pub const fn registers(vector_registers: u32, scalar_registers: u32) -> Resources {
    Resources { vector_registers, scalar_registers, local_data_bytes: 0 }
}

/// The waits for the kernel arguments that all kernels begin with, and the instructions before each but the first.
#[inline]
pub fn arguments(out: &mut OpSink<'_>, before: &[Op]) {
    out.push(Op::WAIT);
    for instructions in before {
        out.push(*instructions);
        out.push(Op::WAIT);
    }
}

/// Threads of a one-dimensional work-group.
const GROUP_THREADS: u64 = 64;

/// The threads of one work-group of 64 that have an element to work on.
pub struct Threads {
    /// Global id of the first.
    pub first: u64,
    /// How many, 64 in all groups but the last.
    pub count: u64,
}

impl Threads {
    /// A grid of one thread for each of `elements`.
    pub fn launch(kernel: &'static str, elements: u64) -> Launch {
        Launch { kernel: kernel.into(), work_groups: elements.div_ceil(GROUP_THREADS) as u32, wavefronts_per_group: 1 }
    }

    /// The threads of `group`.
    #[inline]
    pub fn of_group(group: u64, elements: u64) -> Self {
        let first = group * GROUP_THREADS;
        Self { first, count: GROUP_THREADS.min(elements - first) }
    }

    /// Bytes of one fp32 or int32 for each.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.count * ELEMENT_BYTES
    }
}
