//! Programs that run side by side: which compute units each has, where it stands, and what happens at its end.

use std::ops::Range;

use octavo_manager::{Allocation, Manager, MemoryId, MemoryUse, PageId, PageRun, ProcessorId, SpaceId};
use octavo_node::NodeConfig;
use octavo_program::{Application, Launch, Resources, Workload, pages_of};

use crate::engine::event::Kind;
use crate::gpu::units::occupancy::Occupancy;
use crate::machine::happening::Listen;
use crate::machine::node::Node;

/// How long a program that has ended waits for plans that hold its pages before it looks again whether it can begin
/// anew: a microsecond. Programs that run once never wait.
const BUSY_PAUSE: u64 = 1_000_000;

/// A program in execution.
pub(crate) struct Running {
    pub program: Application,
    /// Its compute units, on every GPU.
    pub units: Range<usize>,
    /// The launch that runs, or runs next.
    pub launch: u32,
    pub shape: Launch,
    pub occupancy: Occupancy,
    /// Work-groups of the launch that have not started, one queue a GPU or one for all.
    pub queues: Vec<Range<u32>>,
    /// Work-groups in flight on all GPUs.
    pub groups: u32,
    /// By GPU: the compute unit at which dispatch looks for room first.
    pub next_unit: Vec<usize>,
    pub launch_began: u64,
    /// When it ended for the first time.
    pub finished: Option<u64>,
    /// How often it has ended.
    pub rounds: u32,
    /// It has ended and has not begun anew yet.
    pub restarting: bool,
}

/// The programs of a node and how far they are.
pub(crate) struct Jobs {
    /// The programs, mostly one.
    pub(super) running: Vec<Running>,
    /// By GPU: how its memory was used when it held most at the end of a program.
    pub(super) most_used: Vec<Option<MemoryUse>>,
    /// Launches and work-groups that have ended, of all programs.
    pub(super) launches_done: u32,
    pub(super) groups_done: u64,
    /// When the last kernel ended.
    pub(super) ended: u64,
}

impl Jobs {
    /// The workload's programs before they begin.
    pub fn new(workload: &dyn Workload, node: &NodeConfig) -> Self {
        Self {
            running: Running::all(workload, node),
            most_used: vec![None; node.gpus as usize],
            launches_done: 0,
            groups_done: 0,
            ended: 0,
        }
    }

    /// Only this launch of the only program runs next.
    pub(super) fn only_launch(&mut self, launch: u32) {
        let program = &mut self.running[0];
        program.launch = launch;
        program.program.launches = launch..launch + 1;
    }

    /// The only program is over, with all that it did beside its launches.
    pub(super) fn end_all(&mut self, now: u64) {
        let program = &mut self.running[0];
        program.finished = Some(now);
        program.rounds = 1;
        self.ended = now;
    }

    /// Whether every program has ended once.
    fn all_ended(&self) -> bool {
        self.running.iter().all(|program| program.finished.is_some())
    }

    /// A program that has ended still has its memory; one that has begun anew has little of it yet.
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
    /// The workload's programs, each with an equal share of the compute units of every GPU.
    fn all(workload: &dyn Workload, node: &NodeConfig) -> Vec<Self> {
        let programs = workload.applications();
        let share = node.compute.units as usize / programs.len();
        let program = |(index, program): (usize, Application)| Self {
            launch: program.launches.start,
            program,
            units: index * share..(index + 1) * share,
            shape: Launch { kernel: "".into(), work_groups: 0, wavefronts_per_group: 0 },
            occupancy: Occupancy::new(&node.compute, Resources::default()),
            queues: Vec::new(),
            groups: 0,
            next_unit: vec![index * share; node.gpus as usize],
            launch_began: 0,
            finished: None,
            rounds: 0,
            restarting: false,
        };
        programs.into_iter().enumerate().map(program).collect()
    }
}

impl<L: Listen> Node<'_, L> {
    /// Tells the manager about the buffers of a program, each in the program's own address space.
    pub fn allocate(&mut self, application: usize) {
        for (run, gpu) in self.runs(application) {
            let space = SpaceId(application as u16);
            // A program recorded on more GPUs than the node has may have asked for one that is not there.
            let gpu = gpu.filter(|gpu| *gpu < self.hardware.gpus.len()).map(ProcessorId::gpu);
            let allocation = Allocation { space, gpu, ..run.into() };
            self.drive(|driver, now, hardware| driver.allocate(now, allocation, hardware));
        }
    }

    /// Pages of each buffer of a program, and the GPU that it asked for.
    fn runs(&self, application: usize) -> Vec<(PageRun, Option<usize>)> {
        let own = self.jobs.running[application].program.buffers.clone();
        let buffers = self.workload.buffers();
        let runs = buffers.iter().zip(pages_of(buffers, self.hardware.page_bytes())).enumerate();
        runs.filter(|(index, (_, pages))| own.contains(index) && !pages.is_empty())
            .map(|(_, (buffer, pages))| {
                let run = PageRun { first: PageId(pages.start as u32), count: (pages.end - pages.start) as u32 };
                (run, usize::from(buffer.gpu).checked_sub(1))
            })
            .collect()
    }

    /// The last kernel of a program has ended: the node is done when every program has ended once; until then, this
    /// one runs again, as a new process with memory of its own.
    pub fn end_application(&mut self, application: usize) {
        if self.whole.is_some() {
            return self.end_whole_launch();
        }
        if !self.jobs.running[application].restarting {
            self.jobs.note_memory_use(self.driver.manager());
            let state = &mut self.jobs.running[application];
            state.finished.get_or_insert(self.hardware.clock.now());
            state.rounds += 1;
            state.restarting = true;
        }
        if self.jobs.all_ended() {
            self.finished = true;
            return;
        }
        let runs = self.runs(application);
        if runs.iter().any(|(run, _)| self.driver.is_busy(*run)) {
            let again = self.hardware.clock.now() + BUSY_PAUSE;
            return self.hardware.clock.schedule(again, Kind::Launch, application as u32);
        }
        for (run, _) in runs {
            self.drive(|driver, now, hardware| driver.free(now, run, 0, hardware));
        }
        self.allocate(application);
        let state = &mut self.jobs.running[application];
        state.restarting = false;
        state.launch = state.program.launches.start;
        self.begin_launch(application);
    }
}
