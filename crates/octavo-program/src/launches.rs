//! The contract between workloads and what runs them.

use std::borrow::Cow;
use std::ops::Range;

use crate::buffer::{Buffer, pages_of};
use crate::host_side::HostSide;
use crate::lives::most_at_once;
use crate::op::OpSink;
use crate::program::Program;

/// One kernel launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Name of the kernel.
    pub kernel: Cow<'static, str>,
    /// Work-groups in the grid, flattened (x fastest).
    pub work_groups: u32,
    /// Wavefronts (64 lanes) in each work-group.
    pub wavefronts_per_group: u32,
}

/// The resources of a compute unit that a launch uses, apart from wavefront slots; zeros if they are unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Vector registers of each lane.
    pub vector_registers: u32,
    /// Scalar registers of each wavefront.
    pub scalar_registers: u32,
    /// Bytes of local data share (shared memory) of each work-group.
    pub local_data_bytes: u32,
}

/// One of the programs that share a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Application {
    /// Its name in tables; empty for a single program.
    pub name: String,
    /// Its launches, which run one after another.
    pub launches: Range<u32>,
    /// Its buffers, by index.
    pub buffers: Range<usize>,
}

/// The position of a wavefront's stream; owned by the caller, meaningful only to the workload, zero at the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor(pub [u32; 4]);

/// A GPU program as a memory system sees it.
///
/// Streams are pure: the operations of wavefront (`launch`, `group`, `wavefront`) do not depend on when, where or in
/// which order they are produced, so any split over GPUs sees the same program. Launches of one application run one
/// after another, as on one in-order stream.
pub trait Workload: Send + Sync {
    /// The managed allocations, in address order, none overlapping.
    fn buffers(&self) -> &[Buffer];

    /// The programs that run at the same time: mostly this one alone.
    fn applications(&self) -> Vec<Application> {
        vec![Application { name: String::new(), launches: 0..self.launches(), buffers: 0..self.buffers().len() }]
    }

    /// By buffer: the launches between which it exists: it is allocated before the first of them, and freed before the
    /// end. Buffers without an entry exist always.
    fn lives(&self) -> &[Range<u32>] {
        &[]
    }

    /// How many kernels are launched.
    fn launches(&self) -> u32;

    /// The `index`-th launch.
    fn launch(&self, index: u32) -> Launch;

    /// The resources of a compute unit that the `index`-th launch uses.
    fn resources(&self, _index: u32) -> Resources {
        Resources::default()
    }

    /// Whether the host made all caches be written back and emptied just before the `index`-th launch.
    fn flushed_before(&self, _index: u32) -> bool {
        false
    }

    /// Size of the code of the `index`-th launch's kernel; 0 when unknown.
    /// [`Op::fetch`](crate::op::Op::fetch) counts its lines from the start.
    fn code_bytes(&self, _index: u32) -> u64 {
        0
    }

    /// Whether any wait leaves memory operations outstanding
    /// ([`Op::wait_until`](crate::op::Op::wait_until) more than 0).
    fn waits_for_some(&self) -> bool {
        false
    }

    /// Whether loads may be moved ahead of waits, as the compiler of another GPU would: each load that needs loaded data
    /// is marked ([`Op::after_data`](crate::op::Op::after_data)), and so is each wait for data that decide which
    /// operations follow ([`Op::deciding`](crate::op::Op::deciding)).
    fn tells_dependences(&self) -> bool {
        false
    }

    /// The host's accesses to the buffers before, between and after the launches.
    ///
    /// A program whose host is unknown gives what the launches alone show: [`HostSide::of_launches`].
    fn host_side(&self) -> HostSide;

    /// The whole program around the launches, where that was recorded: its buffers include the buffers of the launches.
    fn program(&self) -> Option<&Program> {
        None
    }

    /// Produces the next operations of one wavefront into `out` and moves `cursor` on.
    ///
    /// Called with an empty sink and `Cursor::default()` at first, then with the cursor as left, until
    /// [`Op::END`](crate::op::Op::END) was pushed. Each call pushes at least one operation and never more than fit; an
    /// instruction that spans several operations is pushed whole.
    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>);

    /// Why the streams differ from the program, if they do: a recording that turned out to be damaged after it was
    /// opened. Streams then end early. A caller that runs them must check this at the end and throw the results away.
    fn failure(&self) -> Option<String> {
        None
    }

    /// Its results, if it computes for real, and their inputs: named lists of numbers. Infinite means not reached.
    fn result(&self) -> Vec<(&'static str, Vec<f64>)> {
        Vec::new()
    }

    /// Bytes of its buffers whose contents are in memory while it is built or runs, such as a graph that is searched; 0
    /// for those that compute their accesses from positions alone.
    fn held_bytes(&self) -> u64 {
        0
    }

    /// The most bytes that its buffers have at once.
    fn footprint(&self) -> u64 {
        most_at_once(self.buffers().iter().map(|buffer| buffer.bytes), self.lives())
    }

    /// One past the highest address of any buffer.
    fn address_end(&self) -> u64 {
        self.buffers().last().map_or(0, |last| last.base + last.bytes)
    }
}

/// Pages of these workloads, each when it has most.
pub fn footprint_pages<'a>(page_bytes: u64, workloads: impl IntoIterator<Item = &'a dyn Workload>) -> u64 {
    let most = |workload: &'a dyn Workload| {
        let pages = pages_of(workload.buffers(), page_bytes).map(|pages| pages.end - pages.start);
        most_at_once(pages, workload.lives())
    };
    workloads.into_iter().map(most).sum()
}
