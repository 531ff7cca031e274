//! The host, and the driver that runs on it.

use octavo_driver::config::ServiceModel;
use octavo_units::{Bytes, Cycles};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The host's part of a far fault, besides the driver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostConfig {
    /// Page-table walks at once.
    pub walkers: u32,
    /// Cycles to read one level of the host's page table.
    pub level: Cycles,
    /// Cycles from request to data of host memory, for remote lines and policy metadata.
    pub memory_latency: Cycles,
    /// Bytes of a fault or counter notification on its way to the host, and of its answer.
    pub fault_message: Bytes,
}

/// The driver: what serves faults, counter notifications and reports, and how plans are carried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriverConfig {
    /// How requests are served.
    pub service: ServiceModel,
    /// Cycles to write a page-table entry.
    pub entry_write: Cycles,
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
    /// Entries of the filter that guesses which GPU holds a translation. One filter stands for those that each GPU
    /// and the host have; looking it up costs nothing.
    pub filter_entries: u32,
    /// Bits of the fingerprint an entry keeps; two pages with the same slot and fingerprint are confused.
    pub fingerprint_bits: u32,
}
