//! How much memory there is.

use octavo_units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much GPU memory the workload may use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CapacityConfig {
    /// Share of the workload's footprint that fits, in per cent; 0 for no limit.
    pub footprint_percent: u32,
    /// Whether the share is one GPU's memory or all GPUs' together.
    pub scope: CapacityScope,
    /// Memory of each GPU, independent of the footprint; 0, the default: the share decides.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub bytes: Bytes,
    /// Whether bytes, of changes too, are for programs at scale 1: a program below that has the part of them in which it
    /// is as cramped, unless jobs have different scales; default false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shrinks: bool,
    /// How it changes while a workload runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub change: Vec<CapacityChange>,
}

/// From a time on, GPUs have another amount of memory: some was taken away, or returned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CapacityChange {
    /// Simulated time at which it changes, after 0.
    pub at: Time,
    /// The GPUs that own it, from 0; all if left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<u32>,
    /// Share of the workload's footprint that fits from then on, in per cent, as before; either that or `bytes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub footprint_percent: Option<u32>,
    /// Memory of each of them from then on; either that or `footprint_percent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
}

fn is_nothing(bytes: &Bytes) -> bool {
    bytes.0 == 0
}

/// The GPUs whose memory a capacity describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CapacityScope {
    /// Each GPU holds that share of the footprint.
    PerGpu,
    /// All GPUs together hold that share.
    Total,
}
