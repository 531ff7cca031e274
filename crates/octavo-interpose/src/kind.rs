//! Kinds of memory.

use serde::{Deserialize, Serialize};

/// What kind of memory was allocated, or is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Of the device.
    Device,
    /// That moves by pages.
    Managed,
    /// Of the host, for the device to reach.
    Pinned,
}
