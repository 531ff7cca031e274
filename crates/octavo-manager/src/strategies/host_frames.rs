//! The frames of the host that hold pages from the GPUs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The frames of the host that hold pages from the GPUs, and so the number of pieces in copies. It changes no decision,
/// only the cost of carrying it out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HostFrames {
    /// They exist already and cost nothing, and neighbouring pages are one copy.
    #[default]
    Ready,
    /// One for each page, created when the page leaves for the host for the first time; each page is a separate copy
    /// (`uvm-driver.md` section 10, point 4: drivers up to 460 at least).
    Base,
    /// One of 2 MiB for each block without pages on the host when a page leaves for it; otherwise as `base`
    /// (memHarvester, USENIX ATC 2022: large host pages; `uvm-driver.md` section 1: today's drivers).
    Large,
}

impl HostFrames {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    pub(crate) fn are_ready(&self) -> bool {
        *self == Self::Ready
    }
}
