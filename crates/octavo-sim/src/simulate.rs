//! Runs a workload on a node.

use std::io::Write;
use std::ops::ControlFlow;

use octavo_manager::{ConfigError, Manager, MemoryConfig, MemoryUse};
use octavo_node::{NodeConfig, NodeError, TooFewPages};
use octavo_program::{Workload, pages_of};
use octavo_units::Time;

use crate::failure::StrategyFailure;
use crate::gpu::units::occupancy::Lacking;
use crate::machine::node::Node;
use crate::observe::programs::applications_table;
use crate::observe::record::Recorder;
use crate::observe::result::{FrameUse, RunResult, Summary};
use crate::observe::spans::Spans;

/// Events between looks at the progress callback: a few milliseconds of work.
const EVENTS_BETWEEN_REPORTS: u64 = 1 << 16;

/// Events between looks at the clock for the timeline's counters.
const EVENTS_BETWEEN_SAMPLES: u64 = 1 << 8;

/// Simulated time between values of the timeline's counters, unless the tables' interval says otherwise.
const TIMELINE_INTERVAL: Time = Time(1_000_000);

/// Lines are numbered with 32 bits; the last 64th of them is for page tables.
const MAX_BYTES: u64 = (u32::MAX - (u32::MAX >> 6)) as u64 * 64;

/// What a run records and whom it tells about its progress.
#[derive(Default)]
pub struct RunOptions<'a> {
    /// Keep every fault and copy for the `events` table.
    pub record_events: bool,
    /// Simulated time between rows of the `intervals` tables; zero for none.
    pub interval: Time,
    /// Where to write the timeline of the run, as a native Perfetto trace.
    pub timeline: Option<&'a mut dyn Write>,
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

/// Why a run gave no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimError {
    /// The node cannot exist.
    #[error("node: {0}")]
    Node(#[from] NodeError),
    /// The memory system cannot exist.
    #[error("memory: {0}")]
    Memory(#[from] ConfigError),
    /// The GPUs' memory cannot hold what the simulation needs to go on.
    #[error(transparent)]
    Capacity(#[from] TooFewPages),
    /// The workload's address space has more lines than can be numbered.
    #[error("the workload's address space of {bytes} bytes exceeds the {MAX_BYTES} bytes that can be simulated")]
    TooLarge {
        /// Size of the address space.
        bytes: u64,
    },
    /// A work-group has more wavefronts than a compute unit holds.
    #[error(
        "kernel `{kernel}` has work-groups of {wavefronts} wavefronts, but `node.compute` has room for {room} a unit"
    )]
    GroupTooLarge {
        /// Name of the kernel.
        kernel: String,
        /// Wavefronts of a work-group.
        wavefronts: u32,
        /// Wavefronts a compute unit holds.
        room: u32,
    },
    /// A compute unit has too few registers or too little local data share for a work-group.
    #[error("kernel `{kernel}`: a work-group needs {needed} of `{key}`, which is {found}")]
    GroupNeedsMore {
        /// Name of the kernel.
        kernel: String,
        /// Key of what is lacking.
        key: &'static str,
        /// What a work-group needs.
        needed: u64,
        /// What a compute unit has.
        found: u64,
    },
    /// A kernel has work-groups without wavefronts.
    #[error("kernel `{kernel}` has work-groups of 0 wavefronts, expected at least 1")]
    EmptyGroup {
        /// Name of the kernel.
        kernel: String,
    },
    /// There are more programs than compute units.
    #[error("`workload.applications`: {programs} programs share the {units} compute units of a GPU, expected no more")]
    TooManyPrograms {
        /// Programs of the workload.
        programs: usize,
        /// Compute units of a GPU.
        units: u32,
    },
    /// Pages become large, but the node's TLBs have nowhere to keep large translations.
    #[error("`node.{key}.large`: `memory.sizing` makes large pages, but the TLB has no entries for them")]
    NoLargeEntries {
        /// Which TLB.
        key: &'static str,
    },
    /// A GPU's memory is full, and nothing leaves it.
    #[error(
        "out of memory: {application}gpu{gpu} has no room for the page at {address:#x} at {time}, and `memory.eviction` lets nothing leave"
    )]
    OutOfMemory {
        /// The program whose page it is, for messages; empty for a program alone.
        application: String,
        /// Whose memory is full.
        gpu: usize,
        /// First byte of the page that was asked for.
        address: u64,
        /// Simulated time.
        time: Time,
    },
    /// Nothing is left that could happen, but the workload has not ended: a defect of the simulator.
    #[error(
        "the simulation is stuck in launch {launch} at {time} with {waiting} faults open; please report this scenario"
    )]
    Stuck {
        /// The launch that does not end.
        launch: u32,
        /// Simulated time.
        time: Time,
        /// Faults that were never resolved.
        waiting: usize,
    },
    /// The workload could not produce the program's accesses to the end.
    #[error("{reason}")]
    Workload {
        /// What is wrong with it.
        reason: String,
    },
    /// The timeline could not be written.
    #[error("cannot write the timeline: {reason}")]
    Timeline {
        /// What the system says.
        reason: String,
    },
    /// A strategy could no longer decide.
    #[error("{0}")]
    Strategy(Box<StrategyFailure>),
    /// The progress callback asked to stop.
    #[error("interrupted")]
    Interrupted,
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
    let programs = workload.applications().len();
    if programs > node.compute.units as usize {
        return Err(SimError::TooManyPrograms { programs, units: node.compute.units });
    }
    let groups = check_launches(node, workload)?;
    let manager = Manager::new(memory, &node.topology(capacity))?;
    if manager.coalescing().is_some() {
        let tlbs = [("l1_tlb", &node.l1_tlb), ("l2_tlb", &node.l2_tlb)];
        if let Some((key, _)) = tlbs.into_iter().find(|(_, tlb)| tlb.large.is_none()) {
            return Err(SimError::NoLargeEntries { key });
        }
    }
    let recorder = Recorder::new(workload, page_bytes, options.interval.0, options.record_events);
    let spans = options.timeline.take().map(|out| {
        let interval = if options.interval.0 > 0 { options.interval } else { TIMELINE_INTERVAL };
        Box::new(Spans::new(out, node.gpus as usize, page_bytes, interval.0))
    });
    let look_every = if spans.is_some() { EVENTS_BETWEEN_SAMPLES } else { EVENTS_BETWEEN_REPORTS };
    let mut running = Node::new(node, manager, page_bytes, workload, recorder, spans);
    let (mut events, mut next_look) = (0u64, look_every);
    while running.step() {
        events += 1;
        if events < next_look {
            continue;
        }
        next_look += look_every;
        running.hardware.sample_spans(&running.driver);
        if events.is_multiple_of(EVENTS_BETWEEN_REPORTS)
            && let Some(report) = &mut options.progress
            && report(progress(&running, groups)).is_break()
        {
            return Err(SimError::Interrupted);
        }
    }
    if let Some(failure) = running.driver.manager().failure() {
        let failure = StrategyFailure::new(failure, running.hardware.now, page_bytes, workload);
        return Err(SimError::Strategy(Box::new(failure)));
    }
    if let Some(out) = running.driver.manager().out_of_memory() {
        let name = &running.applications[usize::from(out.space.0)].program.name;
        return Err(SimError::OutOfMemory {
            application: if name.is_empty() { String::new() } else { format!("`{name}` on ") },
            gpu: out.processor.gpu_index().unwrap_or_default(),
            address: u64::from(out.page.0) * page_bytes,
            time: Time(running.hardware.now),
        });
    }
    if let Some(reason) = workload.failure() {
        return Err(SimError::Workload { reason });
    }
    if !running.finished {
        return Err(SimError::Stuck {
            launch: running.launches_done,
            time: Time(running.hardware.now),
            waiting: running.driver.outstanding().len(),
        });
    }
    if let Some(spans) = &mut running.hardware.spans {
        spans.finish(running.ended, &running.hardware.links.usage());
        if let Some(reason) = spans.failure() {
            return Err(SimError::Timeline { reason });
        }
    }
    Ok(finish(running, capacity.map(|pages| u64::from(pages) * page_bytes), events))
}

/// Pages each GPU can hold, `None` without a limit.
fn capacity_pages(node: &NodeConfig, page_bytes: u64, workload: &dyn Workload) -> Result<Option<u32>, SimError> {
    let bytes = workload.address_end();
    if bytes > MAX_BYTES {
        return Err(SimError::TooLarge { bytes });
    }
    let footprint = pages_of(workload.buffers(), page_bytes).map(|pages| pages.end - pages.start).sum();
    Ok(node.capacity_pages(page_bytes, footprint)?)
}

/// Checks that every launch's work-groups fit a compute unit; returns the work-groups of all launches.
fn check_launches(node: &NodeConfig, workload: &dyn Workload) -> Result<u64, SimError> {
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

fn progress(node: &Node<'_>, groups: u64) -> Progress {
    Progress {
        launches_done: node.launches_done.min(node.workload.launches()),
        launches: node.workload.launches(),
        time: Time(node.hardware.now),
        lines: node.hardware.accesses.load_lines + node.hardware.accesses.store_lines,
        groups_done: node.groups_done.min(groups),
        groups,
    }
}

fn finish(mut node: Node<'_>, capacity_bytes: Option<u64>, simulated_events: u64) -> RunResult {
    debug_assert_eq!(node.check_agreement(), Ok(()));
    if node.hardware.recorder.interval().is_some() {
        node.hardware.sample(&node.driver);
    }
    let links = node.hardware.links.usage();
    let memory_use = memory_use(&node);
    let summary = Summary {
        time_ps: node.ended,
        launches: node.launches_done,
        footprint_bytes: node.workload.footprint(),
        capacity_bytes,
        accesses: node.hardware.accesses,
        breakdown: node.hardware.breakdown,
        simulated_events,
        manager_state_bytes: node.driver.manager().state_bytes() as u64,
        manager: node.driver.manager().statistics(),
        memory_use,
    };
    let programs = (node.applications.iter().any(|program| !program.program.name.is_empty()))
        .then(|| applications_table(&node.applications));
    let mut tables = node.hardware.recorder.tables(node.workload, &links);
    tables.extend(programs);
    RunResult { summary, tables }
}

fn memory_use(node: &Node<'_>) -> Vec<FrameUse> {
    let manager = node.driver.manager();
    let pages =
        f64::from(manager.coalescing().map_or_else(|| manager.geometry().block_pages(), |coalescing| coalescing.pages));
    let one = |used: &MemoryUse| {
        let room = f64::from(used.large_frames) * pages - f64::from(used.foreign_frames);
        let base = f64::from(used.base_frames);
        FrameUse {
            base_frames: used.base_frames,
            large_frames: used.large_frames,
            foreign_frames: used.foreign_frames,
            large_frames_total: used.large_frames_total,
            bloat: if base > 0.0 { room / base - 1.0 } else { 0.0 },
        }
    };
    node.most_used.iter().flatten().map(one).collect()
}
