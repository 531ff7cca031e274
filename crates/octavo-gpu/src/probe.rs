//! What a probe is, and which there are.

use crate::error::GpuError;
use crate::probes::ALL;
use crate::session::Session;

/// How much is measured; never how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Few sizes and repetitions: the whole suite in less than a minute.
    Quick,
    /// All of them: less than ten minutes.
    Full,
}

impl Effort {
    /// The one or the other.
    pub(crate) fn choose<T>(self, quick: T, full: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Full => full,
        }
    }
}

/// Kernels of a probe, in CUDA C++.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// The file, for the compiler's messages.
    pub name: &'static str,
    /// What is in it, without what all probes share.
    pub body: &'static str,
}

/// What all kernels share: names of types, and the clock.
const SHARED: &str = include_str!("probes/shared.cuh");

impl Source {
    /// What the compiler gets.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{SHARED}\n#line 1 \"{}\"\n{}", self.name, self.body)
    }
}

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
