//! Runs a workload on a node.

mod begun;
mod check;
mod lines;

use std::io::Write;
use std::ops::ControlFlow;

use octavo_driver::config::{Replay, ServiceModel};
use octavo_manager::{Manager, MemoryConfig};
use octavo_node::NodeConfig;
use octavo_program::{Program, Workload, footprint_pages};
use octavo_units::Time;

pub use self::begun::Progress;
use self::begun::{Begun, Done, EVENTS_BETWEEN_REPORTS};
pub(crate) use self::check::{check_launches, check_programs, check_size};
pub use self::lines::{MemoryLine, TakeLine};
use crate::bound::{MemoryBound, Watch};
use crate::error::SimError;
use crate::gpu::touches::Touched;
use crate::job::{Job, check_jobs, divide_node, side_by_side, spaces, synchronisations};
use crate::machine::jobs::Jobs;
use crate::machine::occurrence::Listen;
use crate::machine::starts::Starts;
use crate::observe::breakdown::Breakdown;
use crate::observe::record::Recorder;
use crate::observe::result::{HostMemoryUse, RunResult};
use crate::observe::spans::Spans;
use crate::observe::waits::FaultWaits;

/// Events between looks at the clock for the timeline's counters.
const EVENTS_BETWEEN_SAMPLES: u64 = 1 << 8;

/// Simulated time between values of the timeline's counters, unless the tables' interval says otherwise.
const TIMELINE_INTERVAL: Time = Time(1_000_000);

/// What a run records and where it reports progress.
#[derive(Default)]
pub struct RunOptions<'a> {
    /// Keep every fault and copy for the `events` table.
    pub record_events: bool,
    /// Count the walks of GPUs by the placement's attributes of their pages, for the `walks` table.
    pub record_walks: bool,
    /// Simulated time between rows of the `intervals` tables; zero for none.
    pub interval: Time,
    /// Where to write the timeline of the run, as a native Perfetto trace.
    pub timeline: Option<&'a mut dyn Write>,
    /// Takes each line that the memory of a GPU reads or writes for its caches, in order of time; copies of whole pages
    /// are none.
    pub lines: Option<&'a mut TakeLine<'a>>,
    /// 0 for the run without variations. Every other number varies what scenarios leave open: when each GPU begins a
    /// launch (up to 1 µs late), and which of equal GPUs and compute units comes first.
    pub replicate: u32,
    /// The longest simulated time that is of interest: a run that is not over by then may end with
    /// [`SimError::OverTime`]. The times of these checks depend only on the run, so that the same run ends the same
    /// way.
    pub time_limit: Option<Time>,
    /// The memory that the run may take; any if there is none. It ends with [`SimError::MemoryMet`] as soon as it has
    /// more, or would need more to write its result.
    pub memory: Option<MemoryBound<'a>>,
    /// Called every few milliseconds; `Break` ends the run with [`SimError::Interrupted`].
    pub progress: Option<&'a mut dyn FnMut(Progress) -> ControlFlow<()>>,
}

/// Runs the launches of `workload` alone on `node` with the memory system `memory`: see [`simulate_jobs`].
///
/// # Errors
/// As for [`simulate_jobs`].
pub fn simulate(
    node: &NodeConfig,
    memory: &MemoryConfig,
    workload: &dyn Workload,
    options: RunOptions<'_>,
) -> Result<RunResult, SimError> {
    simulate_jobs(node, memory, &[Job::alone(workload, None)], options)
}

/// Runs `jobs` on `node` with the memory system `memory`. Jobs of a run have names, except for one alone.
///
/// The same arguments give the same result on every machine.
///
/// # Errors
/// [`SimError`]: nodes, memory systems, jobs and combinations of them that cannot exist.
pub fn simulate_jobs(
    node: &NodeConfig,
    memory: &MemoryConfig,
    jobs: &[Job<'_>],
    options: RunOptions<'_>,
) -> Result<RunResult, SimError> {
    node.validate()?;
    check_jobs(node, jobs)?;
    side_by_side(memory, jobs, |workload, programs| run_jobs(node, memory, jobs, (workload, programs), options))
}

/// Runs jobs that are combined in `workload`; by job, the whole program there.
fn run_jobs(
    node: &NodeConfig,
    memory: &MemoryConfig,
    jobs: &[Job<'_>],
    (workload, programs): (&dyn Workload, &[Option<Program>]),
    options: RunOptions<'_>,
) -> Result<RunResult, SimError> {
    let watch = options.memory.map(Watch::new);
    let page_bytes = memory.decision_size()?.0;
    let footprint = footprint_pages(page_bytes, jobs.iter().map(|job| job.workload));
    let capacity = node.capacity_pages(page_bytes, footprint)?;
    let changes = node.capacity_changes(page_bytes, footprint)?;
    check_size(workload)?;
    check_programs(node, jobs, page_bytes)?;
    let units = divide_node(node, jobs)?;
    let groups = check_launches(node, workload)?;
    let manager = manager(node, memory, (capacity, page_bytes))?.with_spaces(memory, &spaces(jobs))?;
    let mut running = Jobs::new(jobs, units, workload, node, Starts::of(options.replicate));
    running.synchronised = synchronisations(workload, programs, &manager);
    let mut recorder = recorder(&options, workload, page_bytes, node);
    if !changes.is_empty() {
        recorder.keep_capacity(node.gpus as usize, capacity);
    }
    let (time_limit, progress, lines) = (options.time_limit, options.progress, options.lines);
    let begun = Begun {
        node,
        manager,
        page_bytes,
        workload,
        running,
        programs,
        changes,
        groups,
        time_limit,
        watch,
        progress,
        lines,
    };
    let kept = (Breakdown::default(), (recorder, FaultWaits::default()));
    let (done, kept) = listen(begun, kept, (options.timeline, options.interval))?;
    let memories = HostMemoryUse::all(node, done.outcome.driver.manager(), page_bytes);
    let capacity_bytes = capacity.map(|pages| u64::from(pages) * page_bytes);
    Ok(RunResult::of(done.outcome, kept, workload, (capacity_bytes, memories), done.events))
}

/// Data that is recorded for tables.
fn recorder(options: &RunOptions<'_>, workload: &dyn Workload, page_bytes: u64, node: &NodeConfig) -> Recorder {
    let events = options.record_events.then_some(node.gpus as usize);
    let mut recorder = Recorder::new(workload, page_bytes, options.interval.0, events);
    if options.record_walks {
        recorder.keep_walks(workload.address_end().div_ceil(page_bytes) as usize);
    }
    if node.settles().is_none() {
        recorder.keep_stalls(workload);
    }
    if matches!(&node.driver.service, ServiceModel::Batch(batch) if batch.replay == Replay::BatchFlush) {
        recorder.keep_taken();
    }
    recorder
}

/// Runs with the listeners that every run has and the ones chosen for this run. Listeners that were not chosen cost
/// nothing.
fn listen<K: Listen>(
    begun: Begun<'_, '_>,
    kept: K,
    (timeline, interval): (Option<&mut dyn Write>, Time),
) -> Result<(Done, K), SimError> {
    let (gpus, page_bytes) = (begun.node.gpus as usize, begun.page_bytes);
    let interval = if interval.0 > 0 { interval } else { TIMELINE_INTERVAL };
    let pause = if begun.lines.is_some() { EVENTS_BETWEEN_SAMPLES } else { EVENTS_BETWEEN_REPORTS };
    let spans = timeline.map(|out| Box::new(Spans::new(out, gpus, page_bytes, interval.0)));
    let pages = begun.workload.address_end().div_ceil(page_bytes) as usize;
    match (Touched::wanted(&begun.manager, gpus, pages), spans) {
        (None, None) => begun.run(pause, kept),
        (None, Some(spans)) => {
            let (done, (kept, spans)) = begun.run(EVENTS_BETWEEN_SAMPLES, (kept, spans))?;
            Ok((done.finish(Some(spans))?, kept))
        }
        (Some(touched), spans) => {
            let pause = if spans.is_some() { EVENTS_BETWEEN_SAMPLES } else { pause };
            let (done, (kept, (_, spans))) = begun.run(pause, (kept, (touched, spans)))?;
            Ok((done.finish(spans)?, kept))
        }
    }
}

/// The manager of a node whose GPUs hold this many pages each.
fn manager(
    node: &NodeConfig,
    memory: &MemoryConfig,
    (capacity, page_bytes): (Option<u32>, u64),
) -> Result<Manager, SimError> {
    let manager = Manager::new(memory, &node.topology(capacity, page_bytes)?)?;
    manager.check_reserve()?;
    if manager.coalescing().is_some() {
        let tlbs = [("l1_tlb", &node.l1_tlb), ("l2_tlb", &node.l2_tlb)];
        if let Some((key, _)) = tlbs.into_iter().find(|(_, tlb)| tlb.large.is_none()) {
            return Err(SimError::NoLargeEntries { key });
        }
    }
    Ok(manager)
}
