//! `[[job]]`: programs that run side by side, each with its own GPUs, address space, start and repetitions.

use octavo_manager::SpaceConfig;
use octavo_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::program::ProgramChoice;
use crate::workloads::WorkloadChoice;

/// The default end of a job: when every other job has ended.
pub(crate) const ALL: &str = "all";

/// A program that runs beside others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobChoice {
    /// Its name in tables and pictures: letters, digits, `-`, `_` and `.`; no two jobs have the same.
    pub name: String,
    /// The program that it runs. If left out, scale and seed come from `workload` next to the jobs.
    pub workload: WorkloadChoice,
    /// The GPUs that it runs on, from 0; all if left out.
    #[serde(default)]
    pub gpus: Vec<u32>,
    /// Simulated time at which it begins.
    #[serde(default)]
    pub start: Time,
    /// How often it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub repetitions: Option<u32>,
    /// It runs again and again until this job ends; it runs once at least. Default, without `repetitions`: `all`, that
    /// is until every other job has ended as often as it must.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Share of the compute units of each of its GPUs, above 0 and at most 1; an equal part of what the others leave if
    /// left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Whether it never begins, although its compute units and its part of the footprint are kept for it. This gives
    /// the times of the others without it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub idle: bool,
    /// The program around its launches.
    #[serde(default, skip_serializing_if = "ProgramChoice::is_default")]
    pub program: ProgramChoice,
    /// Settings for its memory alone.
    #[serde(default, skip_serializing_if = "SpaceConfig::is_common")]
    pub memory: SpaceConfig,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// How often a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// This many times.
    Times(u32),
    /// Until each job has run as often as required.
    UntilAll,
    /// Until the job with that number ends.
    Until(usize),
}

impl JobChoice {
    /// How often it runs, among `jobs`.
    pub(crate) fn again(&self, jobs: &[Self]) -> Again {
        let named = |name: &String| jobs.iter().position(|job| job.name == *name);
        match (self.repetitions, self.until.as_ref().and_then(named)) {
            (Some(times), _) => Again::Times(times),
            (None, Some(other)) => Again::Until(other),
            (None, None) => Again::UntilAll,
        }
    }
}
