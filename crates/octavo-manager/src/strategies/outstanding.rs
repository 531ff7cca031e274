//! Whether pages can be evicted while accesses to them are under way.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The treatment of a page with accesses in progress when something has to leave its memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OutstandingAccesses {
    /// It can leave: the accesses finish before it does.
    #[default]
    Leave,
    /// It stays until they have come back, and a fault that finds no other page waits for that (UVMSmart,
    /// `gmmu_t::is_block_evictable` in `gpu-sim.cc`, which asks `reserve_pages_check`; `ldst_unit::access_cycle` in
    /// `shader.cc` reserves a page).
    Stay,
}

impl OutstandingAccesses {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::Leave
    }
}
