//! The host: its part of a far fault, its cores and its memory, and the costs of memory there.

use octavo_units::{Bandwidth, Bytes, Cycles, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostConfig {
    /// Page-table walks at once, of far faults.
    pub walkers: u32,
    /// Cycles to read one level of the host's page table, for far faults.
    pub level: Cycles,
    /// Cycles from request to data of host memory, for remote lines and policy metadata.
    pub memory_latency: Cycles,
    /// Bytes of a fault or counter notification on its way to the host, and of its answer.
    pub fault_message: Bytes,
    /// Sizes of pages that its kernel can be built for; any, unless said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub page_sizes: Vec<Bytes>,
    /// Its first memory, the nearest to its cores. The keys for remote lines and for cores have its speed.
    #[serde(default, skip_serializing_if = "FirstMemoryConfig::is_unlimited")]
    pub memory: FirstMemoryConfig,
    /// Its other memories. Pages fill the first memory, then these, the one of lowest latency first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memories: Vec<FurtherMemoryConfig>,
    /// The part of the memory shared with GPUs that its page cache occupies. Unless said, nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_cache: Option<PageCacheConfig>,
    /// Its cores, for the phases in which the host computes.
    pub cpu: CpuConfig,
    /// Costs of allocating, populating, copying and freeing.
    pub costs: HostCosts,
}

/// The host's first memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FirstMemoryConfig {
    /// Bytes that it holds; 0, the default, for no limit.
    #[serde(default)]
    pub capacity: Bytes,
    /// Whether bytes, of the other memories too, are for programs at scale 1, as `node.capacity.shrinks`; default false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shrinks: bool,
}

impl FirstMemoryConfig {
    fn is_unlimited(&self) -> bool {
        self.capacity.0 == 0
    }
}

/// Memory that the operating system uses for files when a program starts. It does not change times: results say whether
/// the program at scale 1 fits next to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageCacheConfig {
    /// Bytes of files that it keeps.
    pub bytes: Bytes,
    /// Share of the remaining memory that lies in free blocks of 2 MiB, in per cent; 100, the default, for all of it.
    #[serde(default = "all")]
    pub free_blocks_percent: u32,
}

const fn all() -> u32 {
    100
}

/// Another memory of the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FurtherMemoryConfig {
    /// Its name in results and errors.
    pub name: String,
    /// What it is.
    pub kind: FurtherMemoryKind,
    /// Bytes that it holds.
    pub capacity: Bytes,
    /// Bandwidth that all reads and writes share: of cores, copies, and remote lines of GPUs.
    pub bandwidth: Bandwidth,
    /// Time from a request on the host to its data, for cores, copies, and remote lines of GPUs.
    pub latency: Time,
}

/// The role of a further memory of the host. Only stated in results; its bandwidth and latency give its costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FurtherMemoryKind {
    /// Memory of another NUMA node.
    Numa,
    /// An expander behind CXL.
    Cxl,
}

/// The host's cores and their way to memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CpuConfig {
    /// Cores: threads that run at once.
    pub cores: u32,
    /// Lines of 64 bytes that a core can have in flight, including those that its prefetcher requests.
    pub lines_in_flight: u32,
    /// Time from one line to the next that a core can issue.
    pub line_issue: Time,
    /// Time from the request of a line to its data, in host memory.
    pub memory_latency: Time,
    /// Bandwidth of host memory that all cores share, and copies with them.
    pub memory_bandwidth: Bandwidth,
    /// Translations that a core keeps.
    pub tlb: CpuTlbConfig,
}

/// Translations that a core keeps, of its last level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CpuTlbConfig {
    /// Entries.
    pub entries: u32,
    /// Ways of a set.
    pub ways: u32,
    /// Time of a page-table walk after a miss.
    pub walk: Time,
}

/// Costs of memory on the host, in addition to the time of its bytes on links and in memories.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostCosts {
    /// GPU memory (`cudaMalloc`, `cudaFree`), by chunks of 2 MiB.
    pub device: AllocationCosts,
    /// Pinned memory (`cudaMallocHost`, `cudaFreeHost`), by 4 KiB, zeroing not counted.
    pub pinned: AllocationCosts,
    /// Managed memory (`cudaMallocManaged`, `cudaFree`). Touched pages cost time when they are touched, and when they
    /// are freed (`unmap_page`).
    pub managed: AllocationCosts,
    /// Memory of the operating system (`malloc`, `free`), as managed memory.
    pub system: AllocationCosts,
    /// Each frame of any size that the driver makes for pages that leave a GPU (`memory.host_frames`).
    pub frame: Time,
    /// A fault of a core at its first touch of a page, zeroing not counted.
    pub minor_fault: Time,
    /// The driver's computing time when a core faults on a page that lies on a GPU. `minor_fault` and the page's way
    /// back come on top. 0 if left out.
    #[serde(default)]
    pub driver_fault: Time,
    /// Bandwidth of one core that allocates and zeroes pages.
    pub zeroing: Bandwidth,
    /// Each page whose mapping is removed when it is freed.
    pub unmap_page: Time,
    /// A call that copies, until its first byte moves.
    pub copy_call: Time,
    /// Copies of ordinary memory pass through pinned memory of the driver.
    #[serde(default)]
    pub staging: StagingConfig,
    /// A call that prefetches or gives advice.
    pub advice_call: Time,
    /// The first call of a program that needs a GPU, which creates its context; 0, the default, leaves it out.
    #[serde(default, skip_serializing_if = "is_none")]
    pub context: Time,
}

/// The costs of allocating and freeing a kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllocationCosts {
    /// A call that allocates.
    pub allocate: CallCost,
    /// A call that frees.
    pub free: CallCost,
}

/// What a call costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallCost {
    /// The call.
    pub call: Time,
    /// Each piece of an allocation or a free, in addition; 0, the default, if the size does not matter.
    #[serde(default)]
    pub each: Time,
    /// The whole cost of a call for less than 2 MiB, which the driver serves from an existing chunk; 0, the default, if
    /// it is the same as for a larger one.
    #[serde(default)]
    pub below_chunk: Time,
}

impl CallCost {
    /// Bytes of a chunk, in which GPU memory is handed out.
    pub const CHUNK: u64 = 2 << 20;
    /// Bytes that are pinned at once.
    pub const PINNED: u64 = 4 << 10;

    /// Time of a call for `bytes`, in pieces of `piece` bytes.
    #[must_use]
    pub fn of(self, bytes: u64, piece: u64) -> Time {
        if bytes < Self::CHUNK && !is_none(&self.below_chunk) {
            return self.below_chunk;
        }
        Time(self.call.0 + bytes.div_ceil(piece) * self.each.0)
    }
}

/// The rate at which the driver copies ordinary memory (`malloc`, not `cudaMallocHost`) through its own pinned memory;
/// 0, the default, if copies of it are as fast as those of pinned memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StagingConfig {
    /// Bandwidth to a GPU.
    #[serde(default)]
    pub to_gpu: Bandwidth,
    /// Bandwidth from a GPU.
    #[serde(default)]
    pub to_host: Bandwidth,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_none(time: &Time) -> bool {
    time.0 == 0
}
