//! The node as a whole.

use octavo_program::Dispatch;
use octavo_units::Frequency;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::about::AboutConfig;
use crate::coherence::{CoherenceConfig, SystemMemory};
use crate::driver::DriverConfig;
use crate::fabric::{CopyEngineConfig, HostSwitchConfig, LinkConfig, PairConfig, RemoteConfig, SwitchConfig};
use crate::fidelity::{Fidelity, SettledConfig};
use crate::gpu::{
    CacheConfig, ComputeConfig, DramConfig, FaultBufferConfig, FetchConfig, L2Config, ScalarConfig, TlbConfig,
    WalkerConfig, is_false,
};
use crate::host::HostConfig;
use crate::memory::CapacityConfig;

/// Which caches a launch finds empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LaunchDiscards {
    /// None: the contents that the launch before left are still valid.
    None,
    /// The first-level caches, so that a launch sees the stores of the one before.
    FirstLevel,
}

/// A GPU node: one host and its GPUs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeConfig {
    /// How far its results can be trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<AboutConfig>,
    /// Number of GPUs, 1 to 72.
    pub gpus: u32,
    /// Clock of the GPUs' compute units, caches and translation.
    pub clock: Frequency,
    /// How closely accesses to a GPU's own memory are followed; default `line`.
    #[serde(default, skip_serializing_if = "Fidelity::is_line")]
    pub fidelity: Fidelity,
    /// Replaces cache tags at fidelity `page`.
    #[serde(default, skip_serializing_if = "SettledConfig::is_default")]
    pub settled: SettledConfig,
    /// Which work-groups of a launch run on which GPU.
    pub dispatch: Dispatch,
    /// Compute units of one GPU.
    pub compute: ComputeConfig,
    /// Instruction fetch.
    pub fetch: FetchConfig,
    /// Loads by the scalar unit.
    pub scalar: ScalarConfig,
    /// Which caches a launch finds empty.
    pub launch_discards: LaunchDiscards,
    /// First-level vector cache of one compute unit.
    pub l1: CacheConfig,
    /// Second-level cache of one GPU.
    pub l2: L2Config,
    /// Memory of one GPU.
    pub dram: DramConfig,
    /// First-level TLB of one compute unit.
    pub l1_tlb: TlbConfig,
    /// Second-level TLB of one GPU.
    pub l2_tlb: TlbConfig,
    /// Page-table walkers of one GPU.
    pub walker: WalkerConfig,
    /// How the faults of one GPU reach the driver. If left out, a page faults once for a whole GPU, and at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault_buffer: Option<FaultBufferConfig>,
    /// Whether every access finds its translation in a first-level TLB, an upper bound: only faults remain. Default
    /// `false`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub ideal_tlb: bool,
    /// Whether miss registers of caches and TLBs, and walkers with their queue, are given out in order of time: each is
    /// free until its request begins. Otherwise, the default (`false`), they are given out in the order of requests,
    /// some of which are made ahead of time and hold up others that begin earlier.
    #[serde(default, skip_serializing_if = "is_false")]
    pub registers_in_time_order: bool,
    /// Links between GPUs.
    pub gpu_link: LinkConfig,
    /// Which GPUs are linked and by how many links. Other traffic goes through the host; `[]` links none. A node of
    /// fewer GPUs has the links among those. Unless said, all are linked, as `gpu_link.sharing` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<Vec<PairConfig>>,
    /// Switches that links between GPUs go through, if they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switches: Option<SwitchConfig>,
    /// Link of one GPU to the host.
    pub host_link: LinkConfig,
    /// Switches between the host and GPUs, if links to the host are shared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_switches: Option<HostSwitchConfig>,
    /// Engines that copy pages. Unless said, a copy begins with its command, and is read whole before it is sent and sent
    /// whole before it is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_engines: Option<CopyEngineConfig>,
    /// Coherence between the host and GPUs. Unless said, the host reaches no memory of GPUs, and GPUs fault on what is the
    /// operating system's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coherence: Option<CoherenceConfig>,
    /// Whether GPUs can use memory of the operating system (`malloc`); default `offered`.
    #[serde(default, skip_serializing_if = "SystemMemory::is_offered")]
    pub system_memory: SystemMemory,
    /// Cache-line access to another processor's memory.
    pub remote: RemoteConfig,
    /// The host: its part of a far fault, its cores and the costs of memory there.
    pub host: HostConfig,
    /// The driver's service of faults, counter notifications and reports.
    pub driver: DriverConfig,
    /// Memory of one GPU available to the workload.
    pub capacity: CapacityConfig,
}

impl NodeConfig {
    /// The model that replaces cache tags, if there is one.
    #[must_use]
    pub fn settles(&self) -> Option<&SettledConfig> {
        (self.fidelity == Fidelity::Page).then_some(&self.settled)
    }
}
