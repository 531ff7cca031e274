//! Which frames of the host hold pages that leave the GPUs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which frames of the host hold what leaves the GPUs, and so of how many pieces copies are. It changes no decision:
/// only what carrying it out costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HostFrames {
    /// They are there and cost nothing, and neighbouring pages are one copy.
    #[default]
    Ready,
    /// One for each page, made when the page leaves for the host for the first time; each page is a copy of its own
    /// (`uvm-driver.md` section 10, point 4: drivers up to 460 at least).
    Base,
    /// One of 2 MiB for each block of which no page is on the host when one leaves for it; the others are as `base`
    /// (memHarvester, USENIX ATC 2022: large host pages; `uvm-driver.md` section 1: drivers of today).
    Large,
}

impl HostFrames {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    pub(crate) fn are_ready(&self) -> bool {
        *self == Self::Ready
    }
}
