//! The description of a probe.

use crate::driver::source::{Source, digest};
use crate::error::GpuError;
use crate::session::Session;

/// Measures one part of a GPU's memory system: one file each.
pub trait Probe: Sync {
    /// The name users type, which its table of samples has too.
    fn name(&self) -> &'static str;

    /// What it measures, in a few words.
    fn title(&self) -> &'static str;

    /// What it measures and how, in a few sentences.
    fn about(&self) -> &'static str;

    /// Its kernels.
    fn source(&self) -> Source;

    /// Tells versions of the probe apart: by its kernels, and by Octavo's version for everything around them.
    fn digest(&self) -> String {
        digest(&[env!("CARGO_PKG_VERSION"), self.name(), &self.source().text()].join("\0"))
    }

    /// Measures all its series. A series that this GPU cannot have is skipped with a reason ([`Session::skip`]).
    ///
    /// # Errors
    /// The driver fails, or the user stops.
    fn measure(&self, session: &mut Session<'_>) -> Result<(), GpuError>;
}
