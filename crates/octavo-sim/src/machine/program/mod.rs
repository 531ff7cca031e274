//! Whole programs in execution: their actions in progress, and the work of each.

mod actions;
mod context;
mod copies;
pub(super) mod costs;
mod host;
mod stream;

use octavo_program::{Action, ActionId, Order, Program};

use crate::cpu::thread::Thread;
use crate::machine::program::stream::Copies;
use octavo_driver::FaultId;
use octavo_driver::slab::Slab;

/// The whole programs of a run.
pub(crate) struct Programs<'a> {
    /// By job: its whole program, if more than its launches runs.
    wholes: Vec<Option<Whole<'a>>>,
    threads: Slab<Thread>,
    /// Threads that wait for the kernel to serve a fault.
    waiting: Vec<(FaultId, u32)>,
    copies: Copies,
    /// Finished actions and pieces of copies.
    done: u64,
}

/// A program in execution.
pub(crate) struct Whole<'a> {
    program: &'a Program,
    /// The number of its first action in events, which number the actions of all programs.
    first: u32,
    /// The number of its first launch among the launches of all jobs.
    launches: u32,
    order: Order,
    /// Actions that have become ready, kept for its capacity.
    ready: Vec<ActionId>,
    /// Actions that are not done.
    left: usize,
    /// By action: its beginning, the number of parts in progress, and the end of the last finished part.
    progress: Vec<Progress>,
    /// The launch that runs.
    launching: Option<ActionId>,
    context: Context,
}

/// A program's context.
#[derive(Clone, Copy)]
enum Context {
    None,
    Created { began: u64, ready: u64 },
    Ready,
}

#[derive(Clone, Copy, Default)]
struct Progress {
    began: u64,
    /// Threads or streams still running.
    parts: u32,
    /// The end of the last finished one.
    over: u64,
}

impl<'a> Programs<'a> {
    /// By job: its whole program, and its place among the others.
    pub fn new(programs: &'a [Option<Program>]) -> Self {
        let mut next = 0;
        let mut whole = |program: &'a Program| {
            let first = next;
            next += program.actions().len() as u32;
            Whole::new(program, first)
        };
        Self {
            wholes: programs.iter().map(Option::as_ref).map(|program| program.map(&mut whole)).collect(),
            threads: Slab::default(),
            waiting: Vec::new(),
            copies: Copies::default(),
            done: 0,
        }
    }

    /// Actions and pieces of copies that have ended.
    pub const fn done(&self) -> u64 {
        self.done
    }

    /// Whether more than the launches of a job runs.
    pub fn is_whole(&self, job: usize) -> bool {
        self.wholes[job].is_some()
    }

    /// The program of a job. Its events come only if there is one.
    fn of(&mut self, job: usize) -> &mut Whole<'a> {
        self.wholes[job].as_mut().expect("events of a program come of a program")
    }

    /// The job and the action that an event is about.
    fn who(&self, number: u32) -> (usize, ActionId) {
        let own = |whole: &Whole<'_>| number.checked_sub(whole.first).filter(|id| *id < whole.progress.len() as u32);
        let found = self.wholes.iter().enumerate().find_map(|(job, whole)| Some((job, own(whole.as_ref()?)?)));
        let (job, id) = found.expect("events are numbered after actions");
        (job, ActionId(id))
    }
}

impl<'a> Whole<'a> {
    fn new(program: &'a Program, first: u32) -> Self {
        let launches = program.actions().iter().filter_map(|ordered| match ordered.action {
            Action::Launch { launch, .. } => Some(launch),
            _ => None,
        });
        Self {
            program,
            first,
            launches: launches.min().unwrap_or_default(),
            order: program.order(),
            ready: Vec::new(),
            left: program.actions().len(),
            progress: vec![Progress::default(); program.actions().len()],
            launching: None,
            context: Context::None,
        }
    }

    /// It begins again, in a new process.
    fn begin_anew(&mut self) {
        *self = Self::new(self.program, self.first);
    }

    /// The number of an action in events.
    const fn number(&self, action: ActionId) -> u32 {
        self.first + action.0
    }

    /// A part of an action ends at `time`; returns whether it was the last, and when all have ended.
    fn part_over(&mut self, action: ActionId, time: u64) -> Option<u64> {
        let progress = &mut self.progress[action.index()];
        progress.parts -= 1;
        progress.over = progress.over.max(time);
        (progress.parts == 0).then_some(progress.over)
    }
}
