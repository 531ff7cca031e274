//! A scenario with everything spelled out.

use octavo_manager::MemoryConfig;
use octavo_node::NodeConfig;
use octavo_program::Size;
use octavo_registry::{Choice, Options};
use octavo_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::executor::ExecutorChoice;
use crate::job::JobChoice;
use crate::program::ProgramChoice;

/// One run: a node, a memory system, a workload or several jobs, and a seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// A name for reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Seed of everything random.
    #[schemars(range(min = 0))]
    pub seed: i64,
    /// The program that runs, if there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "WorkloadChoice")]
    pub workload: Option<WorkloadChoice>,
    /// Programs that run beside one another, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub job: Vec<JobChoice>,
    /// The program around the workload's launches.
    #[serde(default, skip_serializing_if = "ProgramChoice::is_default")]
    pub program: ProgramChoice,
    /// The part that carries out the memory manager's decisions.
    #[serde(default, skip_serializing_if = "ExecutorChoice::is_default")]
    pub executor: ExecutorChoice,
    /// How pages are managed.
    pub memory: MemoryConfig,
    /// Records besides totals.
    pub record: Record,
    /// The node that it runs on.
    pub node: NodeConfig,
}

/// A workload by name, its size and its options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadChoice {
    /// The registered name.
    pub name: String,
    /// Footprint relative to the published one: above 0, at most 1024.
    pub scale: f64,
    /// Seed of the workload's data; the scenario's seed if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub seed: Option<i64>,
    /// Options of this workload.
    #[serde(flatten)]
    pub options: Options,
}

/// Records besides totals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Keep everything that happens to pages, one row each.
    pub events: bool,
    /// Count the page-table walks of GPUs by what the placement keeps about their pages; default false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub walks: bool,
    /// Simulated time between samples of faults, copies, translation, links and memory; `0ns` for none.
    pub interval: Time,
}

impl WorkloadChoice {
    /// The name and options alone, as the registry of workloads takes them.
    #[must_use]
    pub fn choice(&self) -> Choice {
        Choice { name: self.name.clone(), options: self.options.clone() }
    }

    /// What it is built from besides its options, in a scenario of that seed.
    #[must_use]
    pub fn size(&self, seed: i64) -> Size {
        Size { scale: self.scale, seed: self.seed.unwrap_or(seed).unsigned_abs() }
    }
}
