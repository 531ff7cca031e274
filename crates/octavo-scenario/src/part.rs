//! The programs that run: a single program, or each job.

use std::ops::ControlFlow;

use octavo_manager::{MemoryConfig, ProcessorId, ProcessorMask, SpaceConfig};
use octavo_node::{CapacityError, NodeConfig};
use octavo_program::{Existence, Look, Program, Workload, footprint_pages};
use octavo_registry::OptionError;
use octavo_units::Time;

use crate::job::{Again, JobChoice};
use crate::program::{Place, ProgramChoice, ProgramRefused};
use crate::scenario::Scenario;
use crate::workloads::{WORKLOADS, WorkloadChoice};

/// A program and its name, which is empty for a program alone.
pub type NamedWorkload = (String, Box<dyn Workload>);

/// A program that runs, built.
pub struct Part {
    /// Its name; empty for a program alone.
    pub name: String,
    /// Its launches.
    pub workload: Box<dyn Workload>,
    /// The program around them, unless they run alone.
    pub program: Option<Program>,
    /// When its memory exists and its data arrive, if its launches run alone.
    pub existence: Existence,
    /// The GPUs that it runs on; empty for all.
    pub gpus: ProcessorMask,
    /// When it begins.
    pub start: Time,
    /// How often it runs.
    pub again: Again,
    /// Its share of compute units, if it requests one.
    pub share: Option<f64>,
    /// Whether it never begins.
    pub idle: bool,
    /// Settings for its memory alone.
    pub memory: SpaceConfig,
}

/// All programs of a scenario, built, and the node that they run on.
pub struct Built {
    /// The scenario's node with the memories that the programs have at their scale: see `CapacityConfig::shrinks`.
    pub node: NodeConfig,
    /// The memory system with the remaining reserves of each.
    pub memory: MemoryConfig,
    /// A program alone, or the jobs.
    pub parts: Vec<Part>,
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
    /// A GPU would have too little memory.
    #[error(transparent)]
    Capacity(#[from] CapacityError),
    /// The program around its launches is impossible.
    #[error(transparent)]
    Program(#[from] ProgramRefused),
}

impl Scenario {
    /// Every program and its name, which is empty for a program alone.
    ///
    /// # Errors
    /// A workload cannot be built, such as a trace that is no longer there.
    pub fn workloads(&self) -> Result<Vec<NamedWorkload>, PartRefused> {
        let jobs = self.job.iter().map(|job| (job.name.clone(), &job.workload, &job.program));
        let alone = self.workload.iter().map(|workload| (String::new(), workload, &self.program));
        alone.chain(jobs).map(|(name, workload, program)| Ok((name, self.build(workload, program)?))).collect()
    }

    /// Everything that runs: a program alone, or the jobs.
    ///
    /// # Errors
    /// As for [`Scenario::workloads`]; or device memory does not fit the GPUs, or a program cannot be lowered.
    pub fn parts(&self) -> Result<Vec<Part>, PartRefused> {
        Ok(self.built_while(&mut || ControlFlow::Continue(()))?.parts)
    }

    /// The programs that run and their node, while `go_on` returns true: finding the strips of an explicit program may
    /// take a while.
    ///
    /// # Errors
    /// As for [`Scenario::parts`]; or `go_on` says `Break`.
    pub fn built_while(&self, go_on: &mut dyn FnMut() -> ControlFlow<()>) -> Result<Built, PartRefused> {
        self.built_as(&mut Look::Accesses(go_on))
    }

    /// The same except for the launches of explicit programs in strips. It has all buffers, and is quick.
    ///
    /// # Errors
    /// As for [`Scenario::parts`].
    pub fn sizes(&self) -> Result<Built, PartRefused> {
        self.built_as(&mut Look::Sizes)
    }

    /// Bytes of memory that each GPU has for the programs at their scale; `None` without a limit.
    ///
    /// # Errors
    /// As for [`Scenario::workloads`]; or that is too few to run.
    pub fn gpu_memory(&self) -> Result<Option<u64>, PartRefused> {
        let workloads = self.workloads()?;
        let all = || workloads.iter().map(|(_, workload)| workload.as_ref());
        let page_bytes = self.memory.decision_size().map_or(u64::MAX, |size| size.0);
        let footprint = footprint_pages(page_bytes, all());
        let room = self.shrunk(all()).0.capacity_pages(page_bytes, footprint)?;
        Ok(room.map(|pages| u64::from(pages) * page_bytes))
    }

    fn built_as(&self, look: &mut Look<'_>) -> Result<Built, PartRefused> {
        let workloads = self.workloads()?;
        let all = || workloads.iter().map(|(_, workload)| workload.as_ref());
        let (node, memory) = self.shrunk(all());
        let page_bytes = self.memory.decision_size().map_or(u64::MAX, |size| size.0);
        let footprint = footprint_pages(page_bytes, all());
        let part = |(index, (name, workload)): (usize, NamedWorkload)| match self.job.get(index) {
            None => {
                let place = Place { key: "", node: &node, gpus: node.gpus, alone: node.gpus == 1, footprint };
                let (workload, program) = self.whole_program(&self.program, &place, workload, look)?;
                let existence = self.program.existence();
                Ok(Part { program, existence, ..Part::alone(name, workload) })
            }
            Some(job) => {
                let gpus = job.gpus.len() as u32;
                let place = Place { key: &format!("job[{index}]."), node: &node, gpus, alone: false, footprint };
                let (workload, program) = self.whole_program(&job.program, &place, workload, look)?;
                Ok(Part { program, ..Part::of(job, &self.job, workload) })
            }
        };
        let parts = workloads.into_iter().enumerate().map(part).collect::<Result<_, PartRefused>>()?;
        Ok(Built { node, memory, parts })
    }

    fn build(&self, workload: &WorkloadChoice, program: &ProgramChoice) -> Result<Box<dyn Workload>, PartRefused> {
        let built = WORKLOADS.build(&workload.choice(), &workload.size(self.seed));
        let built = built.map_err(|error| PartRefused::Workload { name: workload.name.clone(), error })?;
        Ok(program.laid_out(built))
    }
}

impl Part {
    fn alone(name: String, workload: Box<dyn Workload>) -> Self {
        let (gpus, start, memory) = (ProcessorMask::EMPTY, Time::default(), SpaceConfig::default());
        let (existence, again) = (Existence::default(), Again::UntilAll);
        Self { name, workload, program: None, existence, gpus, start, again, share: None, idle: false, memory }
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
            existence: job.program.existence(),
            ..Self::alone(job.name.clone(), workload)
        }
    }
}
