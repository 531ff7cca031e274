//! Page tables, copies and counters as the driver's executor: each step is done at once, and listeners get the same
//! reports as from the simulated node.

use octavo_driver::{Begun, Executor, FaultId, Happening as DriverHappening, Instant, Outstanding, Ticket, Wake};
use octavo_manager::{Cause, Manager, MemoryId, PageId, PageRun, ProcessorId, Step};
use octavo_units::Time;

use crate::functional::placement::Placement;
use crate::gpu::counters::Counters;
use crate::machine::executor::moving_steps;
use crate::machine::occurrence::{Happening, Listen};

/// What plans change.
pub(super) struct Tables<L> {
    pub entries: Instant,
    pub counters: Counters,
    /// Line accesses so far: the replacement for time in reports to listeners.
    pub lines: u64,
    /// Pages that plans copied, by cause.
    pub copied: Copied,
    /// The former places of the pages of freed buffers.
    pub placed: Placement,
    pub listeners: L,
}

/// Pages copied, by cause.
#[derive(Clone, Copy, Default)]
pub(super) struct Copied([u64; CAUSES]);

const CAUSES: usize = Cause::Staging as usize + 1;

impl Copied {
    pub fn pages(&self, cause: Cause) -> u64 {
        self.0[cause as usize]
    }
}

impl<L: Listen> Tables<L> {
    /// Tells who listens.
    #[inline]
    pub fn say(&mut self, what: Happening<'_>) {
        self.listeners.hear(self.lines, what);
    }

    /// Does steps up to the first wake; how many there were.
    fn carry_out(&mut self, left: &[Step], is_free: bool) -> u32 {
        let steps = left.iter().position(|step| matches!(step, Step::Wake { .. })).unwrap_or(left.len());
        let mut at = 0;
        while at < steps {
            let done = self.tell(&left[at..steps], is_free);
            left[at..at + done].iter().for_each(|step| self.change(step));
            at += done;
        }
        steps as u32
    }

    /// Reports the first step, and the steps after it that belong to it; returns their number.
    fn tell(&mut self, left: &[Step], is_free: bool) -> usize {
        match left[0] {
            Step::Populate { memory, pages, .. } => self.say(Happening::Placed { pages, from: memory, to: memory }),
            Step::Copy { pages, from, to, cause } if is_free && !cause.keeps_source() => {
                self.say(Happening::Placed { pages, from, to });
            }
            Step::Copy { pages, from, to, cause } => {
                self.copied.0[cause as usize] += u64::from(pages.count);
                self.say(Happening::Copied { pages, from, to, cause });
            }
            Step::Release { memory, pages } => self.say(Happening::Discarded { pages, memory }),
            Step::Map { processors, pages, target: Some(at), .. } => {
                let remote = processors.iter().filter(|by| by.memory() != at && by.gpu_index().is_some());
                remote.for_each(|by| self.say(Happening::MappedRemotely { pages, by, at }));
            }
            _ => {}
        }
        if matches!(left[0], Step::Copy { .. }) { moving_steps(left) as usize } else { 1 }
    }

    fn change(&mut self, step: &Step) {
        if let Step::ClearCounters { pages } = *step {
            self.counters.clear(pages);
        }
        self.entries.apply(step);
    }

    /// Lines of `page` that `gpu` stores go to every other GPU that holds a replica; how many GPUs these are.
    pub fn subscribers(&self, gpu: usize, gpus: usize, page: PageId) -> u32 {
        let others = (0..gpus).filter(|other| *other != gpu).map(ProcessorId::gpu);
        let subscribes = |peer: &ProcessorId| {
            let entry = self.entries.entry(*peer, page);
            entry.is_mapped() && entry.is_broadcast() && entry.target() == peer.memory()
        };
        others.filter(subscribes).count() as u32
    }
}

impl<L: Listen> Executor for Tables<L> {
    fn begin(&mut self, _now: Time, _ticket: Ticket, left: &[Step]) -> Begun {
        Begun::Done(self.carry_out(left, false))
    }

    fn wake(&mut self, _now: Time, _id: FaultId, _fault: &Outstanding) -> Wake {
        Wake::Arrived
    }

    /// The access finds no entry and gives up.
    fn kill(&mut self, _now: Time, _id: FaultId, _fault: &Outstanding) {}

    fn free(&mut self, now: Time, run: PageRun, token: u64, manager: &Manager) {
        self.placed.note(run, manager);
        for memory in (0..manager.geometry().gpus).map(MemoryId::gpu) {
            for page in run.iter().filter(|page| manager.page(*page).resident.contains(memory)) {
                self.say(Happening::Discarded { pages: PageRun::one(page), memory });
            }
        }
        self.entries.free(now, run, token, manager);
        self.counters.clear(run);
    }

    #[inline]
    fn hear(&mut self, _now: Time, happening: DriverHappening<'_>) {
        self.say(Happening::Driver(happening));
    }
}

/// Tables for faults that cost nothing: pages that move for them get their place, and do not count as copied.
pub(super) struct Free<'t, L>(pub &'t mut Tables<L>);

impl<L: Listen> Executor for Free<'_, L> {
    fn begin(&mut self, _now: Time, _ticket: Ticket, left: &[Step]) -> Begun {
        Begun::Done(self.0.carry_out(left, true))
    }

    fn wake(&mut self, _now: Time, _id: FaultId, _fault: &Outstanding) -> Wake {
        Wake::Arrived
    }

    fn kill(&mut self, _now: Time, _id: FaultId, _fault: &Outstanding) {}

    fn free(&mut self, now: Time, run: PageRun, token: u64, manager: &Manager) {
        self.0.free(now, run, token, manager);
    }
}
