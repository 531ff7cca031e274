//! The penalty's input about a data structure: from a partial profile, a launch, or an estimate.

use octavo_units::{Bandwidth, Bytes, Time};
use serde::{Deserialize, Serialize};

use crate::{Intensity, Occupancy, QuantityError, Remigration, Sparsity};

/// Constants of one data structure of a program.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Structure {
    /// Bytes as allocated.
    pub size: Bytes,
    /// Share of its pages that the device touches.
    pub sigma: Sparsity,
    /// Migrations over distinct pages requested.
    pub rho: Remigration,
    /// Bytes that cross the interconnect if the structure lies in host memory and is read line by line: lines that
    /// miss all caches of the device, each time.
    pub lines: Bytes,
    /// Operations for each byte touched, of the kernels that touch it.
    pub alpha: Intensity,
    /// Occupancy of these kernels.
    pub occupancy: Occupancy,
    /// Bandwidth that one multiprocessor requests, βʳ; the roofline's limit for the machine if none is given.
    pub required: Option<Bandwidth>,
    /// Distinct pages that faults in flight wait for, at least 1.
    pub fault_concurrency: u64,
    /// The groups and blocks that served its faults, if they were counted; otherwise groups as large as the number of
    /// faults in flight, each in one block.
    pub fault_groups: Option<FaultGroups>,
    /// Pages that come without a fault of their own because the driver's prefetcher requested them.
    pub prefetched_pages: u64,
    /// Copies that brought them from the host; adjacent pages share one.
    pub prefetches: u64,
    /// Faults whose page had arrived by the time they were served.
    pub stale_faults: u64,
    /// Copies that bring the pages of its faults; adjacent pages of a group of faults share one. One copy for each
    /// fault, even if others follow.
    pub fault_runs: u64,
    /// The processor that touches its pages first.
    pub first: Toucher,
    /// Faults of the host as it goes through all of it, with its pages on the device or nowhere: fewer than there are
    /// pages where the driver's prefetcher goes ahead.
    pub host_faults: u64,
    /// Bytes that come back to the host if it is host-placed and comes by pages.
    pub returns: Returns,
    /// Bytes that the program's own prefetches bring to the device if it is managed and they run before its launches.
    pub ahead: Ahead,
    /// Host and device write it in concurrent or near phases: its pages thrash.
    pub write_shared: bool,
    /// Total time that its faults are held up because it thrashes.
    pub thrashing: Time,
    /// Bytes that the host copies to the device if it is device-placed.
    pub copied_in: Bytes,
    /// Bytes that it copies back.
    pub copied_out: Bytes,
    /// Calls that do so.
    pub copies: u64,
    /// Whether the host ever touches it.
    pub seen_by_host: bool,
}

/// Groups in which the driver serves faults.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultGroups {
    /// Groups; of a group in which other structures have faults, too, the share of its own faults.
    pub groups: f64,
    /// Blocks of 2 MiB that groups have faults of, counted for each group.
    pub blocks: u64,
}

/// Prefetches that a program asks for before launches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ahead {
    /// Calls.
    pub calls: u64,
    /// Copies that they make, each within one block of 2 MiB.
    pub copies: u64,
    /// Bytes that come from the host.
    pub bytes: Bytes,
}

/// Pages that the device has had and the host touches again, whether the device changed them or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Returns {
    /// Bytes that come back, each time.
    pub bytes: Bytes,
    /// Faults of the host that bring them.
    pub faults: u64,
    /// Copies by the driver's prefetcher, besides the copies for faults.
    pub prefetches: u64,
}

/// Host or device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Toucher {
    /// The host's cores.
    Host,
    /// The GPU.
    Device,
}

/// How a structure comes to the device if it is host-placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostPlacement {
    /// Page by page, at faults: managed memory, the publication's host placement.
    OnDemand,
    /// By whole blocks, before the launches that use it: managed memory, and prefetches of the program.
    Prefetched,
    /// Line by line, at every miss of the device's caches: pinned memory.
    Pinned,
}

impl Structure {
    /// Checks the properties that the types do not guarantee.
    ///
    /// # Errors
    /// It has no bytes, no fault can be in flight, or a bandwidth is 0.
    pub(super) fn check(&self) -> Result<(), QuantityError> {
        if self.size.0 == 0 {
            return Err(QuantityError { expected: "a structure above 0B", found: 0.0 });
        }
        if self.fault_concurrency == 0 {
            return Err(QuantityError { expected: "a fault concurrency of at least 1 page", found: 0.0 });
        }
        self.required.map_or(Ok(()), |bandwidth| crate::roofline::positive(bandwidth).map(|_| ()))
    }
}
