//! A run without time, from its beginning to its end.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use octavo_manager::{Manager, MemoryConfig, MemoryUse};
use octavo_node::NodeConfig;
use octavo_program::{Program, Workload};
use octavo_units::Cycles;

use crate::bound::{MemoryMet, Met, Watch};
use crate::error::SimError;
use crate::failure::StrategyFailure;
use crate::functional::counts::HostLines;
use crate::functional::job::Running;
use crate::functional::machine::Machine;
use crate::functional::options::{InstantOptions, InstantProgress};
use crate::functional::ring::Ring;
use crate::job::{Job, divide_node, spaces, synchronisations};
use crate::machine::occurrence::Listen;
use crate::moment::When;
use crate::rounds::Rounds;
use crate::simulate::{check_launches, check_programs, check_size};

/// Why a run ends before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The progress callback asked for it.
    Interrupted,
    /// It took more memory than it may.
    Full(Met),
    /// The machine does not progress.
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
    /// By GPU: the use of its memory at the end of the launch with the highest use.
    pub most_used: Vec<Option<MemoryUse>>,
    watch: Option<Watch<'a>>,
    progress: Option<&'a mut dyn FnMut(InstantProgress) -> ControlFlow<()>>,
}

/// Jobs combined in a workload, about to begin.
pub(super) struct Begun<'a> {
    node: &'a NodeConfig,
    page_bytes: u64,
    pub manager: Manager,
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
