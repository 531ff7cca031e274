//! An access that has to wait for another reason than a fault.

use crate::gpu::run::Run;
use crate::machine::replays::ReplayId;

/// Lines of one page that an instruction wants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deferred {
    pub run: Run,
    pub slot: u32,
    /// Their translation is known then.
    pub translated: bool,
    /// The replay that they are part of.
    pub replay: Option<ReplayId>,
}
