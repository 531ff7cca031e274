//! `[[job]]`: programs that run beside one another, each with GPUs, an address space, a start and repetitions of its
//! own.

use std::ops::ControlFlow;

use octavo_manager::{ProcessorId, ProcessorMask, SpaceConfig};
use octavo_program::{Look, Program, Workload, pages_of};
use octavo_registry::OptionError;
use octavo_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::program::{Place, ProgramChoice, ProgramRefused};
use crate::scenario::WorkloadChoice;
use crate::{Scenario, WORKLOADS};

/// The default end of a job: when every other job has ended.
pub(crate) const ALL: &str = "all";

/// A program that runs beside others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobChoice {
    /// Its name in tables and pictures: letters, digits, `-`, `_` and `.`; no two jobs have the same.
    pub name: String,
    /// The program that it runs. If left out, scale and seed come from `workload` beside the jobs.
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
    /// What is around its launches.
    #[serde(default, skip_serializing_if = "ProgramChoice::is_default")]
    pub program: ProgramChoice,
    /// What holds for its memory alone.
    #[serde(default, skip_serializing_if = "SpaceConfig::is_common")]
    pub memory: SpaceConfig,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// A program and its name, which is empty for a program alone.
pub type NamedWorkload = (String, Box<dyn Workload>);

/// How often a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// This many times.
    Times(u32),
    /// Until every job has ended as often as it must.
    UntilAll,
    /// Until the job with that number is over.
    Until(usize),
}

/// A program that runs, built.
pub struct Part {
    /// Its name; empty for a program alone.
    pub name: String,
    /// Its launches.
    pub workload: Box<dyn Workload>,
    /// What is around them, unless they run alone.
    pub program: Option<Program>,
    /// The GPUs that it runs on; empty for all.
    pub gpus: ProcessorMask,
    /// When it begins.
    pub start: Time,
    /// How often it runs.
    pub again: Again,
    /// Its share of compute units, if it asks for one.
    pub share: Option<f64>,
    /// Whether it never begins.
    pub idle: bool,
    /// What holds for its memory alone.
    pub memory: SpaceConfig,
}

/// The reason why nothing can be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartRefused {
    /// A workload cannot be built.
    #[error("workload {name}: {error}")]
    Workload {
        /// Its name.
        name: String,
        /// Why.
        error: OptionError,
    },
    /// What is around its launches cannot be.
    #[error(transparent)]
    Program(#[from] ProgramRefused),
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

impl Scenario {
    /// Every program and its name, which is empty for a program alone.
    ///
    /// # Errors
    /// A workload cannot be built, such as a trace that is no longer there.
    pub fn workloads(&self) -> Result<Vec<NamedWorkload>, PartRefused> {
        let jobs = self.job.iter().map(|job| (job.name.clone(), &job.workload));
        let alone = self.workload.iter().map(|workload| (String::new(), workload));
        alone.chain(jobs).map(|(name, workload)| Ok((name, self.build(workload)?))).collect()
    }

    /// Everything that runs: a program alone, or the jobs.
    ///
    /// # Errors
    /// As [`Scenario::workloads`]; or device memory does not fit the GPUs, or a program cannot be lowered.
    pub fn parts(&self) -> Result<Vec<Part>, PartRefused> {
        self.parts_while(&mut || ControlFlow::Continue(()))
    }

    /// The same, as long as `go_on` says so: it may take a while to find the strips of an explicit program.
    ///
    /// # Errors
    /// As [`Scenario::parts`]; or `go_on` says `Break`.
    pub fn parts_while(&self, go_on: &mut dyn FnMut() -> ControlFlow<()>) -> Result<Vec<Part>, PartRefused> {
        self.parts_as(&mut Look::Accesses(go_on))
    }

    /// The same except for the launches of explicit programs in strips. It has all buffers, and is quick.
    ///
    /// # Errors
    /// As [`Scenario::parts`].
    pub fn sizes(&self) -> Result<Vec<Part>, PartRefused> {
        self.parts_as(&mut Look::Sizes)
    }

    fn parts_as(&self, look: &mut Look<'_>) -> Result<Vec<Part>, PartRefused> {
        let workloads = self.workloads()?;
        let page_bytes = self.memory.decision_size().map_or(u64::MAX, |size| size.0);
        let pages = |workload: &dyn Workload| -> u64 {
            pages_of(workload.buffers(), page_bytes).map(|pages| pages.end - pages.start).sum()
        };
        let footprint = workloads.iter().map(|(_, workload)| pages(workload.as_ref())).sum();
        let part = |(index, (name, workload)): (usize, NamedWorkload)| match self.job.get(index) {
            None => {
                let gpus = self.node.gpus;
                let place = Place { key: "", gpus, alone: gpus == 1, footprint };
                let (workload, program) = self.whole_program(&self.program, &place, workload, look)?;
                Ok(Part { program, ..Part::alone(name, workload) })
            }
            Some(job) => {
                let gpus = job.gpus.len() as u32;
                let place = Place { key: &format!("job[{index}]."), gpus, alone: false, footprint };
                let (workload, program) = self.whole_program(&job.program, &place, workload, look)?;
                Ok(Part { program, ..Part::of(job, &self.job, workload) })
            }
        };
        workloads.into_iter().enumerate().map(part).collect()
    }

    fn build(&self, workload: &WorkloadChoice) -> Result<Box<dyn Workload>, PartRefused> {
        let built = WORKLOADS.build(&workload.choice(), &workload.size(self.seed));
        built.map_err(|error| PartRefused::Workload { name: workload.name.clone(), error })
    }
}

impl Part {
    fn alone(name: String, workload: Box<dyn Workload>) -> Self {
        let (gpus, start, memory) = (ProcessorMask::EMPTY, Time::default(), SpaceConfig::default());
        Self { name, workload, program: None, gpus, start, again: Again::UntilAll, share: None, idle: false, memory }
    }

    fn of(job: &JobChoice, jobs: &[JobChoice], workload: Box<dyn Workload>) -> Self {
        let gpus = job.gpus.iter().map(|&gpu| ProcessorId::gpu(gpu as usize));
        Self {
            gpus: gpus.fold(ProcessorMask::EMPTY, ProcessorMask::with),
            start: job.start,
            again: job.again(jobs),
            share: job.share,
            idle: job.idle,
            memory: job.memory.clone(),
            ..Self::alone(job.name.clone(), workload)
        }
    }
}
