//! The treatment of written pages when the host waits for the GPUs between two launches.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The treatment of pages that a GPU has written when the host waits for it between two launches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Synchronisation {
    /// They stay where they are.
    #[default]
    Stay,
    /// They go to the host, before the next launch begins (UVMSmart, `cudaDeviceSynchronize` in
    /// `libcuda/cuda_runtime_api.cc`). GPUs note which pages they access, as for evictors by accesses.
    DirtyHome,
}

impl Synchronisation {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::Stay
    }
}
