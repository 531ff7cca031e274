//! Runs a workload on a node.

use std::io::Write;
use std::ops::ControlFlow;

use octavo_manager::{Kind, MAX_PROCESSORS, Manager, MemoryConfig, ProcessorId};
use octavo_node::{CapacityAt, NodeConfig};
use octavo_program::{Action, Program, Workload, pages_of};
use octavo_units::Time;

use crate::error::{MAX_BYTES, MAX_TIME, SimError, When};
use crate::failure::StrategyFailure;
use crate::gpu::touched::Touched;
use crate::gpu::units::occupancy::Lacking;
use crate::job::{Job, check_jobs, divide_node, side_by_side, spaces};
use crate::machine::happening::Listen;
use crate::machine::jobs::Jobs;
use crate::machine::node::Node;
use crate::machine::outcome::Outcome;
use crate::machine::starts::Starts;
use crate::observe::breakdown::Breakdown;
use crate::observe::record::Recorder;
use crate::observe::result::{HostMemoryUse, RunResult};
use crate::observe::spans::Spans;
use crate::observe::waits::FaultWaits;

/// Events between looks at the progress callback: a few milliseconds of work.
const EVENTS_BETWEEN_REPORTS: u64 = 1 << 16;

/// Events between looks at the clock for the timeline's counters.
const EVENTS_BETWEEN_SAMPLES: u64 = 1 << 8;

/// Simulated time between values of the timeline's counters, unless the tables' interval says otherwise.
const TIMELINE_INTERVAL: Time = Time(1_000_000);

/// What a run records and where it reports progress.
#[derive(Default)]
pub struct RunOptions<'a> {
    /// Keep every fault and copy for the `events` table.
    pub record_events: bool,
    /// Count the walks of GPUs by what the placement keeps about their pages, for the `walks` table.
    pub record_walks: bool,
    /// Simulated time between rows of the `intervals` tables; zero for none.
    pub interval: Time,
    /// Where to write the timeline of the run, as a native Perfetto trace.
    pub timeline: Option<&'a mut dyn Write>,
    /// 0 for the run as it is; each other number for one in which what no scenario says happens otherwise: when each GPU
    /// begins a launch (up to 1 µs late), and which of equal GPUs and compute units comes first.
    pub replicate: u32,
    /// The longest simulated time that is of interest: a run that is not over by then may end with
    /// [`SimError::OverTime`]. When that is looked at depends on the run alone, so that the same run ends the same way.
    pub time_limit: Option<Time>,
    /// Called every few milliseconds; `Break` ends the run with [`SimError::Interrupted`].
    pub progress: Option<&'a mut dyn FnMut(Progress) -> ControlFlow<()>>,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Launches that have ended.
    pub launches_done: u32,
    /// All launches.
    pub launches: u32,
    /// Simulated time.
    pub time: Time,
    /// Line accesses issued.
    pub lines: u64,
    /// Work-groups of all launches that have ended.
    pub groups_done: u64,
    /// Work-groups of all launches.
    pub groups: u64,
}

/// Runs the launches of `workload` alone on `node` with the memory system `memory`: see [`simulate_jobs`].
///
/// # Errors
/// As [`simulate_jobs`].
pub fn simulate(
    node: &NodeConfig,
    memory: &MemoryConfig,
    workload: &dyn Workload,
    options: RunOptions<'_>,
) -> Result<RunResult, SimError> {
    simulate_jobs(node, memory, &[Job::alone(workload, None)], options)
}

/// Runs `jobs` on `node` with the memory system `memory`. Jobs of a run have names, but for one alone.
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
    side_by_side(jobs, |workload, programs| run_jobs(node, memory, jobs, (workload, programs), options))
}

/// Runs jobs that lie beside one another in `workload`; by job, the whole program there.
fn run_jobs(
    node: &NodeConfig,
    memory: &MemoryConfig,
    jobs: &[Job<'_>],
    (workload, programs): (&dyn Workload, &[Option<Program>]),
    options: RunOptions<'_>,
) -> Result<RunResult, SimError> {
    let page_bytes = memory.decision_size()?.0;
    let footprint = footprint_pages(page_bytes, jobs.iter().map(|job| job.workload));
    let capacity = node.capacity_pages(page_bytes, footprint)?;
    let changes = node.capacity_changes(page_bytes, footprint)?;
    check_size(workload)?;
    check_programs(node, jobs, page_bytes)?;
    let units = divide_node(node, jobs)?;
    let groups = check_launches(node, workload)?;
    let manager = manager(node, memory, (capacity, page_bytes))?.with_spaces(memory, &spaces(jobs))?;
    let running = Jobs::new(jobs, units, workload, node, Starts::of(options.replicate));
    let mut recorder = Recorder::new(workload, page_bytes, options.interval.0, options.record_events);
    if !changes.is_empty() {
        recorder.keep_capacity(node.gpus as usize, capacity);
    }
    let pages = workload.address_end().div_ceil(page_bytes) as usize;
    if options.record_walks {
        recorder.keep_walks(pages);
    }
    let kept = (Breakdown::default(), (recorder, FaultWaits::default()));
    let capacity_bytes = capacity.map(|pages| u64::from(pages) * page_bytes);
    let interval = if options.interval.0 > 0 { options.interval } else { TIMELINE_INTERVAL };
    let spans = |out| Box::new(Spans::new(out, node.gpus as usize, page_bytes, interval.0));
    let touched = manager.wants_accesses().then(|| Touched::new(node.gpus as usize, pages));
    let begun = Begun {
        node,
        manager,
        page_bytes,
        workload,
        running,
        programs,
        changes,
        groups,
        time_limit: options.time_limit,
        progress: options.progress,
    };
    let (done, kept) = match (touched, options.timeline.map(spans)) {
        (None, None) => begun.run(EVENTS_BETWEEN_REPORTS, kept)?,
        (None, Some(spans)) => {
            let (done, (kept, spans)) = begun.run(EVENTS_BETWEEN_SAMPLES, (kept, spans))?;
            (done.finish(Some(spans))?, kept)
        }
        (Some(touched), spans) => {
            let pause = if spans.is_some() { EVENTS_BETWEEN_SAMPLES } else { EVENTS_BETWEEN_REPORTS };
            let (done, (kept, (_, spans))) = begun.run(pause, (kept, (touched, spans)))?;
            (done.finish(spans)?, kept)
        }
    };
    let memories = HostMemoryUse::all(node, done.outcome.driver.manager(), page_bytes);
    Ok(RunResult::of(done.outcome, kept, workload, (capacity_bytes, memories), done.events))
}

/// A run that is about to begin.
struct Begun<'a, 'p> {
    node: &'a NodeConfig,
    manager: Manager,
    page_bytes: u64,
    workload: &'a dyn Workload,
    running: Jobs,
    programs: &'a [Option<Program>],
    changes: Vec<CapacityAt>,
    /// The work-groups of all launches.
    groups: u64,
    time_limit: Option<Time>,
    progress: Option<&'p mut dyn FnMut(Progress) -> ControlFlow<()>>,
}

/// A run that has ended as it should.
struct Done {
    outcome: Outcome,
    /// How many happened.
    events: u64,
}

impl Begun<'_, '_> {
    /// Runs to the end, pausing after this many events.
    fn run<L: Listen>(self, pause_every: u64, listeners: L) -> Result<(Done, L), SimError> {
        let Self { node, manager, page_bytes, workload, running, programs, changes, .. } = self;
        let mut running = Node::new(node, manager, page_bytes, (workload, running, programs), changes, listeners);
        let pauses = (self.time_limit, pause_every);
        let events = run(&mut running, workload, self.progress, (self.groups, pauses))?;
        running.check(workload, page_bytes)?;
        let (outcome, listeners) = running.end();
        Ok((Done { outcome, events }, listeners))
    }
}

impl Done {
    /// The timeline, if there is one, is whole.
    fn finish(self, spans: Option<Box<Spans<'_>>>) -> Result<Self, SimError> {
        let Some(mut spans) = spans else { return Ok(self) };
        spans.finish(self.outcome.ended, &self.outcome.links);
        match spans.failure() {
            Some(reason) => Err(SimError::Timeline { reason }),
            None => Ok(self),
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

/// Lets a node run to its end, and pauses after every so many events, of which [`EVENTS_BETWEEN_REPORTS`] is a multiple;
/// returns how many there were. `groups`: the work-groups of all launches.
fn run<L: Listen>(
    node: &mut Node<'_, L>,
    workload: &dyn Workload,
    mut progress: Option<&mut dyn FnMut(Progress) -> ControlFlow<()>>,
    (groups, (limit, pause_every)): (u64, (Option<Time>, u64)),
) -> Result<u64, SimError> {
    let (mut events, mut next_pause) = (0u64, pause_every);
    while node.step() {
        events += 1;
        if events < next_pause {
            continue;
        }
        next_pause += pause_every;
        node.pause();
        if node.now() > MAX_TIME.0 {
            return Err(SimError::TooLong { limit: MAX_TIME });
        }
        if let Some(limit) = limit
            && node.now() > limit.0
            && !node.is_finished()
        {
            return Err(SimError::OverTime { limit });
        }
        if events.is_multiple_of(EVENTS_BETWEEN_REPORTS)
            && let Some(report) = &mut progress
            && report(how_far(node, workload, groups)).is_break()
        {
            return Err(SimError::Interrupted);
        }
    }
    Ok(events)
}

impl<L: Listen> Node<'_, L> {
    /// Whether the run has ended as it should.
    fn check(&self, workload: &dyn Workload, page_bytes: u64) -> Result<(), SimError> {
        if let Some(failure) = self.manager().failure() {
            let failure = StrategyFailure::new(failure, When::Time(Time(self.now())), page_bytes, workload);
            return Err(SimError::Strategy(Box::new(failure)));
        }
        if let Some(out) = self.manager().out_of_memory() {
            let address = u64::from(out.page.0) * page_bytes;
            let name = self.program_name(out.space.0.into());
            let full = SimError::full(self.config(), out.memory, name, address, When::Time(Time(self.now())));
            return Err(full.within(self.manager().bound(out.page)));
        }
        if let Some(reason) = workload.failure() {
            return Err(SimError::Workload { reason });
        }
        if let Some(starving) = self.manager().starving().filter(|_| !self.is_finished()) {
            let address = u64::from(starving.out.page.0) * page_bytes;
            let name = self.program_name(starving.out.space.0.into());
            let full = SimError::starving(self.config(), starving, name, address, When::Time(Time(self.now())));
            return Err(full.within(self.manager().bound(starving.out.page)));
        }
        if !self.is_finished() {
            let (launch, waiting) = (self.launches_done(), self.open_faults());
            return Err(SimError::Stuck { launch, when: When::Time(Time(self.now())), waiting });
        }
        Ok(())
    }
}

/// Pages of all these workloads.
pub(crate) fn footprint_pages<'a>(page_bytes: u64, workloads: impl IntoIterator<Item = &'a dyn Workload>) -> u64 {
    let pages = |workload: &dyn Workload| -> u64 {
        pages_of(workload.buffers(), page_bytes).map(|pages| pages.end - pages.start).sum()
    };
    workloads.into_iter().map(pages).sum()
}

pub(crate) fn check_size(workload: &dyn Workload) -> Result<(), SimError> {
    let bytes = workload.address_end();
    if bytes > MAX_BYTES { Err(SimError::TooLarge { bytes }) } else { Ok(()) }
}

/// Refuses what whole programs cannot do on the GPUs of their jobs.
pub(crate) fn check_programs(node: &NodeConfig, jobs: &[Job<'_>], page_bytes: u64) -> Result<(), SimError> {
    let mut wholes = jobs.iter().filter_map(|job| Some((job, job.program?)));
    wholes.try_for_each(|(job, program)| check_program(job.gpus(node).len(), program, page_bytes))
}

/// Refuses what a whole program cannot do on this many GPUs.
fn check_program(gpus: usize, program: &Program, page_bytes: u64) -> Result<(), SimError> {
    let refuse = |reason: String| Err(SimError::Program { reason });
    for buffer in program.buffers() {
        if usize::from(buffer.buffer.gpu) > gpus {
            let (name, gpu) = (&buffer.buffer.name, buffer.buffer.gpu - 1);
            return refuse(format!("buffer `{name}` lies on gpu{gpu} of the program, which has {gpus} GPUs"));
        }
    }
    if let Some(reason) = shared_page(program, page_bytes) {
        return refuse(reason);
    }
    let absent = (gpus..MAX_PROCESSORS - 1).map(ProcessorId::gpu);
    for ordered in program.actions() {
        if let Some(gpu) = absent.clone().find(|gpu| names(&ordered.action, *gpu)) {
            let what = ordered.action.name();
            return refuse(format!("an action ({what}) names {gpu}, but there are {gpus} GPUs"));
        }
    }
    let device = |buffer: octavo_program::BufferId| program.buffers()[buffer.index()].kind == Kind::Device;
    for ordered in program.actions() {
        if let Action::Copy { from, to } = &ordered.action
            && device(from.buffer)
            && device(to.buffer)
        {
            let name = &program.buffers()[to.buffer.index()].buffer.name;
            return refuse(format!("the copy to `{name}` is between GPUs, which is not simulated"));
        }
    }
    Ok(())
}

/// Whether an action says something of a processor.
fn names(action: &Action, processor: ProcessorId) -> bool {
    match action {
        Action::Prefetch { to, .. } => *to == processor,
        Action::Advise { advice, .. } => {
            advice.preferred == Some(processor.memory()) || advice.accessed_by.contains(processor)
        }
        _ => false,
    }
}

/// Two buffers that have parts of one page, of which each page would have to be of both kinds.
fn shared_page(program: &Program, page_bytes: u64) -> Option<String> {
    let shared = program.buffers().windows(2).find(|pair| {
        let [before, next] = [&pair[0].buffer, &pair[1].buffer];
        (before.base + before.bytes).div_ceil(page_bytes) > next.base / page_bytes
    });
    shared.map(|pair| {
        let [before, next] = [&pair[0].buffer.name, &pair[1].buffer.name];
        format!("`{before}` and `{next}` share a page of {page_bytes} bytes; smaller pages would keep them apart")
    })
}

/// Checks that every launch's work-groups fit a compute unit; returns the work-groups of all launches.
pub(crate) fn check_launches(node: &NodeConfig, workload: &dyn Workload) -> Result<u64, SimError> {
    let room = node.compute.simds_per_unit * node.compute.wavefronts_per_simd;
    let mut groups = 0;
    for index in 0..workload.launches() {
        let launch = workload.launch(index);
        if launch.wavefronts_per_group == 0 {
            return Err(SimError::EmptyGroup { kernel: launch.kernel.into_owned() });
        }
        if launch.wavefronts_per_group > room {
            let (kernel, wavefronts) = (launch.kernel.into_owned(), launch.wavefronts_per_group);
            return Err(SimError::GroupTooLarge { kernel, wavefronts, room });
        }
        if let Some(lacking) = Lacking::of(&node.compute, workload.resources(index), launch.wavefronts_per_group) {
            let Lacking { key, needed, found } = lacking;
            return Err(SimError::GroupNeedsMore { kernel: launch.kernel.into_owned(), key, needed, found });
        }
        groups += u64::from(launch.work_groups);
    }
    Ok(groups)
}

fn how_far<L: Listen>(node: &Node<'_, L>, workload: &dyn Workload, groups: u64) -> Progress {
    Progress {
        launches_done: node.launches_done().min(workload.launches()),
        launches: workload.launches(),
        time: Time(node.now()),
        lines: node.lines(),
        groups_done: node.groups_done().min(groups),
        groups,
    }
}
