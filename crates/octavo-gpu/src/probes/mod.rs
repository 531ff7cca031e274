//! The probes: one file each, with its kernels beside it.

mod arithmetic;
mod chain;
mod chase;
mod check;
mod copies;
mod launches;
mod memory;
mod peers;
mod roofline;
mod sizes;
mod unified;
mod zero_copy;

use crate::probe::Probe;

/// In the order in which they run.
pub(crate) const ALL: &[&dyn Probe] = &[
    &copies::Copies,
    &launches::Launches,
    &memory::MemoryProbe,
    &arithmetic::Arithmetic,
    &zero_copy::ZeroCopy,
    &unified::Managed,
    &unified::System,
    &roofline::Roofline,
    &peers::Peers,
];
