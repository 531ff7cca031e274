//! Counts of the wavefronts' work.

use schemars::JsonSchema;
use serde::Serialize;

/// Rare events are not listed.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Counts of the wavefronts' work. Lines are 64 bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
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
    /// Reads among them that happened because a store filled a line only in part.
    pub store_fetches: u64,
    /// Lines written back to GPU memory.
    pub dram_writes: u64,
    /// Lines loaded from or stored to another GPU's memory.
    pub remote_gpu_lines: u64,
    /// Lines loaded from or stored to host memory.
    pub remote_host_lines: u64,
    /// Stores sent on to other subscribers (GPS), after coalescing.
    pub broadcast_lines: u64,
    /// Translations requested from the first-level TLBs.
    pub translations: u64,
    /// First-level TLB hits (or merged with an outstanding miss).
    pub l1_tlb_hits: u64,
    /// Those of them in its entries for large pages, if several page sizes are used at once.
    pub l1_tlb_large_hits: u64,
    /// Second-level TLB hits (or merged).
    pub l2_tlb_hits: u64,
    /// Those of them in its entries for large pages, where several page sizes are used at once.
    pub l2_tlb_large_hits: u64,
    /// Page-table walks on GPUs.
    pub walks: u64,
    /// Translations that GPUs requested from the host, which walked its page table for them (ATS). Not listed if there
    /// are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub host_translations: u64,
    /// Page-table levels read from memory by those walks.
    pub walk_levels: u64,
    /// Faults sent to the driver (after merging a GPU's faults on one page).
    pub faults: u64,
    /// Of those, faults that the end of the run cut off: no access waited for them any more. Not listed if there are
    /// none.
    #[serde(skip_serializing_if = "is_zero")]
    pub faults_cut_short: u64,
    /// Accesses that waited for a fault.
    pub faulting_accesses: u64,
    /// Wake-ups after which every waiting access faulted again. Not listed if there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub wakes_in_vain: u64,
    /// Accesses that were put off when their fault's wake arrived: their unit stood still, or their translation took
    /// long. Not listed if there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub deferred_retries: u64,
    /// Picoseconds from the arrival of the wake until these were tried, summed over them. Not listed if there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub deferred_retry_ps: u64,
    /// Picoseconds that lines waited for their turn at banks of caches and of memory, and at miss registers: not a
    /// result, but how a single access learns it.
    #[serde(skip)]
    #[schemars(skip)]
    pub queued: u64,
    /// Far-fault walks forwarded to another GPU, when Trans-FW is on.
    pub forwarded_walks: u64,
    /// Forwarded walks whose guess was wrong.
    pub forwarded_wrong: u64,
}
