//! The output of a run without time.

use octavo_manager::{Cause, MemoryUse, Statistics};
use schemars::JsonSchema;
use serde::Serialize;

use crate::functional::counts::{HostLines, Kind};
use crate::functional::job::Running;
use crate::functional::machine::Machine;
use crate::functional::placement::Placed;
use crate::functional::run::Run;
use crate::machine::occurrence::Listen;
use crate::observe::jobs::JobCounts;
use crate::observe::record::Recorder;
use crate::observe::result::FrameUse;
use crate::observe::table::Table;
use crate::rounds::Rounds;

/// A run's results: one summary and the tables.
#[derive(Clone, Debug, PartialEq)]
pub struct InstantResult {
    /// Totals.
    pub summary: InstantSummary,
    /// `allocations`, `page_groups`, `placement`, `accesses`, `kernels`, `events` when recorded, and `jobs` of runs
    /// whose jobs have names.
    pub tables: Vec<Table>,
}

/// Totals of a run without time.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct InstantSummary {
    /// `instant`: who carried plans out.
    pub executor: &'static str,
    /// Kernel launches.
    pub launches: u32,
    /// Sum of the allocations' sizes in bytes.
    pub footprint_bytes: u64,
    /// Memory of each GPU available to the workload, in bytes (`None`: no limit).
    pub capacity_bytes: Option<u64>,
    /// What the wavefronts accessed.
    pub accesses: InstantAccesses,
    /// The data moved between memories.
    pub moved: Moved,
    /// Bytes of the manager's state at the end.
    pub manager_state_bytes: u64,
    /// The work of the memory manager.
    pub manager: Statistics,
    /// The places of each buffer's pages when it was freed, or at the end.
    pub placement: Vec<Placed>,
    /// The use of each GPU's memory at the end of the launch with the highest use, if frames are tracked; empty
    /// otherwise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub memory_use: Vec<FrameUse>,
    /// The work of the host in a whole program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<HostLines>,
    /// The work of each job; empty for a single program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<InstantJob>,
}

/// A job of a run without time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InstantJob {
    /// Its name.
    pub name: String,
    /// The GPUs that it ran on.
    pub gpus: Vec<u32>,
    /// Its compute units on each of them.
    pub units: Vec<u32>,
    /// How often it ended.
    pub repetitions: u32,
    /// Lines that its wavefronts and scalar units loaded and stored in all repetitions.
    pub lines: u64,
    /// The events of its pages, including the repetition that the end of the run cut off.
    #[serde(flatten)]
    pub counts: JobCounts,
}

/// What the wavefronts accessed. Lines are 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InstantAccesses {
    /// Loads by scalar units.
    pub scalar_loads: u64,
    /// Line loads.
    pub load_lines: u64,
    /// Line stores.
    pub store_lines: u64,
    /// Lines of all kinds in the own GPU's memory.
    pub local_lines: u64,
    /// Lines loaded from or stored to another GPU's memory: there is no cache that would have answered.
    pub remote_gpu_lines: u64,
    /// Lines loaded from or stored to host memory.
    pub remote_host_lines: u64,
    /// Stores sent on to other subscribers (GPS), each line by itself.
    pub broadcast_lines: u64,
    /// Faults that the driver had.
    pub faults: u64,
}

/// Bytes moved between memories, by purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Moved {
    /// Pages that move for a fault, a counter or a report.
    pub migration_bytes: u64,
    /// Replicas.
    pub duplication_bytes: u64,
    /// Pages that a store makes sole copies.
    pub write_collapse_bytes: u64,
    /// Pages that leave a full memory.
    pub eviction_bytes: u64,
    /// Pages that are brought before they are requested.
    pub prefetch_bytes: u64,
    /// Copies on the host of pages that other GPUs keep. Not listed if there are none.
    #[serde(skip_serializing_if = "crate::gpu::counts::is_zero")]
    pub write_back_bytes: u64,
    /// Copies by a program.
    pub copies_bytes: u64,
}

/// Listeners one of which keeps the record that results are made of.
pub(super) trait Recording: Listen {
    fn recorder(&mut self) -> &mut Recorder;

    fn into_recorder(self) -> Recorder;
}

impl Recording for Recorder {
    fn recorder(&mut self) -> &mut Recorder {
        self
    }

    fn into_recorder(self) -> Recorder {
        self
    }
}

impl<L: Listen> Recording for (Recorder, L) {
    fn recorder(&mut self) -> &mut Recorder {
        &mut self.0
    }

    fn into_recorder(self) -> Recorder {
        self.0
    }
}

impl InstantResult {
    /// The results of a run that has ended.
    pub(super) fn of<L: Recording>(run: Run<'_, L>, is_whole: bool, capacity_bytes: Option<u64>) -> Self {
        let Run { workload, mut machine, jobs, rounds, launches_done, host, copied_bytes, most_used, .. } = run;
        let buffers = workload.buffers();
        let lines = machine.tables.lines;
        machine.tables.listeners.recorder().end(lines);
        machine.tables.placed.note_rest(buffers, machine.driver.manager());
        let manager = machine.driver.manager();
        let summary = InstantSummary {
            executor: "instant",
            launches: launches_done,
            footprint_bytes: workload.footprint(),
            capacity_bytes,
            accesses: accesses(&machine),
            moved: moved(&machine, copied_bytes),
            manager_state_bytes: manager.state_bytes() as u64,
            manager: manager.statistics(),
            placement: machine.tables.placed.summed_up(buffers),
            memory_use: most_used.iter().flatten().map(|used: &MemoryUse| FrameUse::of(used, manager)).collect(),
            host: is_whole.then_some(host),
            jobs: jobs_of(machine.tables.listeners.recorder(), &jobs, &rounds),
        };
        let own = [machine.tables.placed.table(buffers), machine.counts.table()];
        let mut tables = machine.tables.listeners.into_recorder().tables_without_time(workload);
        tables.extend(own);
        Self { summary, tables }
    }
}

/// The work of each job, if they have names.
fn jobs_of(recorder: &Recorder, jobs: &[Running<'_>], rounds: &Rounds) -> Vec<InstantJob> {
    let of = |(number, ((name, counts), running)): (usize, ((&str, JobCounts), &Running<'_>))| {
        let (gpus, units) = running.lot.listed();
        InstantJob {
            name: name.to_owned(),
            gpus,
            units,
            repetitions: rounds.ended(number),
            lines: running.lines,
            counts,
        }
    };
    recorder.counts_by_job().zip(jobs).enumerate().map(of).collect()
}

fn accesses<L>(machine: &Machine<L>) -> InstantAccesses {
    let counts = &machine.counts;
    InstantAccesses {
        scalar_loads: counts.scalar_loads,
        load_lines: counts.total(Kind::Load),
        store_lines: counts.total(Kind::Store),
        local_lines: counts.lines(|gpu, memory| gpu.memory() == memory),
        remote_gpu_lines: counts.lines(|gpu, memory| gpu.memory() != memory && !memory.on_host()),
        remote_host_lines: counts.lines(|_, memory| memory.on_host()),
        broadcast_lines: counts.broadcast_lines,
        faults: counts.faults(),
    }
}

fn moved<L: Listen>(machine: &Machine<L>, copies_bytes: u64) -> Moved {
    let bytes = |cause| machine.tables.copied.pages(cause) * machine.page_bytes();
    Moved {
        // A page that is copied so that it can be mapped moves.
        migration_bytes: bytes(Cause::Migration) + bytes(Cause::RemoteMap),
        duplication_bytes: bytes(Cause::Duplication) + bytes(Cause::Staging),
        write_collapse_bytes: bytes(Cause::WriteCollapse),
        eviction_bytes: bytes(Cause::Eviction),
        prefetch_bytes: bytes(Cause::Prefetch),
        write_back_bytes: bytes(Cause::WriteBack),
        copies_bytes,
    }
}
