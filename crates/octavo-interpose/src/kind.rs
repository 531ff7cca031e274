//! Kinds of memory.

use serde::{Deserialize, Serialize};

/// The kind of memory of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Memory of the device.
    Device,
    /// Managed memory, which moves by pages.
    Managed,
    /// Memory of the host that the device can access.
    Pinned,
}
