//! How a workload is registered under the name that a user types.

use octavo_registry::Entry;

use crate::launches::Workload;

/// The input of every workload, in addition to its own options.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// Footprint relative to the published one: 1 is the published footprint, 0.0625 a sixteenth of it. Positive.
    pub scale: f64,
    /// Seed of everything random in the workload's data.
    pub seed: u64,
}

/// A registered workload.
pub type WorkloadEntry = Entry<Box<dyn Workload>, Size>;
