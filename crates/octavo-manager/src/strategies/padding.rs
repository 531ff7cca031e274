//! Padding of allocations of managed memory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Pages beyond the end of an allocation of managed memory. The manager treats them like all others; the caller that
/// lays out allocations includes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Padding {
    /// Nothing.
    #[default]
    None,
    /// Pages that no program accesses. The part of an allocation in its last 2 MiB is rounded up to 64 KiB times a
    /// power of two, so that it fills a whole prefetch tree (UVMSmart, `cudaMallocManaged` in
    /// `libcuda/cuda_runtime_api.cc` and `gmmu_t::initialize_large_page` in `gpu-sim.cc`).
    Trees,
}

impl Padding {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    pub(crate) fn is_none(&self) -> bool {
        *self == Self::None
    }
}
