//! How much memory there is.

use octavo_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much GPU memory the workload may use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CapacityConfig {
    /// Share of the workload's footprint that fits, in per cent; 0 for no limit.
    pub footprint_percent: u32,
    /// Whose memory that share is.
    pub scope: CapacityScope,
    /// Memory of each GPU whatever the footprint is; 0, the default, leaves it to the share.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub bytes: Bytes,
}

fn is_nothing(bytes: &Bytes) -> bool {
    bytes.0 == 0
}

/// Whose memory a capacity describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CapacityScope {
    /// Each GPU holds that share of the footprint.
    PerGpu,
    /// All GPUs together hold that share.
    Total,
}
