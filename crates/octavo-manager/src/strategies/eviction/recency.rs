//! What counts as a use of an eviction unit, and how much of a unit must be resident for it to leave.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What counts as a use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Recency {
    /// Pages were brought, or a fault on them was served: what a driver sees (`uvm-driver.md` section 6).
    #[default]
    Service,
    /// Each access, too: what a GPU would have to tell its driver (UVMSmart, `refresh_valid_pages`).
    Access,
}

impl Recency {
    /// Whether it is the default, which is not written out.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    pub fn is_service(&self) -> bool {
        *self == Self::Service
    }

    pub fn is_access(self) -> bool {
        self == Self::Access
    }
}

/// Whether an option is left at `false`: it is not written out then.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
pub(super) fn is_off(option: &bool) -> bool {
    !option
}
