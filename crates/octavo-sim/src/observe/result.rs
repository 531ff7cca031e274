//! The output of a run.

use octavo_manager::{HOST_MEMORY, Manager, MemoryId, MemoryUse, Statistics};
use octavo_node::{Fidelity, FurtherMemoryKind, NodeConfig};
use octavo_program::Workload;
use octavo_units::Bytes;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cpu::cores::HostAccesses;
use crate::gpu::counts::Accesses;
use crate::machine::outcome::Outcome;
use crate::observe::breakdown::Breakdown;
use crate::observe::jobs::JobSummary;
use crate::observe::phases::Phases;
use crate::observe::record::Recorder;
use crate::observe::table::Table;
use crate::observe::waits::FaultWaits;

/// A run's results: one summary and the tables that reports are made of.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    /// Totals.
    pub summary: Summary,
    /// `allocations`, `page_groups`, `links`, `intervals`, `kernels`, `phases` of whole programs, `events` when
    /// recorded, `jobs` of runs whose jobs have names, and `fault_waits` of runs with faults.
    pub tables: Vec<Table>,
}

/// Totals of a run. Times are picoseconds of simulated time.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    /// How closely accesses to GPUs' own memory were followed; not listed if line by line.
    #[serde(skip_serializing_if = "Fidelity::is_line")]
    pub fidelity: Fidelity,
    /// From time zero to the end of the last kernel; for a whole program, to the end of its last action; for several
    /// jobs, until each has run as often as it must.
    pub time_ps: u64,
    /// Kernel launches.
    pub launches: u32,
    /// Sum of the allocations' sizes in bytes.
    pub footprint_bytes: u64,
    /// Memory of each GPU available to the workload, in bytes (`None`: no limit).
    pub capacity_bytes: Option<u64>,
    /// What the wavefronts did.
    pub accesses: Accesses,
    /// The causes of the accesses' time.
    pub breakdown: Breakdown,
    /// Events the simulation processed (for speed, not part of the modelled node).
    pub simulated_events: u64,
    /// Bytes of the manager's state at the end.
    pub manager_state_bytes: u64,
    /// The work of the memory manager.
    pub manager: Statistics,
    /// Batches in which the driver served faults and notifications; 0 if it serves them one by one.
    pub batches: u64,
    /// Plans that the end of the run cut off: no access waited for them any more. Not listed if there are none.
    #[serde(skip_serializing_if = "crate::gpu::counts::is_zero")]
    pub plans_cut_short: u64,
    /// The use of each GPU's memory at the end of the program with the highest use, if frames are tracked; empty
    /// otherwise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub memory_use: Vec<FrameUse>,
    /// The host's memories, if it has more than one: then pages fill one after another.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub host_memories: Vec<HostMemoryUse>,
    /// The durations of a whole program's phases; `None` if only its launches ran, and for jobs, which have their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phases: Option<Phases>,
    /// The work of the host's cores in a whole program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<HostAccesses>,
    /// The work of each job; empty for a single program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobSummary>,
}

/// The use of a memory, in frames.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FrameUse {
    /// Base frames that hold pages of programs.
    pub base_frames: u32,
    /// Large frames with any page of a program in them.
    pub large_frames: u32,
    /// Base frames of those large frames that hold foreign data.
    pub foreign_frames: u32,
    /// Base frames with pages that are translated as large ones.
    pub coalesced_frames: u32,
    /// Large frames of the memory; `None` without a limit.
    pub large_frames_total: Option<u32>,
    /// Memory bloat: the additional bytes that those large frames could hold for programs, as a share of the bytes that
    /// they do hold.
    pub bloat: f64,
}

/// One of several memories of the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HostMemoryUse {
    /// Its name in tables: `host`, `host1` and so on, the nearest to the cores first.
    pub memory: String,
    /// Its name in the scenario; the first has no other name.
    pub name: String,
    /// Its kind in the scenario; `None` for the first.
    pub kind: Option<FurtherMemoryKind>,
    /// Its size.
    pub capacity_bytes: u64,
    /// The most bytes of pages in it at once.
    pub most_bytes: u64,
    /// Bytes of pages in it at the end.
    pub bytes: u64,
}

impl HostMemoryUse {
    /// All memories of the host; nothing if there is only one.
    pub(crate) fn all(node: &NodeConfig, manager: &Manager, page_bytes: u64) -> Vec<Self> {
        let held = |id: MemoryId, name: &str, kind, capacity: Bytes| Self {
            memory: id.to_string(),
            name: name.to_owned(),
            kind,
            capacity_bytes: capacity.0,
            most_bytes: u64::from(manager.most_held(id)) * page_bytes,
            bytes: manager.pages_held(id) * page_bytes,
        };
        let further = node.further_memories();
        let first = (!further.is_empty()).then(|| held(HOST_MEMORY, "host", None, node.host.memory.capacity));
        let further = further.into_iter();
        let further = further.map(|(id, memory)| held(id, &memory.name, Some(memory.kind), memory.capacity));
        first.into_iter().chain(further).collect()
    }
}

impl RunResult {
    /// The results of a run that has ended.
    pub(crate) fn of(
        outcome: Outcome,
        (breakdown, (mut recorder, waits)): (Breakdown, (Recorder, FaultWaits)),
        workload: &dyn Workload,
        (capacity_bytes, host_memories): (Option<u64>, Vec<HostMemoryUse>),
        simulated_events: u64,
    ) -> Self {
        let manager = outcome.driver.manager();
        recorder.end(outcome.ended);
        let jobs = recorder.jobs(&outcome.programs, &outcome.rounds);
        let summary = Summary {
            fidelity: outcome.fidelity,
            time_ps: outcome.ended,
            launches: outcome.launches,
            footprint_bytes: workload.footprint(),
            capacity_bytes,
            accesses: Accesses { faults_cut_short: waits.open(), ..outcome.accesses },
            breakdown,
            simulated_events,
            manager_state_bytes: manager.state_bytes() as u64,
            manager: manager.statistics(),
            batches: outcome.driver.batches(),
            plans_cut_short: outcome.driver.plans_under_way() as u64,
            memory_use: outcome.most_used.iter().flatten().map(|used| FrameUse::of(used, manager)).collect(),
            host_memories,
            phases: if jobs.is_empty() { recorder.phases(0) } else { None },
            host: outcome.host,
            jobs,
        };
        let mut tables = recorder.tables(workload, &outcome.links);
        tables.extend(waits.table());
        Self { summary, tables }
    }
}

impl FrameUse {
    pub(crate) fn of(used: &MemoryUse, manager: &Manager) -> Self {
        let large = manager.coalescing().map(|coalescing| coalescing.pages);
        let pages = f64::from(large.unwrap_or_else(|| manager.geometry().block_pages()));
        let room = f64::from(used.large_frames) * pages - f64::from(used.foreign_frames);
        let base = f64::from(used.base_frames);
        Self {
            base_frames: used.base_frames,
            large_frames: used.large_frames,
            foreign_frames: used.foreign_frames,
            coalesced_frames: used.coalesced_frames,
            large_frames_total: used.large_frames_total,
            bloat: if base > 0.0 { room / base - 1.0 } else { 0.0 },
        }
    }
}
