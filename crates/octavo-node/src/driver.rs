//! The driver, which runs on the host.

use octavo_driver::config::ServiceModel;
use octavo_units::{Cycles, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::release::Release;

/// The driver: what serves faults, counter notifications and reports, and how plans are carried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriverConfig {
    /// Release of NVIDIA's driver, such as 615 or 580.159.04, or `none`. It decides options that are left out:
    /// `discard` (from 580.65 on), `memory.guard.adaptive_lapse` (from 590 on) and `node.coherence.gpu_memory` (`cdmm`
    /// from 615 on).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<Release>,
    /// Whether programs can discard what is in managed memory (`cudaMemDiscardBatchAsync`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discard: Option<bool>,
    /// How requests are served.
    pub service: ServiceModel,
    /// Cycles to write a page-table entry.
    pub entry_write: Cycles,
    /// Time to unmap a page that leaves the host for a GPU; `node.host.costs.unmap_page` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmap_page: Option<Time>,
    /// Which compute units stop for a drain.
    pub drain: DrainScope,
    /// Forward walks of far faults to the GPU that probably has the translation.
    pub trans_fw: Option<TransFwConfig>,
}

/// Which compute units stop for a drain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DrainScope {
    /// Every compute unit of the GPU.
    WholeGpu,
    /// Only units that hold a translation of the page, standing for those with accesses to it in flight (ACUD).
    TouchedUnits,
}

/// Trans-FW: remote forwarding of far-fault walks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransFwConfig {
    /// Entries of the filter that guesses which GPU holds a translation. One filter stands for all filters of GPUs and
    /// host; a look-up is free.
    pub filter_entries: u32,
    /// Bits of the fingerprint an entry keeps; two pages with the same slot and fingerprint are confused.
    pub fingerprint_bits: u32,
}
