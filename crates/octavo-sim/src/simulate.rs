//! Runs a workload on a node.

use std::io::Write;
use std::ops::ControlFlow;

use octavo_manager::{Kind, Manager, MemoryConfig};
use octavo_node::NodeConfig;
use octavo_program::{Action, Program, WholeWorkload, Workload, pages_of};
use octavo_units::Time;

use crate::error::{MAX_BYTES, SimError, When};
use crate::failure::StrategyFailure;
use crate::gpu::units::occupancy::Lacking;
use crate::machine::happening::Listen;
use crate::machine::node::Node;
use crate::observe::breakdown::Breakdown;
use crate::observe::record::Recorder;
use crate::observe::result::{HostMemoryUse, RunResult};
use crate::observe::spans::Spans;

/// Events between looks at the progress callback: a few milliseconds of work.
const EVENTS_BETWEEN_REPORTS: u64 = 1 << 16;

/// Events between looks at the clock for the timeline's counters.
const EVENTS_BETWEEN_SAMPLES: u64 = 1 << 8;

/// Simulated time between values of the timeline's counters, unless the tables' interval says otherwise.
const TIMELINE_INTERVAL: Time = Time(1_000_000);

/// What a run records and whom it tells about its progress.
#[derive(Default)]
pub struct RunOptions<'a> {
    /// Keep every fault and copy for the `events` table.
    pub record_events: bool,
    /// Simulated time between rows of the `intervals` tables; zero for none.
    pub interval: Time,
    /// Where to write the timeline of the run, as a native Perfetto trace.
    pub timeline: Option<&'a mut dyn Write>,
    /// The whole program that is made of the workload; only the launches run if there is none.
    pub program: Option<&'a Program>,
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

/// Runs `workload` on `node` with the memory system `memory`.
///
/// The same arguments give the same result on every machine.
///
/// # Errors
/// [`SimError`]: nodes, memory systems and combinations of them with the workload that cannot exist.
pub fn simulate(
    node: &NodeConfig,
    memory: &MemoryConfig,
    workload: &dyn Workload,
    mut options: RunOptions<'_>,
) -> Result<RunResult, SimError> {
    node.validate()?;
    let page_bytes = memory.decision_size()?.0;
    let capacity = capacity_pages(node, page_bytes, workload)?;
    let whole = options.program.map(|program| WholeWorkload::new(workload, program));
    let workload = whole.as_ref().map_or(workload, |whole| whole);
    check_size(workload)?;
    if let Some(program) = options.program {
        check_program(node, workload, program)?;
    }
    let programs = workload.applications().len();
    if programs > node.compute.units as usize {
        return Err(SimError::TooManyPrograms { programs, units: node.compute.units });
    }
    let groups = check_launches(node, workload)?;
    let manager = Manager::new(memory, &node.topology(capacity, page_bytes)?)?;
    if manager.coalescing().is_some() {
        let tlbs = [("l1_tlb", &node.l1_tlb), ("l2_tlb", &node.l2_tlb)];
        if let Some((key, _)) = tlbs.into_iter().find(|(_, tlb)| tlb.large.is_none()) {
            return Err(SimError::NoLargeEntries { key });
        }
    }
    let recorder = Recorder::new(workload, page_bytes, options.interval.0, options.record_events);
    let kept = (Breakdown::default(), recorder);
    let capacity_bytes = capacity.map(|pages| u64::from(pages) * page_bytes);
    let Some(out) = options.timeline.take() else {
        let mut running = Node::new(node, manager, page_bytes, (workload, options.program), kept);
        let events = run(&mut running, workload, options.progress, (groups, EVENTS_BETWEEN_REPORTS))?;
        running.check(workload, page_bytes)?;
        let (outcome, kept) = running.end();
        let memories = HostMemoryUse::all(node, outcome.driver.manager(), page_bytes);
        return Ok(RunResult::of(outcome, kept, workload, (capacity_bytes, memories), events));
    };
    let interval = if options.interval.0 > 0 { options.interval } else { TIMELINE_INTERVAL };
    let spans = Box::new(Spans::new(out, node.gpus as usize, page_bytes, interval.0));
    let mut running = Node::new(node, manager, page_bytes, (workload, options.program), (kept, spans));
    let events = run(&mut running, workload, options.progress, (groups, EVENTS_BETWEEN_SAMPLES))?;
    running.check(workload, page_bytes)?;
    let (outcome, (kept, mut spans)) = running.end();
    spans.finish(outcome.ended, &outcome.links);
    let memories = HostMemoryUse::all(node, outcome.driver.manager(), page_bytes);
    match spans.failure() {
        Some(reason) => Err(SimError::Timeline { reason }),
        None => Ok(RunResult::of(outcome, kept, workload, (capacity_bytes, memories), events)),
    }
}

/// Lets a node run to its end, and pauses after every so many events, of which [`EVENTS_BETWEEN_REPORTS`] is a multiple;
/// returns how many there were. `groups`: the work-groups of all launches.
fn run<L: Listen>(
    node: &mut Node<'_, L>,
    workload: &dyn Workload,
    mut progress: Option<&mut dyn FnMut(Progress) -> ControlFlow<()>>,
    (groups, pause_every): (u64, u64),
) -> Result<u64, SimError> {
    let (mut events, mut next_pause) = (0u64, pause_every);
    while node.step() {
        events += 1;
        if events < next_pause {
            continue;
        }
        next_pause += pause_every;
        node.pause();
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
            return Err(SimError::full(self.config(), out.memory, name, address, When::Time(Time(self.now()))));
        }
        if let Some(reason) = workload.failure() {
            return Err(SimError::Workload { reason });
        }
        if !self.is_finished() {
            let (launch, waiting) = (self.launches_done(), self.open_faults());
            return Err(SimError::Stuck { launch, when: When::Time(Time(self.now())), waiting });
        }
        Ok(())
    }
}

/// Pages each GPU can hold, `None` without a limit.
pub(crate) fn capacity_pages(
    node: &NodeConfig,
    page_bytes: u64,
    workload: &dyn Workload,
) -> Result<Option<u32>, SimError> {
    let footprint = pages_of(workload.buffers(), page_bytes).map(|pages| pages.end - pages.start).sum();
    Ok(node.capacity_pages(page_bytes, footprint)?)
}

pub(crate) fn check_size(workload: &dyn Workload) -> Result<(), SimError> {
    let bytes = workload.address_end();
    if bytes > MAX_BYTES { Err(SimError::TooLarge { bytes }) } else { Ok(()) }
}

/// Refuses what a whole program cannot do on this node.
pub(crate) fn check_program(node: &NodeConfig, workload: &dyn Workload, program: &Program) -> Result<(), SimError> {
    let refuse = |reason: String| Err(SimError::Program { reason });
    let programs = workload.applications().len();
    if programs > 1 {
        return refuse(format!("expected one program, found {programs}: mixes run as launches alone"));
    }
    for buffer in program.buffers() {
        if u32::from(buffer.buffer.gpu) > node.gpus {
            let gpu = buffer.buffer.gpu - 1;
            let (name, gpus) = (&buffer.buffer.name, node.gpus);
            return refuse(format!("buffer `{name}` lies on gpu{gpu}, but the node has {gpus} GPUs"));
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
