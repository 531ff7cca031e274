//! Runs jobs on a node without time.

use std::ops::ControlFlow;

use octavo_manager::MemoryConfig;
use octavo_node::NodeConfig;
use octavo_program::{Workload, footprint_pages};
use octavo_units::Time;

use crate::error::SimError;
use crate::functional::options::{InstantOptions, InstantProgress};
use crate::functional::result::InstantResult;
use crate::functional::run::Begun;
use crate::gpu::touches::Touched;
use crate::job::{Job, check_jobs, side_by_side};
use crate::observe::record::Recorder;

/// Runs the launches of `workload` alone on `node` with the memory system `memory`: see [`run_jobs_at_once`].
///
/// # Errors
/// As for [`run_jobs_at_once`].
pub fn run_at_once(
    node: &NodeConfig,
    memory: &MemoryConfig,
    workload: &dyn Workload,
    options: InstantOptions<'_>,
) -> Result<InstantResult, SimError> {
    run_jobs_at_once(node, memory, &[Job::alone(workload, None)], options)
}

/// Runs `jobs` on `node` with the memory system `memory`: every step of a plan at once, and no time. Jobs of a run have
/// names, except for one alone.
///
/// The same arguments give the same result on every machine.
///
/// # Errors
/// [`SimError`]: nodes, memory systems, jobs and combinations of them that cannot exist, and jobs that begin at a time.
pub fn run_jobs_at_once(
    node: &NodeConfig,
    memory: &MemoryConfig,
    jobs: &[Job<'_>],
    options: InstantOptions<'_>,
) -> Result<InstantResult, SimError> {
    node.validate()?;
    check_jobs(node, jobs)?;
    if let Some(late) = jobs.iter().find(|job| job.start > Time::ZERO) {
        let reason = format!("`{}` begins at {}, but there is no time: expected 0ns", late.name, late.start);
        return Err(SimError::Jobs { reason });
    }
    let page_bytes = memory.decision_size()?.0;
    let is_whole = jobs.iter().any(|job| job.program.is_some());
    // Of what the workloads allocate themselves, as for the simulated node.
    let capacity = node.capacity_pages(page_bytes, footprint_pages(page_bytes, jobs.iter().map(|job| job.workload)))?;
    let capacity_bytes = capacity.map(|pages| u64::from(pages) * page_bytes);
    side_by_side(memory, jobs, |workload, programs| {
        let progress = options.progress.map(|tell| tell as &mut dyn FnMut(InstantProgress) -> ControlFlow<()>);
        let recorder = Recorder::new(workload, page_bytes, 0, options.record_events.then_some(node.gpus as usize));
        let options = InstantOptions { progress, ..options };
        let begun = Begun::new(node, memory, (jobs, workload, programs), capacity)?;
        let pages = workload.address_end().div_ceil(page_bytes) as usize;
        let Some(touched) = Touched::wanted(&begun.manager, node.gpus as usize, pages) else {
            return Ok(InstantResult::of(begun.run(options, recorder)?, is_whole, capacity_bytes));
        };
        Ok(InstantResult::of(begun.run(options, (recorder, touched))?, is_whole, capacity_bytes))
    })
}
