//! Why a run gave no result.

use octavo_manager::{ConfigError, Manager, MemoryId, OutOfMemory, Starving};
use octavo_node::{CapacityError, NodeConfig, NodeError};
use octavo_units::Time;

use crate::bound::{MemoryEstimate, MemoryMet, allowed, taken};
use crate::failure::StrategyFailure;
use crate::moment::When;
use crate::stall::Stall;

/// Lines are numbered with 32 bits; the last 64th of them is for page tables.
pub(crate) const MAX_BYTES: u64 = (u32::MAX - (u32::MAX >> 6)) as u64 * 64;

/// Simulated time after which a run is given up: an eighth of the limit of 64 bits, 26 days.
pub(crate) const MAX_TIME: Time = Time(1 << 61);

/// Why a run gave no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimError {
    /// The node cannot exist.
    #[error("node: {0}")]
    Node(#[from] NodeError),
    /// The memory system cannot exist.
    #[error("memory: {0}")]
    Memory(#[from] ConfigError),
    /// The GPUs' memory cannot hold the data that the simulation needs to continue.
    #[error(transparent)]
    Capacity(#[from] CapacityError),
    /// The workload's address space has more lines than can be numbered.
    #[error("the workload's address space of {bytes} bytes exceeds the {MAX_BYTES} bytes that can be simulated")]
    TooLarge {
        /// Size of the address space.
        bytes: u64,
    },
    /// The whole program has something that cannot run on this node.
    #[error("program: {reason}")]
    Program {
        /// What, and why.
        reason: String,
    },
    /// A work-group has more wavefronts than a compute unit holds.
    #[error(
        "kernel `{kernel}` has work-groups of {wavefronts} wavefronts, but `node.compute` has room for {room} a unit"
    )]
    GroupTooLarge {
        /// Name of the kernel.
        kernel: String,
        /// Wavefronts of a work-group.
        wavefronts: u32,
        /// Wavefronts a compute unit holds.
        room: u32,
    },
    /// A compute unit has too few registers or too little local data share for a work-group.
    #[error("kernel `{kernel}`: a work-group needs {needed} of `{key}`, which is {found}")]
    GroupNeedsMore {
        /// Name of the kernel.
        kernel: String,
        /// Key of the missing resource.
        key: &'static str,
        /// What a work-group needs.
        needed: u64,
        /// The resources of a compute unit.
        found: u64,
    },
    /// A kernel has work-groups without wavefronts.
    #[error("kernel `{kernel}` has work-groups of 0 wavefronts, expected at least 1")]
    EmptyGroup {
        /// Name of the kernel.
        kernel: String,
    },
    /// The jobs cannot run side by side on this node.
    #[error("jobs: {reason}")]
    Jobs {
        /// What, and why.
        reason: String,
    },
    /// Pages become large, but the node's TLBs have nowhere to keep large translations.
    #[error("`node.{key}.large`: `memory.sizing` makes large pages, but the TLB has no entries for them")]
    NoLargeEntries {
        /// Which TLB.
        key: &'static str,
    },
    /// A GPU's memory is full, and nothing leaves it.
    #[error(
        "out of memory: {application}gpu{gpu} has no room for the page at {address:#x} {when}, and `memory.eviction` lets nothing leave"
    )]
    OutOfMemory {
        /// The program that owns the page, for messages; empty for a single program.
        application: String,
        /// The GPU whose memory is full.
        gpu: usize,
        /// First byte of the requested page.
        address: u64,
        /// When that was.
        when: When,
    },
    /// A GPU's memory is full, and pages that could leave are kept for their address spaces.
    #[error(
        "out of memory: {application}gpu{gpu} has no room for the page at {address:#x} {when}, and `memory.sharing` lets no job give up enough"
    )]
    NothingYielded {
        /// The program whose page it is, for messages; empty for a program alone.
        application: String,
        /// The GPU whose memory is full.
        gpu: usize,
        /// First byte of the page that was asked for.
        address: u64,
        /// When that was.
        when: When,
    },
    /// The host's memories are full, and nothing leaves them.
    #[error(
        "out of memory: {application}the host has no room for the page at {address:#x} {when}: full are {memories}; more `node.host.memory.capacity` or another of `node.host.memories` would help"
    )]
    HostOutOfMemory {
        /// The program whose page it is, for messages; empty for a program alone.
        application: String,
        /// Names and sizes of the memories.
        memories: String,
        /// First byte of the page that was asked for.
        address: u64,
        /// When that was.
        when: When,
    },
    /// The NUMA nodes that memory of the operating system is bound to are full.
    #[error(
        "out of memory: {application}no room for the page at {address:#x} {when} on {nodes}, which `memory.system.numa` binds it to; more nodes, or `policy = \"preferred\"`, would help"
    )]
    BoundOutOfMemory {
        /// The program whose page it is, for messages; empty for a program alone.
        application: String,
        /// The names of the nodes.
        nodes: String,
        /// First byte of the page that was asked for.
        address: u64,
        /// When that was.
        when: When,
    },
    /// A GPU's memory is full of pages that it keeps for others, and the host has no room for copies of them.
    #[error(
        "out of memory: {application}gpu{gpu} has no room for the page at {address:#x} {when}: it keeps {kept} pages of others until the host has copies of them, and the host has no room for these: full are {memories}; more `node.host.memory.capacity` or another of `node.host.memories` would help"
    )]
    HostFullForKept {
        /// The program whose page it is, for messages; empty for a program alone.
        application: String,
        /// The GPU whose memory is full.
        gpu: usize,
        /// First byte of the page that was asked for.
        address: u64,
        /// When that was.
        when: When,
        /// Pages that it keeps.
        kept: u32,
        /// Names and sizes of the host's memories.
        memories: String,
    },
    /// No event is left, but the workload has not ended: a defect of the simulator.
    #[error(
        "the simulation is stuck in launch {launch} {when} with {waiting} faults open; please report this scenario"
    )]
    Stuck {
        /// The launch that does not end.
        launch: u32,
        /// When that was.
        when: When,
        /// Faults that were never resolved.
        waiting: usize,
    },
    /// Events happen, but nothing gets on: a defect of the simulator, or of a strategy.
    #[error("{0}")]
    NoProgress(Box<Stall>),
    /// The run would take more memory than it may.
    #[error(
        "the run would take about {total} of memory ({node} for caches and TLBs, {pages} for pages, {records} for what is recorded, {inputs} for graphs, {around} for the program around it), but may take {limit}",
        total = taken(needed.total().saturating_add(*around)), around = taken(*around), node = taken(needed.node), pages = taken(needed.pages),
        records = taken(needed.records), inputs = taken(needed.inputs), limit = allowed(*limit)
    )]
    TooMuchMemory {
        /// What it would take.
        needed: MemoryEstimate,
        /// The process's other memory, in bytes.
        around: u64,
        /// The permitted memory of the process, in bytes.
        limit: u64,
    },
    /// The run took more memory than it may.
    #[error("{0}")]
    MemoryMet(Box<MemoryMet>),
    /// The run takes longer than anyone would simulate.
    #[error(
        "the run is not over after {limit} of simulated time: is a clock or a link of the node slower than it was meant to be, or does the workload stall?"
    )]
    TooLong {
        /// The simulated time after which a run is given up.
        limit: Time,
    },
    /// The workload could not produce the program's accesses to the end.
    #[error("{reason}")]
    Workload {
        /// The problem with it.
        reason: String,
    },
    /// The timeline could not be written.
    #[error("cannot write the timeline: {reason}")]
    Timeline {
        /// What the system says.
        reason: String,
    },
    /// The lines of memory could not be listed.
    #[error("cannot write the lines: {reason}")]
    Lines {
        /// What is in the way.
        reason: String,
    },
    /// A strategy could no longer decide.
    #[error("{0}")]
    Strategy(Box<StrategyFailure>),
    /// The run is not over after the time that it was given.
    #[error("the run is not over after {limit} of simulated time, all that it was given")]
    OverTime {
        /// The limit.
        limit: Time,
    },
    /// A run without time was given a longest time.
    #[error("simulated time cannot be limited: {reason}")]
    NoTimeLimit {
        /// Why there is no time.
        reason: &'static str,
    },
    /// The progress callback asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl SimError {
    /// A fault or memory waits for room, and nothing is in progress that could make some.
    pub(crate) fn starving(node: &NodeConfig, starving: Starving, program: &str, address: u64, when: When) -> Self {
        let kept = starving.awaiting;
        match (Self::full(node, starving.out.memory, program, address, when), kept) {
            (Self::OutOfMemory { application, gpu, address, when }, 1..) => {
                Self::HostFullForKept { application, gpu, address, when, kept, memories: host_memories(node) }
            }
            (full, _) => full,
        }
    }

    /// A memory is full, and so are all others of the host if it is one of them. `program`: the owner of the page,
    /// empty if there is only one.
    pub(crate) fn full(node: &NodeConfig, memory: MemoryId, program: &str, address: u64, when: When) -> Self {
        let named = |rest: &str| if program.is_empty() { String::new() } else { format!("`{program}`{rest}") };
        match memory.gpu_index() {
            Some(gpu) => Self::OutOfMemory { application: named(" on "), gpu, address, when },
            None => Self::HostOutOfMemory { application: named(": "), memories: host_memories(node), address, when },
        }
    }
}

impl SimError {
    /// The same with the manager's reason: the memories that the page is bound to, or the strategy that keeps pages.
    pub(crate) fn because(self, manager: &Manager, out: OutOfMemory) -> Self {
        self.within(manager.bound(out.page)).kept_by(manager.sharing_keeps(out.memory))
    }

    /// The same, naming the strategy that keeps the pages of a GPU's memory: the sharing, or else the eviction.
    fn kept_by(self, sharing: bool) -> Self {
        match self {
            Self::OutOfMemory { application, gpu, address, when } if sharing => {
                Self::NothingYielded { application, gpu, address, when }
            }
            other => other,
        }
    }

    /// The same of a page that may be in these memories alone, if it is one of these that is full.
    fn within(self, bound: Option<&[MemoryId]>) -> Self {
        let Some(nodes) = bound else { return self };
        let named = || nodes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        match self {
            Self::OutOfMemory { application, gpu, address, when } if nodes.contains(&MemoryId::gpu(gpu)) => {
                let application = application.strip_suffix(" on ").map(|name| format!("{name}: "));
                Self::BoundOutOfMemory { application: application.unwrap_or_default(), nodes: named(), address, when }
            }
            Self::HostOutOfMemory { application, address, when, .. } => {
                Self::BoundOutOfMemory { application, nodes: named(), address, when }
            }
            other => other,
        }
    }
}

/// The host's memories by name and size, for a sentence.
fn host_memories(node: &NodeConfig) -> String {
    let first = format!("host ({})", node.host.memory.capacity);
    let further = node.further_memories().into_iter();
    let further = further.map(|(id, memory)| format!("{id} `{}` ({})", memory.name, memory.capacity));
    std::iter::once(first).chain(further).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use octavo_manager::HOST_MEMORY;

    use super::*;

    #[test]
    fn a_policy_is_to_blame_where_one_of_its_nodes_is_full() {
        let full = |gpu| SimError::OutOfMemory {
            application: "`carry on with it` on ".to_owned(),
            gpu,
            address: 4096,
            when: When::Lines(7),
        };
        let bound = [HOST_MEMORY, MemoryId::gpu(0)];
        let said = full(0).within(Some(&bound)).to_string();
        assert!(said.starts_with("out of memory: `carry on with it`: no room for the page at 0x1000"), "{said}");
        assert!(said.contains("on host, gpu0, which `memory.system.numa` binds it to"), "{said}");
        assert!(matches!(full(1).within(Some(&bound)), SimError::OutOfMemory { gpu: 1, .. }));
        assert!(matches!(full(0).within(None), SimError::OutOfMemory { gpu: 0, .. }));
    }
}
