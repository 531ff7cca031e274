//! Steps of the probes of memory that both sides share.

use crate::error::GpuError;
use crate::session::Session;

/// What a step does.
type Work<'a> = dyn Fn(&mut Session<'_>) -> Result<(), GpuError> + 'a;

/// One step of a probe, for the progress shown to users.
pub(super) struct Step<'a> {
    what: String,
    work: Box<Work<'a>>,
}

impl<'a> Step<'a> {
    pub(super) fn new(what: impl Into<String>, work: impl Fn(&mut Session<'_>) -> Result<(), GpuError> + 'a) -> Self {
        Self { what: what.into(), work: Box::new(work) }
    }

    /// Says that it begins, and does it.
    pub(super) fn run(&self, session: &mut Session<'_>) -> Result<(), GpuError> {
        session.step(&self.what)?;
        (self.work)(session)
    }
}
