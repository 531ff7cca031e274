//! Actions of whole programs, and their phases.

use octavo_program::ActionId;

/// An action of a job.
pub(super) type Doing = (usize, ActionId);

/// The phase that an action of a program belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The first call that needs a GPU creates what it needs.
    Context,
    Allocation,
    HostInitialisation,
    CopyIn,
    Kernel,
    CopyOut,
    HostResults,
    Deallocation,
    /// The host waits.
    Other,
}

impl Phase {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Context => "context",
            Self::Allocation => "allocation",
            Self::HostInitialisation => "host-initialisation",
            Self::CopyIn => "copy-in",
            Self::Kernel => "kernel",
            Self::CopyOut => "copy-out",
            Self::HostResults => "host-results",
            Self::Deallocation => "deallocation",
            Self::Other => "other",
        }
    }
}
