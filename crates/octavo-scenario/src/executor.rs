//! `[executor]`: who carries plans out, and with which rules where there is no time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What carries the manager's plans out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ExecutorChoice {
    /// The simulated node: steps take time and compete for resources.
    Simulated(SimulatedChoice),
    /// Every step at once: decisions and counts without time.
    Instant(InstantChoice),
}

/// The simulated node, which `[node]` describes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SimulatedChoice {
    /// Which of several runs of one scenario it is; default 0, the run without variations. Each other one varies what
    /// scenarios leave open: when each GPU begins a launch (up to 1 µs late), and which of equal GPUs and compute units
    /// gets the first work-group. Ours.
    #[serde(skip_serializing_if = "is_as_it_is")]
    pub replicate: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
const fn is_as_it_is(replicate: &u32) -> bool {
    *replicate == 0
}

/// The replacement for time in runs without time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct InstantChoice {
    /// Memory instructions that a wavefront makes before the next one's turn; default 1: wavefronts advance as evenly
    /// as possible. Ours.
    #[schemars(range(min = 1))]
    pub turn: u32,
    /// Line accesses between two periodic reports of access counts, for placements that ask for these. Default: one
    /// line a GPU in 16 cycles of their period, about the median of the GRIT study's kernels in simulated time. Ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub report_lines: Option<u64>,
}

impl Default for InstantChoice {
    fn default() -> Self {
        Self { turn: 1, report_lines: None }
    }
}

impl Default for ExecutorChoice {
    fn default() -> Self {
        Self::Simulated(SimulatedChoice::default())
    }
}

impl ExecutorChoice {
    /// The word for [`Instant`](Self::Instant).
    pub(crate) const INSTANT: &'static str = "instant";

    /// Whether it is the simulated node, and the run as it is.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
