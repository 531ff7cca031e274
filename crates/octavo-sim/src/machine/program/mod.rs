//! A whole program in execution: which of its actions are under way, and what each does.

mod actions;
mod copies;
pub(super) mod costs;
mod host;

use octavo_program::{ActionId, Order, Program};

use crate::cpu::thread::Thread;
use crate::machine::program::copies::Copies;
use octavo_driver::FaultId;
use octavo_driver::slab::Slab;

/// How long an action waits for plans that hold its pages before it looks again: a microsecond.
const BUSY_PAUSE: u64 = 1_000_000;

/// What a phase of a program is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Allocation,
    HostInitialisation,
    CopyIn,
    Kernel,
    CopyOut,
    HostResults,
    Deallocation,
    /// The host waits.
    Other,
}

impl Phase {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allocation => "allocation",
            Self::HostInitialisation => "host-initialisation",
            Self::CopyIn => "copy-in",
            Self::Kernel => "kernel",
            Self::CopyOut => "copy-out",
            Self::HostResults => "host-results",
            Self::Deallocation => "deallocation",
            Self::Other => "other",
        }
    }
}

/// A program in execution.
pub(crate) struct Whole<'a> {
    program: &'a Program,
    order: Order,
    /// Actions that have become ready, kept for its capacity.
    ready: Vec<ActionId>,
    /// Actions that are not done.
    left: usize,
    /// By action: when it began, how much of it is under way, and when the last part that is over was.
    progress: Vec<Progress>,
    /// The launch that runs.
    launching: Option<ActionId>,
    threads: Slab<Thread>,
    /// Threads that wait for the kernel to serve a fault.
    waiting: Vec<(FaultId, u32)>,
    copies: Copies,
}

#[derive(Clone, Copy, Default)]
struct Progress {
    began: u64,
    /// Threads or streams under way.
    parts: u32,
    /// When the last of those that are over was over.
    over: u64,
}

impl<'a> Whole<'a> {
    pub fn new(program: &'a Program) -> Self {
        Self {
            program,
            order: program.order(),
            ready: Vec::new(),
            left: program.actions().len(),
            progress: vec![Progress::default(); program.actions().len()],
            launching: None,
            threads: Slab::default(),
            waiting: Vec::new(),
            copies: Copies::default(),
        }
    }

    /// A part of an action is over at `time`; whether it was the last, and when all are.
    fn part_over(&mut self, action: ActionId, time: u64) -> Option<u64> {
        let progress = &mut self.progress[action.index()];
        progress.parts -= 1;
        progress.over = progress.over.max(time);
        (progress.parts == 0).then_some(progress.over)
    }
}
