//! Runs a workload on a node without time.

use std::ops::ControlFlow;

use octavo_manager::{Allocation, Manager, MemoryConfig, MemoryUse, PageId, PageRun, ProcessorId};
use octavo_node::NodeConfig;
use octavo_program::{Program, WholeWorkload, Workload, pages_of};
use octavo_units::Cycles;

use crate::error::{SimError, When};
use crate::failure::StrategyFailure;
use crate::functional::machine::Machine;
use crate::functional::result::{HostLines, InstantResult};
use crate::functional::turns::Turns;
use crate::machine::happening::Listen;
use crate::observe::record::Recorder;
use crate::simulate::{check_launches, check_program, check_size, footprint_pages};

/// How a run without time goes, what it records and whom it tells about its progress.
pub struct InstantOptions<'a> {
    /// Memory instructions that a wavefront makes in its turn, at least 1.
    pub turn: u32,
    /// Line accesses between two periodic reports, for placements that ask for these; `None`: as many as
    /// all GPUs make in a period, if each makes one in 16 cycles.
    pub report_lines: Option<u64>,
    /// Keep every fault and copy for the `events` table.
    pub record_events: bool,
    /// The whole program that is made of the workload; only the launches run if there is none.
    pub program: Option<&'a Program>,
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
    /// The machine does not go on.
    Halted,
}

/// A workload in execution.
pub(super) struct Running<'a, L> {
    pub workload: &'a dyn Workload,
    pub config: &'a NodeConfig,
    pub machine: Machine<L>,
    /// By GPU.
    pub turns: Vec<Turns>,
    pub turn: u32,
    pub launches_done: u32,
    pub groups_done: u64,
    groups: u64,
    pub host: HostLines,
    /// Bytes that the program's own copies moved.
    pub copied_bytes: u64,
    /// By GPU: how its memory was used when it held most at the end of a launch.
    pub most_used: Vec<Option<MemoryUse>>,
    progress: Option<&'a mut dyn FnMut(InstantProgress) -> ControlFlow<()>>,
}

/// Runs `workload` on `node` with the memory system `memory`: every step of a plan at once, and no time.
///
/// The same arguments give the same result on every machine.
///
/// # Errors
/// [`SimError`]: nodes, memory systems and combinations of them with the workload that cannot exist, and mixes.
pub fn run_at_once(
    node: &NodeConfig,
    memory: &MemoryConfig,
    workload: &dyn Workload,
    options: InstantOptions<'_>,
) -> Result<InstantResult, SimError> {
    let page_bytes = memory.decision_size()?.0;
    let (is_whole, events) = (options.program.is_some(), options.record_events);
    let whole = options.program.map(|program| WholeWorkload::new(workload, program));
    let all = whole.as_ref().map_or(workload, |whole| whole);
    // Of what the workload allocates itself, as for the simulated node.
    let capacity = node.capacity_pages(page_bytes, footprint_pages(page_bytes, [workload]))?;
    let recorder = Recorder::new(all, page_bytes, 0, events);
    let progress = options.progress.map(|tell| tell as &mut dyn FnMut(InstantProgress) -> ControlFlow<()>);
    let options = InstantOptions { progress, ..options };
    let running = run(node, memory, (all, capacity), options, recorder)?;
    let capacity_bytes = capacity.map(|pages| u64::from(pages) * page_bytes);
    Ok(InstantResult::of(running, is_whole, capacity_bytes))
}

/// Runs a workload that has all buffers of its program to its end.
pub(super) fn run<'a, L: Listen>(
    node: &'a NodeConfig,
    memory: &MemoryConfig,
    (workload, capacity): (&'a dyn Workload, Option<u32>),
    options: InstantOptions<'a>,
    listeners: L,
) -> Result<Running<'a, L>, SimError> {
    node.validate()?;
    check_size(workload)?;
    if let Some(program) = options.program {
        check_program(node.gpus as usize, program, memory.decision_size()?.0)?;
    }
    let programs = workload.applications().len();
    if programs > 1 {
        let reason = format!("expected one program, found {programs}: how programs share compute units takes time");
        return Err(SimError::Program { reason });
    }
    let groups = check_launches(node, workload)?;
    let (gpus, page_bytes) = (node.gpus as usize, memory.decision_size()?.0);
    let manager = Manager::new(memory, &node.topology(capacity, page_bytes)?)?;
    let mut running = Running {
        workload,
        config: node,
        machine: Machine::new(
            manager,
            (gpus, node.clock.time_for(Cycles(1))),
            page_bytes,
            workload.address_end(),
            &options,
            listeners,
        ),
        turns: (0..gpus).map(Turns::of).collect(),
        turn: options.turn.max(1),
        launches_done: 0,
        groups_done: 0,
        groups,
        host: HostLines::default(),
        copied_bytes: 0,
        most_used: vec![None; gpus],
        progress: options.progress,
    };
    let stopped = match options.program {
        Some(program) => running.whole(program),
        None => running.launches(),
    };
    running.check(stopped)?;
    Ok(running)
}

impl<L: Listen> Running<'_, L> {
    /// Only the launches run: all memory is there, filled by the host.
    fn launches(&mut self) -> Result<(), Stop> {
        let buffers = self.workload.buffers();
        for (buffer, pages) in buffers.iter().zip(pages_of(buffers, self.machine.page_bytes())) {
            if pages.is_empty() {
                continue;
            }
            let run = PageRun { first: PageId(pages.start as u32), count: (pages.end - pages.start) as u32 };
            // A program recorded on more GPUs than the node has may have asked for one that is not there.
            let gpu = usize::from(buffer.gpu).checked_sub(1).filter(|gpu| *gpu < self.machine.gpus);
            self.allocate(Allocation { gpu: gpu.map(ProcessorId::gpu), ..run.into() });
        }
        (0..self.workload.launches()).try_for_each(|launch| self.launch(launch))
    }

    /// Pages come into being.
    pub fn allocate(&mut self, allocation: Allocation) {
        self.machine.tables.entries.allocate(&allocation);
        self.machine.drive(|driver, now, tables| driver.allocate(now, allocation, tables));
    }

    /// Tells how far the run is.
    pub fn report(&mut self) -> Result<(), Stop> {
        let Some(tell) = &mut self.progress else { return Ok(()) };
        let (groups_done, groups) = (self.groups_done, self.groups);
        let progress = InstantProgress { lines: self.machine.tables.lines, groups_done, groups };
        if tell(progress).is_break() { Err(Stop::Interrupted) } else { Ok(()) }
    }

    /// Whether the run has ended as it should.
    fn check(&self, stopped: Result<(), Stop>) -> Result<(), SimError> {
        if stopped == Err(Stop::Interrupted) {
            return Err(SimError::Interrupted);
        }
        let (manager, when) = (self.machine.driver.manager(), When::Lines(self.machine.tables.lines));
        let page_bytes = self.machine.page_bytes();
        if let Some(failure) = manager.failure() {
            let failure = StrategyFailure::new(failure, when, page_bytes, self.workload);
            return Err(SimError::Strategy(Box::new(failure)));
        }
        if let Some(out) = manager.out_of_memory() {
            let address = u64::from(out.page.0) * page_bytes;
            return Err(SimError::full(self.config, out.memory, "", address, when));
        }
        if let Some(reason) = self.workload.failure() {
            return Err(SimError::Workload { reason });
        }
        if let Some(starving) = manager.starving().filter(|_| stopped.is_err()) {
            let address = u64::from(starving.out.page.0) * page_bytes;
            return Err(SimError::starving(self.config, starving, "", address, when));
        }
        if stopped.is_err() {
            let waiting = self.machine.driver.outstanding().len();
            return Err(SimError::Stuck { launch: self.launches_done, when, waiting });
        }
        debug_assert_eq!(self.machine.check_agreement(self.workload.buffers()), Ok(()));
        Ok(())
    }
}
