//! The programs of a run, each with GPUs, a start and a number of repetitions.

use std::collections::BTreeSet;
use std::ops::Range;

use octavo_manager::{Manager, MemoryConfig, Padding, ProcessorId, ProcessorMask, SpaceConfig};
use octavo_node::{NodeConfig, divide_units};
use octavo_program::{Existence, Mix, Program, WholeWorkload, Workload};
use octavo_units::Time;

use crate::error::SimError;

/// By job and GPU: the compute units that it has there.
pub(crate) type Units = Vec<Vec<Range<usize>>>;

/// A program that runs together with others, in an address space of its own.
#[derive(Clone)]
pub struct Job<'a> {
    /// Its name in tables; names of jobs differ. Empty for a program alone.
    pub name: String,
    /// Its launches.
    pub workload: &'a dyn Workload,
    /// The whole program that is made of the workload; only the launches run if there is none.
    pub program: Option<&'a Program>,
    /// When its memory exists and its data arrive, if only the launches run.
    pub existence: Existence,
    /// The GPUs that it runs on; empty for all.
    pub gpus: ProcessorMask,
    /// The time when it begins for the first time.
    pub start: Time,
    /// How often it runs.
    pub repeat: Repeat,
    /// Share of the compute units of each of its GPUs, above 0 and at most 1; an equal part of the rest if left out.
    pub share: Option<f64>,
    /// It never begins: its compute units and its part of the footprint stay unused.
    pub idle: bool,
    /// Options of its own memory, under the job's name.
    pub memory: SpaceConfig,
}

/// How often a job runs. A run ends when each job has ended as often as it must.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repeat {
    /// This many times, at least once.
    Times(u32),
    /// At least once, and again until every job has ended as often as it must.
    #[default]
    UntilAll,
    /// At least once, and again until that job has ended.
    Until(usize),
}

impl<'a> Job<'a> {
    /// A program alone on all GPUs, from time zero on, which runs once.
    #[must_use]
    pub fn alone(workload: &'a dyn Workload, program: Option<&'a Program>) -> Self {
        Self {
            name: String::new(),
            workload,
            program,
            existence: Existence::default(),
            gpus: ProcessorMask::EMPTY,
            start: Time(0),
            repeat: Repeat::UntilAll,
            share: None,
            idle: false,
            memory: SpaceConfig::default(),
        }
    }

    /// One of several programs that share all GPUs equally from time zero on, and repeat until all have ended.
    #[must_use]
    pub fn named(name: &str, workload: &'a dyn Workload) -> Self {
        Self { name: name.to_owned(), ..Self::alone(workload, None) }
    }

    /// Its GPUs on a node, ascending.
    pub(crate) fn gpus(&self, node: &NodeConfig) -> Vec<usize> {
        let own = |gpu: &usize| self.gpus.is_empty() || self.gpus.contains(ProcessorId::gpu(*gpu));
        (0..node.gpus as usize).filter(own).collect()
    }
}

/// Lays several jobs side by side in one address space; a single job has no name and is not moved. Then calls `then`
/// with all of them and each job's whole program. Buffers are as large as a memory system makes them.
pub(crate) fn side_by_side<R>(
    memory: &MemoryConfig,
    jobs: &[Job<'_>],
    then: impl FnOnce(&dyn Workload, &[Option<Program>]) -> R,
) -> R {
    let padded = memory.padding == Padding::Trees;
    let laid_out = |program: &Program| if padded { program.padded() } else { program.clone() };
    let programs: Vec<Option<Program>> = jobs.iter().map(|job| job.program.map(laid_out)).collect();
    let own = |job| padded.then(|| WholeWorkload::padded(job));
    let wholes: Vec<Option<WholeWorkload<'_>>> = jobs
        .iter()
        .zip(&programs)
        .map(|(job, program)| match program {
            Some(program) => Some(WholeWorkload::new(job.workload, program)),
            None => own(job.workload),
        })
        .collect();
    let mut workloads = jobs.iter().zip(&wholes).map(|(job, whole)| match whole {
        Some(whole) => whole as &dyn Workload,
        None => job.workload,
    });
    if let [alone] = jobs
        && alone.name.is_empty()
    {
        return then(workloads.next().unwrap_or(alone.workload), &programs);
    }
    let mix = Mix::new(jobs.iter().map(|job| job.name.clone()).zip(workloads));
    let moved = |(number, program): (usize, &Option<Program>)| {
        let (address, launch) = mix.place(number);
        program.as_ref().map(|program| program.moved(address, launch))
    };
    let programs: Vec<Option<Program>> = programs.iter().enumerate().map(moved).collect();
    then(&mix, &programs)
}

/// The launches, for all jobs of which only the launches run, before which the host waits for the GPUs because it
/// touches buffers in between; empty if that has no effect.
pub(crate) fn synchronisations(
    workload: &dyn Workload,
    programs: &[Option<Program>],
    manager: &Manager,
) -> BTreeSet<u32> {
    if !manager.wants_synchronisations() {
        return BTreeSet::new();
    }
    let alone: Vec<Range<u32>> = workload.applications().into_iter().map(|application| application.launches).collect();
    let only_launches = |launch: &u32| {
        let job = alone.iter().position(|launches| launches.contains(launch));
        job.is_some_and(|job| programs[job].is_none() && alone[job].start < *launch)
    };
    let side = workload.host_side();
    side.exchanges().iter().map(|exchange| exchange.before).filter(only_launches).collect()
}

/// By job: settings for its memory alone, under its name.
pub(crate) fn spaces(jobs: &[Job<'_>]) -> Vec<SpaceConfig> {
    jobs.iter().map(|job| SpaceConfig { name: job.name.clone(), ..job.memory.clone() }).collect()
}

/// Refuses jobs that cannot run together on this node.
pub(crate) fn check_jobs(node: &NodeConfig, jobs: &[Job<'_>]) -> Result<(), SimError> {
    let refuse = |reason: String| Err(SimError::Jobs { reason });
    if jobs.is_empty() {
        return refuse("expected at least one, found none".to_owned());
    }
    for (index, job) in jobs.iter().enumerate() {
        let name = &job.name;
        if jobs[..index].iter().any(|other| other.name == *name) {
            return refuse(format!("two are called `{name}`, expected different names"));
        }
        let beyond = job.gpus.iter().find(|gpu| gpu.gpu_index().is_none_or(|gpu| gpu >= node.gpus as usize));
        if let Some(beyond) = beyond {
            return refuse(format!("`{name}` runs on {beyond}, but the node has {} GPUs", node.gpus));
        }
        match job.repeat {
            Repeat::Times(0) => return refuse(format!("`{name}` runs 0 times, expected at least 1")),
            Repeat::Until(other) if other >= jobs.len() => {
                return refuse(format!("`{name}` runs until job {other}, expected less than {}", jobs.len()));
            }
            Repeat::Until(_) if waits_for_itself(jobs, index) => {
                return refuse(format!("`{name}` runs until itself is over"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether the job that this one runs until runs until this one, perhaps by way of others.
fn waits_for_itself(jobs: &[Job<'_>], index: usize) -> bool {
    let next = |at: usize| match jobs[at].repeat {
        Repeat::Until(other) if other < jobs.len() => Some(other),
        _ => None,
    };
    let mut at = index;
    for _ in 0..jobs.len() {
        match next(at) {
            Some(other) if other == index => return true,
            Some(other) => at = other,
            None => return false,
        }
    }
    false
}

/// By job and GPU: the compute units that it has there, none where it does not run.
pub(crate) fn divide_node(node: &NodeConfig, jobs: &[Job<'_>]) -> Result<Units, SimError> {
    let gpus: Vec<Vec<Range<usize>>> =
        (0..node.gpus as usize).map(|gpu| divide_gpu(node, jobs, gpu)).collect::<Result<_, _>>()?;
    Ok((0..jobs.len()).map(|job| gpus.iter().map(|units| units[job].clone()).collect()).collect())
}

/// By job: its compute units on a GPU.
fn divide_gpu(node: &NodeConfig, jobs: &[Job<'_>], gpu: usize) -> Result<Vec<Range<usize>>, SimError> {
    let here: Vec<usize> = (0..jobs.len()).filter(|&job| jobs[job].gpus(node).contains(&gpu)).collect();
    let shares: Vec<Option<f64>> = here.iter().map(|&job| jobs[job].share).collect();
    let parts = divide_units(node.compute.units, &shares).map_err(|error| {
        let (name, others) = (&jobs[here[error.program()]].name, here.len() - 1);
        SimError::Jobs { reason: format!("`{name}` shares gpu{gpu} with {others} others: {error}") }
    })?;
    let mut units = vec![0..0; jobs.len()];
    here.into_iter().zip(parts).for_each(|(job, part)| units[job] = part);
    Ok(units)
}
