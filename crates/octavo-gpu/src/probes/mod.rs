//! The probes: one file each, with its kernels next to it.

mod arithmetic;
mod chain;
mod chase;
mod check;
mod copies;
mod launches;
mod measure;
mod memory;
mod peers;
mod roofline;
mod sizes;
mod unified;
mod zero_copy;

use crate::error::GpuError;
use crate::session::probe::Probe;

pub use measure::{Measured, measure};

/// The cheap ones first.
const ALL: &[&dyn Probe] = &[
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

/// All probes, in the order in which they run: the cheap ones first.
#[must_use]
pub fn probes() -> &'static [&'static dyn Probe] {
    ALL
}

/// The probe of that name.
///
/// # Errors
/// There is none.
pub fn find(name: &str) -> Result<&'static dyn Probe, GpuError> {
    let found = ALL.iter().find(|probe| probe.name() == name);
    found.copied().ok_or_else(|| GpuError::UnknownProbe(name.to_owned()))
}
