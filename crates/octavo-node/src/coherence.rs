//! A host and GPUs that are cache-coherent: lines of either's memory at either, and one page table of system memory.

use octavo_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Coherence between the host and GPUs. A GPU's accesses to the operating system's memory use the host's page table
/// (ATS), and cores access GPUs' memory line by line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoherenceConfig {
    /// How the operating system sees the GPUs' memory.
    pub gpu_memory: GpuMemory,
    /// Time of the host's walker for a translation that a GPU requests (ATS), in addition to the link in both
    /// directions.
    pub walk: Time,
    /// Such walks at once.
    pub walkers: u32,
    /// A GPU's first touch of a page, of any size: the kernel's time, without the walk, the way there and the clearing of
    /// the page.
    pub first_touch: Time,
    /// Of such faults, the number that the kernel serves at once.
    pub first_touch_cores: u32,
    /// Time from a core's request of a line in a GPU's memory to its data, the link included.
    pub cpu_latency: Time,
}

/// How the operating system sees the GPUs' memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GpuMemory {
    /// A NUMA node: system memory lies there too.
    Numa,
    /// Nobody but the driver, which manages it; system memory stays on the host (CDMM).
    Cdmm,
}

/// How a node offers memory of the operating system (`malloc`) to GPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SystemMemory {
    /// By faults: memory that a GPU touches comes to it (HMM). With [`CoherenceConfig`], by the host's page table.
    #[default]
    Offered,
    /// Not at all.
    None,
}

impl SystemMemory {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
    pub(crate) fn is_offered(&self) -> bool {
        *self == Self::Offered
    }
}
