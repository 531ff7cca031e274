//! Where the accesses' time went.

use serde::Serialize;

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
