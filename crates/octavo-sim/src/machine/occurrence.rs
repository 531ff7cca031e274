//! Happenings in the machine, for listeners that record them.
//!
//! Listeners are a type parameter: events without a listener cost nothing.

use std::borrow::Cow;

use octavo_driver::{FaultId, Outstanding};
use octavo_manager::{AttributeChange, Cause, Manager, MemoryId, PageRun, ProcessorId, Step};

use crate::bound::Recorded;
use crate::cpu::first_memory::Passed;
use crate::fabric::links::Links;
use crate::gpu::counts::Accesses;
use crate::gpu::touches::Touched;
use crate::gpu::units::stalls::{Answer, Stall, Tally};
use crate::machine::phase::Phase;

/// The causes of access time, except for faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spent {
    /// The own GPU's caches and memory.
    Local,
    /// Another processor's memory.
    Remote,
    /// Translation.
    Walk,
    /// Stores on their way to replicas.
    Duplication,
}

/// The wavefronts of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Work {
    pub wavefronts: u64,
    /// From the beginning of each to its end, summed.
    pub resident: u64,
    /// From the beginning of the launch until all of them and their stores were over.
    pub ran: u64,
}

/// Something that happens. Times are picoseconds.
#[derive(Clone, Copy)]
pub(crate) enum Happening<'a> {
    /// Line accesses spend time, summed over the lines.
    Spent(Spent, u64),
    /// Lines of a page that a GPU maps are served, wherever it lies.
    Accessed { gpu: usize, page: u32, write: bool },
    /// An access of a GPU to a page that it maps will have come back then.
    UnderWay { gpu: usize, page: u32, until: u64 },
    /// A GPU walks its page table for a page that no TLB has, or requests a walk from the host.
    Walks { page: u32 },
    /// Lines of another processor's memory travel to or from a GPU.
    RemoteLines { page: u32, lines: u32 },

    /// A GPU finds no usable mapping `at` some time, for an access that came at `since`: a fault begins.
    FaultBegins { fault: FaultId, gpu: usize, page: u32, write: bool, at: u64, since: u64 },
    /// The host walks its page table for a fault that has come there, `until` then.
    WalkedOnHost { fault: FaultId, until: u64 },
    /// The driver sees a fault; its number where faults take time.
    FaultArrives { fault: Option<FaultId>, gpu: ProcessorId, page: u32, write: bool },
    /// The wake of a fault leaves, and `arrives` then.
    WakeLeaves { fault: FaultId, arrives: u64 },
    /// The wake of a fault has arrived.
    FaultEnds { fault: FaultId },
    /// Lines have waited for a fault since then, whose GPU had walked its page table at that time.
    Waited { fault: &'a Outstanding, since: u64, walked: u64, lines: u64 },
    /// The driver sees a notification of a counter.
    Notified { gpu: ProcessorId, page: u32 },

    /// A step of the plan in a slot takes time until then; `is_done`: and ends then.
    Step { slot: u32, step: &'a Step, is_done: bool, until: u64 },
    /// Pages are copied.
    Copied { pages: PageRun, from: MemoryId, to: MemoryId, cause: Cause },
    /// Pages get their place at no cost.
    Placed { pages: PageRun, from: MemoryId, to: MemoryId },
    /// `by` maps pages that `at` holds.
    MappedRemotely { pages: PageRun, by: ProcessorId, at: MemoryId },
    /// A copy is given up.
    Discarded { pages: PageRun, memory: MemoryId },
    /// The placement's attributes of a page change.
    Attribute(&'a AttributeChange),
    /// What the driver says.
    Driver(octavo_driver::Happening<'a>),

    /// A GPU holds this many pages from now on.
    Capacity { gpu: usize, pages: u32 },
    /// A job begins, for the first time or again.
    JobBegins { job: usize },
    /// It has ended once more.
    JobEnds { job: usize },
    /// An action of a whole program ends.
    Phase { job: usize, action: u32, phase: Phase, name: &'a str, began: u64, ended: u64 },
    /// A wavefront of a job issued for some time.
    Issued { job: usize, tally: &'a Tally },
    /// A wavefront of a job waits for some time, for lines of a page if it is for lines.
    Stalled { job: usize, what: Stall, page: Option<u32>, wait: u64 },
    /// A wavefront of a job has waited for an answer for some time.
    Answered { job: usize, answer: Answer, wait: u64 },
    /// A wait of a wavefront ends with something else.
    WaitEnds { job: usize, what: Stall, page: Option<u32> },
    /// The last part of what a wavefront issued has passed while it waited.
    Overlapped { job: usize, time: u64 },
    /// A kernel of a job began and will have ended at these times.
    Kernel { job: usize, name: &'a Cow<'static, str>, began: u64, ended: u64, work: Work },
    /// A launch begins on a node whose host and GPUs are coherent.
    LaunchBegins { job: usize, accesses: &'a Accesses, links: &'a Links, host: Passed },
    /// It ends; [`Kernel`](Self::Kernel) has said which.
    LaunchEnds { job: usize, accesses: &'a Accesses, links: &'a Links, host: Passed },
    /// The [interval](Listen::interval) is over. `host`: the traffic of the host's first memory, on nodes whose host
    /// and GPUs are coherent.
    Sample { accesses: &'a Accesses, manager: &'a Manager, links: &'a Links, host: Option<Passed> },
    /// Some events have happened.
    Moment { manager: &'a Manager, links: &'a Links },
}

/// Listeners that keep a record of events.
pub(crate) trait Listen {
    fn hear(&mut self, now: u64, what: Happening<'_>);

    /// Time until the next sample, if any are wanted; it may change with each.
    fn interval(&self) -> Option<u64> {
        None
    }

    /// Whether changes of pages' attributes are requested.
    fn wants_attributes(&self) -> bool {
        false
    }

    /// How much it has recorded.
    fn recorded(&self) -> Recorded {
        Recorded::default()
    }

    /// Accesses that must be reported to the driver, if evictors request it.
    #[inline(always)]
    fn touched(&mut self) -> Option<&mut Touched> {
        None
    }
}

impl Listen for Touched {
    #[inline(always)]
    fn hear(&mut self, _now: u64, what: Happening<'_>) {
        match what {
            Happening::Accessed { gpu, page, write } => self.note(gpu, page, write),
            Happening::UnderWay { gpu, page, until } => self.note_under_way(gpu, page, until),
            _ => {}
        }
    }

    #[inline(always)]
    fn touched(&mut self) -> Option<&mut Touched> {
        Some(self)
    }
}

impl<A: Listen, B: Listen> Listen for (A, B) {
    #[inline(always)]
    fn hear(&mut self, now: u64, what: Happening<'_>) {
        self.0.hear(now, what);
        self.1.hear(now, what);
    }

    fn interval(&self) -> Option<u64> {
        self.0.interval().or_else(|| self.1.interval())
    }

    fn wants_attributes(&self) -> bool {
        self.0.wants_attributes() || self.1.wants_attributes()
    }

    fn recorded(&self) -> Recorded {
        self.0.recorded().and(self.1.recorded())
    }

    #[inline(always)]
    fn touched(&mut self) -> Option<&mut Touched> {
        match self.0.touched() {
            Some(touched) => Some(touched),
            None => self.1.touched(),
        }
    }
}

impl<T: Listen> Listen for Option<T> {
    #[inline(always)]
    fn hear(&mut self, now: u64, what: Happening<'_>) {
        if let Some(listener) = self {
            listener.hear(now, what);
        }
    }

    fn interval(&self) -> Option<u64> {
        self.as_ref().and_then(T::interval)
    }

    fn wants_attributes(&self) -> bool {
        self.as_ref().is_some_and(T::wants_attributes)
    }

    fn recorded(&self) -> Recorded {
        self.as_ref().map(T::recorded).unwrap_or_default()
    }

    #[inline(always)]
    fn touched(&mut self) -> Option<&mut Touched> {
        self.as_mut().and_then(T::touched)
    }
}

impl<T: Listen> Listen for Box<T> {
    #[inline(always)]
    fn hear(&mut self, now: u64, what: Happening<'_>) {
        (**self).hear(now, what);
    }

    fn interval(&self) -> Option<u64> {
        (**self).interval()
    }

    fn wants_attributes(&self) -> bool {
        (**self).wants_attributes()
    }

    fn recorded(&self) -> Recorded {
        (**self).recorded()
    }

    #[inline(always)]
    fn touched(&mut self) -> Option<&mut Touched> {
        (**self).touched()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wants everything.
    struct Everything(Touched);

    impl Listen for Everything {
        fn hear(&mut self, _now: u64, _what: Happening<'_>) {}

        fn interval(&self) -> Option<u64> {
            Some(7)
        }

        fn wants_attributes(&self) -> bool {
            true
        }

        fn touched(&mut self) -> Option<&mut Touched> {
            Some(&mut self.0)
        }
    }

    #[test]
    fn wrappers_want_what_is_inside() {
        let wants = |listener: &mut dyn Listen| {
            (listener.interval(), listener.wants_attributes(), listener.touched().is_some())
        };
        let everything = || Everything(Touched::new(1, 1));
        assert_eq!(wants(&mut Some(everything())), (Some(7), true, true));
        assert_eq!(wants(&mut Box::new(everything())), (Some(7), true, true));
        assert_eq!(wants(&mut (None::<Everything>, Some(everything()))), (Some(7), true, true));
        assert_eq!(wants(&mut None::<Everything>), (None, false, false));
    }
}
