//! `[executor]`: who carries plans out, and with which rules where there is no time.

use octavo_manager::OutstandingAccesses;
use octavo_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Scenario;
use crate::error::Problem;

/// Who carries the manager's plans out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ExecutorChoice {
    /// The simulated node: steps take time and compete for what they need.
    Simulated(SimulatedChoice),
    /// Every step at once: decisions and counts without time.
    Instant(InstantChoice),
}

/// The simulated node; what it is stands in `[node]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SimulatedChoice {
    /// Which of several runs of one scenario it is; default 0, the run as it is. Each other one varies what no
    /// scenario says: when each GPU begins a launch (up to 1 µs late), and which of equal GPUs and compute units gets
    /// the first work-group. Ours.
    #[serde(skip_serializing_if = "is_as_it_is")]
    pub replicate: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
const fn is_as_it_is(replicate: &u32) -> bool {
    *replicate == 0
}

/// What stands for time where there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct InstantChoice {
    /// Memory instructions that a wavefront makes before it is the next one's turn; default 1: wavefronts go on as
    /// evenly as they can. Ours.
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

/// Refuses what has no meaning without time, or without TLBs.
pub(crate) fn check_executor(scenario: &Scenario) -> Result<(), Problem> {
    check_walks(scenario)?;
    check_outstanding(scenario)?;
    if matches!(scenario.executor, ExecutorChoice::Simulated(_)) {
        return Ok(());
    }
    if let Some((number, late)) = scenario.job.iter().enumerate().find(|(_, job)| job.start > Time::ZERO) {
        let message = format!("executor.kind `instant` has no time: expected 0ns, found {}", late.start);
        return Err(Problem::new(format!("job[{number}].start"), message));
    }
    if !scenario.node.fidelity.is_line() {
        let message = "executor.kind `instant` has no caches: expected line, found page";
        return Err(Problem::new("node.fidelity", message.to_owned()));
    }
    if !scenario.node.capacity.change.is_empty() {
        let message = "executor.kind `instant` has no time: expected no memory that changes at a time, found some";
        return Err(Problem::new("node.capacity.change", message));
    }
    if scenario.record.interval == Time::ZERO {
        return Ok(());
    }
    let message = format!("executor.kind `instant` has no time: expected 0ns, found {}", scenario.record.interval);
    Err(Problem::new("record.interval", message))
}

/// At fidelity `page` accesses are settled many at a time, and none has a time at which it comes back.
fn check_outstanding(scenario: &Scenario) -> Result<(), Problem> {
    if scenario.memory.outstanding == OutstandingAccesses::Leave || scenario.node.fidelity.is_line() {
        return Ok(());
    }
    let message = "node.fidelity `page` knows no outstanding accesses: expected leave, found stay";
    Err(Problem::new("memory.outstanding", message.to_owned()))
}

/// No page tables are walked without time, nor at fidelity `page`.
fn check_walks(scenario: &Scenario) -> Result<(), Problem> {
    let why = if matches!(scenario.executor, ExecutorChoice::Instant(_)) {
        "executor.kind `instant`"
    } else if !scenario.node.fidelity.is_line() {
        "node.fidelity `page`"
    } else {
        return Ok(());
    };
    if !scenario.record.walks {
        return Ok(());
    }
    Err(Problem::new("record.walks", format!("{why} has no page-table walks: expected false, found true")))
}
