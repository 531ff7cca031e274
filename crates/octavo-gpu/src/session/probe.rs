//! What a probe is.

use crate::driver::source::Source;
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

    /// Measures all its series. A series that this GPU cannot have is skipped with a reason ([`Session::skip`]).
    ///
    /// # Errors
    /// The driver fails, or the user stops.
    fn measure(&self, session: &mut Session<'_>) -> Result<(), GpuError>;
}
