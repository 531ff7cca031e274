//! A scenario with everything spelled out.

use octavo_manager::MemoryConfig;
use octavo_node::NodeConfig;
use octavo_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::executor::ExecutorChoice;
use crate::job::JobChoice;
use crate::program::ProgramChoice;
use crate::workloads::WorkloadChoice;

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

/// Records besides totals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Keep everything that happens to pages, one row each.
    pub events: bool,
    /// Count the page-table walks of GPUs by the placement's attributes of their pages; default false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub walks: bool,
    /// Simulated time between samples of faults, copies, translation, links and memory; `0ns` for none.
    pub interval: Time,
}
