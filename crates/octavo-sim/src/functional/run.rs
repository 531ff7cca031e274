//! Runs jobs on a node without time.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use octavo_manager::{Manager, MemoryConfig, MemoryUse};
use octavo_node::NodeConfig;
use octavo_program::{Program, Workload};
use octavo_units::{Cycles, Time};

use crate::bound::{MemoryBound, MemoryMet, Met, Watch};
use crate::error::{SimError, When};
use crate::failure::StrategyFailure;
use crate::functional::job::Running;
use crate::functional::machine::Machine;
use crate::functional::result::{HostLines, InstantResult};
use crate::functional::ring::Ring;
use crate::gpu::touched::Touched;
use crate::job::{Job, check_jobs, divide_node, side_by_side, spaces, synchronisations};
use crate::machine::happening::Listen;
use crate::observe::record::Recorder;
use crate::rounds::Rounds;
use crate::simulate::{check_launches, check_programs, check_size, footprint_pages};

/// How a run without time goes, what it records and where it reports progress.
pub struct InstantOptions<'a> {
    /// Memory instructions that a wavefront makes in its turn, at least 1.
    pub turn: u32,
    /// Line accesses between two periodic reports, for placements that ask for these; `None`: as many as
    /// all GPUs make in a period, if each makes one in 16 cycles.
    pub report_lines: Option<u64>,
    /// Keep every fault and copy for the `events` table.
    pub record_events: bool,
    /// The memory that the run may take; any if there is none. It ends with [`SimError::MemoryMet`] as soon as it has
    /// more, or would need more to write its result.
    pub memory: Option<MemoryBound<'a>>,
    /// Called every few milliseconds; `Break` ends the run with [`SimError::Interrupted`].
    pub progress: Option<&'a mut dyn FnMut(InstantProgress) -> ControlFlow<()>>,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstantProgress {
    /// Line accesses made.
    pub lines: u64,
    /// Work-groups of all launches that have ended.
    pub groups_done: u64,
    /// Work-groups of all launches.
    pub groups: u64,
}

/// Why a run ends before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The progress callback asked for it.
    Interrupted,
    /// It took more memory than it may.
    Full(Met),
    /// The machine does not go on.
    Halted,
}

/// A run in execution.
pub(super) struct Run<'a, L> {
    pub workload: &'a dyn Workload,
    pub config: &'a NodeConfig,
    pub machine: Machine<L>,
    pub jobs: Vec<Running<'a>>,
    pub rounds: Rounds,
    /// By GPU.
    pub rings: Vec<Ring>,
    pub turn: u32,
    pub launches_done: u32,
    pub groups_done: u64,
    groups: u64,
    pub host: HostLines,
    /// Bytes that the programs' own copies moved.
    pub copied_bytes: u64,
    /// Launches before which the host waits for the GPUs.
    pub synchronised: BTreeSet<u32>,
    /// By GPU: how its memory was used when it held most at the end of a launch.
    pub most_used: Vec<Option<MemoryUse>>,
    watch: Option<Watch<'a>>,
    progress: Option<&'a mut dyn FnMut(InstantProgress) -> ControlFlow<()>>,
}

/// Runs the launches of `workload` alone on `node` with the memory system `memory`: see [`run_jobs_at_once`].
///
/// # Errors
/// As [`run_jobs_at_once`].
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

/// Jobs that lie beside one another in a workload, about to begin.
pub(super) struct Begun<'a> {
    node: &'a NodeConfig,
    page_bytes: u64,
    manager: Manager,
    workload: &'a dyn Workload,
    jobs: Vec<Running<'a>>,
    rounds: Rounds,
    /// Launches before which the host waits for the GPUs.
    synchronised: BTreeSet<u32>,
    /// Work-groups of all launches.
    groups: u64,
}

impl<'a> Begun<'a> {
    /// By job, the whole program there; `capacity`: pages of each GPU.
    pub fn new(
        node: &'a NodeConfig,
        memory: &MemoryConfig,
        (jobs, workload, programs): (&[Job<'_>], &'a dyn Workload, &'a [Option<Program>]),
        capacity: Option<u32>,
    ) -> Result<Self, SimError> {
        let page_bytes = memory.decision_size()?.0;
        check_size(workload)?;
        check_programs(node, jobs, page_bytes)?;
        let units = divide_node(node, jobs)?;
        let groups = check_launches(node, workload)?;
        let manager = Manager::new(memory, &node.topology(capacity, page_bytes)?)?;
        manager.check_reserve()?;
        let manager = manager.with_spaces(memory, &spaces(jobs))?;
        let rounds = Rounds::new(jobs);
        let jobs = Running::all(jobs, units, (workload, programs), node);
        let synchronised = synchronisations(workload, programs, &manager);
        Ok(Self { node, page_bytes, manager, workload, jobs, rounds, synchronised, groups })
    }

    /// Runs them to their end.
    pub fn run<L: Listen>(self, options: InstantOptions<'a>, listeners: L) -> Result<Run<'a, L>, SimError> {
        let Self { node, page_bytes, manager, workload, jobs, rounds, synchronised, groups } = self;
        let watch = options.memory.map(Watch::new);
        let gpus = node.gpus as usize;
        let cycle = node.clock.time_for(Cycles(1));
        let address_end = workload.address_end();
        let mut run = Run {
            workload,
            config: node,
            machine: Machine::new(manager, (gpus, cycle), page_bytes, address_end, &options, listeners),
            rings: (0..gpus).map(|gpu| Ring::new(gpu, &jobs)).collect(),
            jobs,
            rounds,
            turn: options.turn.max(1),
            launches_done: 0,
            groups_done: 0,
            groups,
            host: HostLines::default(),
            copied_bytes: 0,
            synchronised,
            most_used: vec![None; gpus],
            watch,
            progress: options.progress,
        };
        let stopped = run.all().and_then(|()| run.check_memory());
        run.check(stopped)?;
        Ok(run)
    }
}

impl<L: Listen> Run<'_, L> {
    /// Whether the run is still within its memory, and would be if it ended now.
    fn check_memory(&self) -> Result<(), Stop> {
        let met = self.watch.and_then(|watch| watch.met(self.machine.tables.listeners.recorded()));
        met.map_or(Ok(()), |met| Err(Stop::Full(met)))
    }

    /// Tells how far the run is, and looks at its memory.
    pub fn report(&mut self) -> Result<(), Stop> {
        self.check_memory()?;
        let Some(tell) = &mut self.progress else { return Ok(()) };
        let (groups_done, groups) = (self.groups_done.min(self.groups), self.groups);
        let progress = InstantProgress { lines: self.machine.tables.lines, groups_done, groups };
        if tell(progress).is_break() { Err(Stop::Interrupted) } else { Ok(()) }
    }

    /// Whether the run has ended as it should.
    fn check(&self, stopped: Result<(), Stop>) -> Result<(), SimError> {
        if stopped == Err(Stop::Interrupted) {
            return Err(SimError::Interrupted);
        }
        let (manager, when) = (self.machine.driver.manager(), When::Lines(self.machine.tables.lines));
        if let Err(Stop::Full(met)) = stopped {
            let launches = (self.launches_done.min(self.workload.launches()), self.workload.launches());
            return Err(SimError::MemoryMet(Box::new(MemoryMet::new(met, when, launches))));
        }
        let page_bytes = self.machine.page_bytes();
        if let Some(failure) = manager.failure() {
            let failure = StrategyFailure::new(failure, when, page_bytes, self.workload);
            return Err(SimError::Strategy(Box::new(failure)));
        }
        if let Some(out) = manager.out_of_memory() {
            let (name, address) = (self.jobs[usize::from(out.space.0)].name(), u64::from(out.page.0) * page_bytes);
            let full = SimError::full(self.config, out.memory, name, address, when);
            return Err(full.because(manager, out));
        }
        if let Some(reason) = self.workload.failure() {
            return Err(SimError::Workload { reason });
        }
        if let Some(starving) = manager.starving().filter(|_| stopped.is_err()) {
            let out = starving.out;
            let (name, address) = (self.jobs[usize::from(out.space.0)].name(), u64::from(out.page.0) * page_bytes);
            let full = SimError::starving(self.config, starving, name, address, when);
            return Err(full.because(manager, out));
        }
        if stopped.is_err() {
            let waiting = self.machine.driver.outstanding().len();
            return Err(SimError::Stuck { launch: self.launches_done, when, waiting });
        }
        debug_assert_eq!(self.machine.check_agreement(self.workload.buffers()), Ok(()));
        Ok(())
    }
}
