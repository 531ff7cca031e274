//! The probes: one file each, with its kernels beside it.

mod launches;
mod roofline;
mod unified;

use crate::probe::Probe;

/// In the order in which they run.
pub(crate) const ALL: &[&dyn Probe] = &[&launches::Launches, &unified::Managed, &unified::System, &roofline::Roofline];
