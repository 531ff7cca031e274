//! A job without time: its part of the node, and its state.

use std::collections::VecDeque;
use std::ops::Range;

use octavo_manager::PageRun;
use octavo_node::NodeConfig;
use octavo_program::{ActionId, Application, Existence, Launch, Order, Program, Workload};

use crate::cpu::thread::Thread;
use crate::functional::group::Queues;
use crate::job::{Job, Units};
use crate::lot::Lot;

/// A job in execution.
pub(super) struct Running<'a> {
    pub program: Application,
    pub lot: Lot,
    /// When its memory exists and its data arrive.
    pub existence: Existence,
    pub whole: Option<Whole<'a>>,
    pub doing: Doing,
    /// The launch that runs, or runs next while only launches do.
    pub launch: u32,
    pub shape: Launch,
    /// Work-groups of the launch that have not started.
    pub queues: Queues,
    /// Line accesses of all its launches, and how many there were when the present one began.
    pub lines: u64,
    pub launch_began: u64,
}

/// The present state of a job.
pub(super) enum Doing {
    /// Nothing: it continues with its next action, if there is one.
    Nothing,
    /// It has ended, and may begin again in the next round.
    Resting,
    /// A launch has work-groups in flight.
    Launch,
    /// Threads of the host.
    Host(Vec<Thread>),
    /// Memory that stays has yet to get frames.
    Frames(PageRun),
}

/// A whole program in execution.
pub(super) struct Whole<'a> {
    pub program: &'a Program,
    order: Order,
    /// Actions that wait for no other action, in the order in which they became ready.
    ready: VecDeque<ActionId>,
    /// The action under way.
    at: Option<ActionId>,
}

impl<'a> Running<'a> {
    /// The jobs before they begin, combined in `workload`; by job, the whole program there.
    pub fn all(
        jobs: &[Job<'_>],
        units: Units,
        (workload, programs): (&dyn Workload, &'a [Option<Program>]),
        node: &NodeConfig,
    ) -> Vec<Self> {
        let all = jobs.iter().zip(units).zip(workload.applications()).zip(programs);
        all.map(|(((job, units), program), whole)| Self::new(job, units, (program, whole.as_ref()), node)).collect()
    }

    fn new(
        job: &Job<'_>,
        units: Vec<Range<usize>>,
        (program, whole): (Application, Option<&'a Program>),
        node: &NodeConfig,
    ) -> Self {
        Self {
            program,
            lot: Lot::new(job, units, node),
            existence: job.existence,
            whole: whole.map(Whole::new),
            doing: Doing::Resting,
            launch: 0,
            shape: Launch { kernel: "".into(), work_groups: 0, wavefronts_per_group: 0 },
            queues: Queues::none(),
            lines: 0,
            launch_began: 0,
        }
    }

    /// Its name; empty for a program alone.
    pub fn name(&self) -> &str {
        &self.program.name
    }

    /// The job begins, for the first time or again.
    pub fn begin(&mut self) {
        self.doing = Doing::Nothing;
        self.launch = self.program.launches.start;
        if let Some(whole) = &mut self.whole {
            *whole = Whole::new(whole.program);
        }
    }
}

impl<'a> Whole<'a> {
    fn new(program: &'a Program) -> Self {
        let order = program.order();
        let ready = order.ready().collect();
        Self { program, order, ready, at: None }
    }

    /// The action in progress, if there was one, ends: the next one.
    pub fn go_on(&mut self) -> Option<ActionId> {
        if let Some(done) = self.at.take() {
            let mut ready = Vec::new();
            self.order.done(done, &mut ready);
            self.ready.extend(ready);
        }
        self.at = self.ready.pop_front();
        self.at
    }
}
