//! How closely accesses to a GPU's own memory are followed.

use octavo_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How closely accesses to a GPU's own memory are followed. Faults, plans, page tables, TLBs, remote lines, waits and
/// barriers are the same in either case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fidelity {
    /// Line by line, with the tags of both levels of caches.
    #[default]
    Line,
    /// Operation by operation, without tags: a constant share of lines hits each level (`settled`).
    Page,
}

impl Fidelity {
    /// Whether it is [`Line`](Self::Line).
    #[must_use]
    pub fn is_line(&self) -> bool {
        *self == Self::Line
    }
}

/// Replaces cache tags at fidelity `page`, by the same shares for every workload. At fidelity `line` each must have its
/// default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SettledConfig {
    /// Share of loaded lines of a GPU's own memory that its first-level cache has, in percent. Default 35: the median
    /// of the eight kernels of the GRIT study at fidelity `line`, under `grit` at scale 1/16.
    #[schemars(range(max = 100))]
    pub l1_hits_percent: u32,
    /// Share of requested lines that the second-level cache has, in percent. Default 84: the same median.
    #[schemars(range(max = 100))]
    pub l2_hits_percent: u32,
    /// How far ahead of the clock a wavefront continues while it touches only pages of its GPU's memory that never left
    /// it. Default 1 us; ours.
    pub ahead: Time,
}

impl Default for SettledConfig {
    fn default() -> Self {
        Self { l1_hits_percent: 35, l2_hits_percent: 84, ahead: Time(1_000_000) }
    }
}

impl SettledConfig {
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The first value that differs from the default: its key, the default and the value.
    pub(crate) fn changed(&self) -> Option<(&'static str, String, String)> {
        let usual = Self::default();
        let values = [
            ("l1_hits_percent", usual.l1_hits_percent.to_string(), self.l1_hits_percent.to_string()),
            ("l2_hits_percent", usual.l2_hits_percent.to_string(), self.l2_hits_percent.to_string()),
            ("ahead", usual.ahead.to_string(), self.ahead.to_string()),
        ];
        values.into_iter().find(|(_, usual, found)| usual != found)
    }
}
