//! What a run leaves behind.

use octavo_manager::Statistics;
use serde::Serialize;

use crate::Table;

/// A run's results: one summary and the tables that reports are made of.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    /// Totals.
    pub summary: Summary,
    /// `allocations`, `page_groups`, `links`, `intervals`, `kernels`, `events` when recorded, and `applications` of a
    /// mix.
    pub tables: Vec<Table>,
}

/// Totals of a run. Times are picoseconds of simulated time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// From the first launch to the end of the last kernel.
    pub time_ps: u64,
    /// Kernel launches.
    pub launches: u32,
    /// Sum of the allocations' sizes in bytes.
    pub footprint_bytes: u64,
    /// Memory of each GPU available to the workload, in bytes (`None`: no limit).
    pub capacity_bytes: Option<u64>,
    /// What the wavefronts did.
    pub accesses: Accesses,
    /// Where the accesses' time went.
    pub breakdown: Breakdown,
    /// Events the simulation processed (for speed, not part of the modelled node).
    pub simulated_events: u64,
    /// Bytes of the manager's state at the end.
    pub manager_state_bytes: u64,
    /// What the memory manager did.
    pub manager: Statistics,
    /// How each GPU's memory was used when it held most at the end of a program, where frames are tracked; empty
    /// otherwise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub memory_use: Vec<FrameUse>,
}

/// How a memory is used, in frames.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FrameUse {
    /// Base frames that hold pages of programs.
    pub base_frames: u32,
    /// Large frames with any page of a program in them.
    pub large_frames: u32,
    /// Base frames of those large frames that hold foreign data.
    pub foreign_frames: u32,
    /// Large frames of the memory; `None` without a limit.
    pub large_frames_total: Option<u32>,
    /// Memory bloat: what those large frames could hold of programs beyond what they do hold, as a share of the latter.
    pub bloat: f64,
}

/// Counts of what the wavefronts did. Lines are 64 bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Accesses {
    /// Vector-ALU instructions.
    pub compute_instructions: u64,
    /// Scalar-ALU instructions.
    pub scalar_instructions: u64,
    /// Local-data-share instructions.
    pub local_data_instructions: u64,
    /// Branches.
    pub branches: u64,
    /// Loads by scalar units.
    pub scalar_loads: u64,
    /// 64-byte lines of code that wavefronts ran on into.
    pub code_lines: u64,
    /// Line loads issued.
    pub load_lines: u64,
    /// Line stores issued.
    pub store_lines: u64,
    /// Loads that hit the first-level cache (or merged with an outstanding miss).
    pub l1_hits: u64,
    /// Lines served by a second-level cache (local or the owner's).
    pub l2_hits: u64,
    /// Lines read from GPU memory.
    pub dram_reads: u64,
    /// Those of them that were read because a store left some of their bytes as they were.
    pub store_fetches: u64,
    /// Lines written back to GPU memory.
    pub dram_writes: u64,
    /// Lines loaded from or stored to another GPU's memory.
    pub remote_gpu_lines: u64,
    /// Lines loaded from or stored to host memory.
    pub remote_host_lines: u64,
    /// Stores sent on to other subscribers (GPS), after coalescing.
    pub broadcast_lines: u64,
    /// Translations asked of the first-level TLBs.
    pub translations: u64,
    /// First-level TLB hits (or merged with an outstanding miss).
    pub l1_tlb_hits: u64,
    /// Those of them in its entries for large pages, where several page sizes are used at once.
    pub l1_tlb_large_hits: u64,
    /// Second-level TLB hits (or merged).
    pub l2_tlb_hits: u64,
    /// Those of them in its entries for large pages, where several page sizes are used at once.
    pub l2_tlb_large_hits: u64,
    /// Page-table walks on GPUs.
    pub walks: u64,
    /// Page-table levels read from memory by those walks.
    pub walk_levels: u64,
    /// Faults sent to the driver (after merging a GPU's faults on one page).
    pub faults: u64,
    /// Accesses that waited for a fault.
    pub faulting_accesses: u64,
    /// Far-fault walks forwarded to another GPU, when Trans-FW is on.
    pub forwarded_walks: u64,
    /// Forwarded walks whose guess was wrong.
    pub forwarded_wrong: u64,
}

/// Latency of line accesses by what it was spent on, summed over all accesses; picoseconds. Accesses overlap, so the
/// sum exceeds the run time; shares of it are what publications plot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Breakdown {
    /// Served by the own GPU's caches and memory.
    pub local_ps: u64,
    /// Fault messages, host page-table walks, queueing for and service by the driver.
    pub host_ps: u64,
    /// Drains, shootdowns and copies of pages that move.
    pub migration_ps: u64,
    /// Lines fetched from or stored to another processor's memory.
    pub remote_access_ps: u64,
    /// Copies of pages that are replicated.
    pub duplication_ps: u64,
    /// Removal of replicas because of a write.
    pub write_collapse_ps: u64,
    /// Making room.
    pub eviction_ps: u64,
    /// Waiting for prefetched pages.
    pub prefetch_ps: u64,
    /// Address translation: TLBs, walker queues and page-table walks on the GPU.
    pub walk_ps: u64,
}
