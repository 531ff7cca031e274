//! Jobs that run side by side: each job's part of the node, and its state.

mod memory;
pub(super) mod rounds;

use std::collections::BTreeSet;
use std::ops::Range;

use octavo_manager::{Manager, MemoryId, MemoryUse};
use octavo_node::NodeConfig;
use octavo_program::{Application, Existence, Launch, Resources, Share, Workload};

use crate::beginning::Beginning;
use crate::gpu::units::occupancy::Occupancy;
use crate::job::{Job, Units};
use crate::lot::Lot;
use crate::machine::occurrence::Work;
use crate::machine::starts::Starts;
use crate::rounds::Rounds;

/// A job in execution.
pub(crate) struct Running {
    pub program: Application,
    pub lot: Lot,
    /// When its memory exists and its data arrive.
    pub existence: Existence,
    /// Data that it has yet to bring before its first launch.
    pub to_bring: Vec<Beginning>,
    /// When it begins for the first time.
    pub start: u64,
    /// The launch that runs, or runs next.
    pub launch: u32,
    /// The last launch before which the host began to wait for the GPUs.
    pub synchronised: Option<u32>,
    pub shape: Launch,
    pub occupancy: Occupancy,
    /// Work-groups of the launch that have not started, one queue for each of its GPUs or one for all.
    pub queues: Vec<Share>,
    /// Work-groups in flight on all GPUs.
    pub groups: u32,
    /// By GPU: the queue that it takes work-groups from, if there is one for each.
    pub queue_of: Vec<usize>,
    /// By GPU: the compute unit at which dispatch looks for room first.
    pub next_unit: Vec<usize>,
    pub launch_began: u64,
    /// The wavefronts of the launch that have begun. Those in flight are taken off by when they began.
    pub work: Work,
    /// When it ended for the first time.
    pub finished: Option<u64>,
    /// It has ended and has not begun again.
    pub resting: bool,
}

/// The jobs of a node and how far they are.
pub(crate) struct Jobs {
    /// The jobs, mostly one.
    pub(super) running: Vec<Running>,
    pub(super) rounds: Rounds,
    /// By GPU: how its memory was used when it held most at the end of a program.
    pub(super) most_used: Vec<Option<MemoryUse>>,
    /// Launches and work-groups that have ended, of all jobs.
    pub(super) launches_done: u32,
    pub(super) groups_done: u64,
    /// When the last kernel or whole program ended.
    pub(super) ended: u64,
    /// How their launches begin.
    pub(super) starts: Starts,
    /// Launches before which the host waits for the GPUs.
    pub(crate) synchronised: BTreeSet<u32>,
}

impl Jobs {
    /// The jobs before they begin; `workload` is the combined one.
    pub fn new(jobs: &[Job<'_>], units: Units, workload: &dyn Workload, node: &NodeConfig, starts: Starts) -> Self {
        let programs = jobs.iter().zip(units).zip(workload.applications());
        Self {
            running: programs.map(|((job, units), program)| Running::new(job, units, program, node)).collect(),
            rounds: Rounds::new(jobs),
            most_used: vec![None; node.gpus as usize],
            launches_done: 0,
            groups_done: 0,
            ended: 0,
            starts,
            synchronised: BTreeSet::new(),
        }
    }

    /// Only this launch of a job runs next.
    pub(super) fn only_launch(&mut self, job: usize, launch: u32) {
        let program = &mut self.running[job];
        program.launch = launch;
        program.program.launches = launch..launch + 1;
    }

    /// A program that has ended still has its memory; one that has begun again has little of it yet.
    pub(super) fn note_memory_use(&mut self, manager: &Manager) {
        for (gpu, most) in self.most_used.iter_mut().enumerate() {
            let used = manager.memory_use(MemoryId::gpu(gpu));
            let frames = |used: Option<MemoryUse>| used.map(|used| used.base_frames);
            if frames(used) > frames(*most) {
                *most = used;
            }
        }
    }
}

impl Running {
    fn new(job: &Job<'_>, units: Vec<Range<usize>>, program: Application, node: &NodeConfig) -> Self {
        let lot = Lot::new(job, units, node);
        let place = |gpu: usize| lot.gpus.iter().position(|own| *own == gpu).unwrap_or_default();
        Self {
            launch: program.launches.start,
            synchronised: None,
            program,
            start: job.start.0,
            shape: Launch { kernel: "".into(), work_groups: 0, wavefronts_per_group: 0 },
            occupancy: Occupancy::new(&node.compute, Resources::default()),
            queues: Vec::new(),
            groups: 0,
            queue_of: (0..lot.units.len()).map(place).collect(),
            next_unit: lot.units.iter().map(|units| units.start).collect(),
            lot,
            existence: job.existence,
            to_bring: Vec::new(),
            launch_began: 0,
            work: Work::default(),
            finished: None,
            resting: false,
        }
    }
}
