//! A run that makes no progress: how it is noticed, and the message about it.

use std::fmt;

use octavo_driver::Outstanding;
use octavo_program::Workload;

use crate::failure::buffer_of;
use crate::moment::When;

/// Wakes in vain in a row, with no access served between them, after which a run is given up. Chosen: each transfer of
/// a page serves an access, so that a few in a row are many.
const VAIN_WAKES: u64 = 1 << 15;
/// For each open fault, this many more: a driver that discards unserved faults wakes it in vain. Chosen.
const VAIN_WAKES_OF_A_FAULT: u64 = 16;
/// Events in a row without progress of any kind, after which a run is given up: a part of a second's work. Chosen.
const IDLE_EVENTS: u64 = 1 << 19;
/// For each open fault, this many more: each can be put off or discarded several times. Chosen.
const IDLE_EVENTS_OF_A_FAULT: u64 = 64;
/// For each page, this many more: a program's prefetch moves every page, and nothing else may happen meanwhile. Chosen.
const IDLE_EVENTS_OF_A_PAGE: u64 = 32;

/// Faults that are named, at most.
const NAMED: usize = 4;

/// The progress of a run at the last check: values that change whenever wavefronts or programs advance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Accesses, instructions, launches and whatever else gets on.
    pub done: u64,
    /// Wakes in vain so far.
    pub vain: u64,
    /// Faults that are open.
    pub open: u64,
    /// Samples, reports and looks so far: they come while something that takes long is awaited, and mean nothing.
    pub looks: u64,
}

/// Notices that a run makes no progress.
pub(crate) struct Watchdog {
    /// The time of the last progress, and the number of significant events since then.
    last: (Progress, u64),
    idle_events: u64,
}

impl Watchdog {
    /// For a run with this many pages.
    pub fn new(pages: u64) -> Self {
        Self { last: (Progress::default(), 0), idle_events: IDLE_EVENTS + IDLE_EVENTS_OF_A_PAGE * pages }
    }

    /// Checks a run after this many events; returns whether it should be given up.
    pub fn looks(&mut self, now: Progress, events: u64) -> bool {
        let (before, seen) = self.last;
        let events = events - now.looks;
        if now.done != before.done {
            self.last = (now, events);
            return false;
        }
        now.vain - before.vain > VAIN_WAKES + VAIN_WAKES_OF_A_FAULT * now.open
            || events - seen > self.idle_events + IDLE_EVENTS_OF_A_FAULT * now.open
    }
}

/// The last activity of a run that makes no progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stall {
    /// The launch that does not end.
    pub launch: u32,
    /// The time when it was given up.
    pub when: When,
    /// Some of the faults that are open.
    pub waiting: Vec<String>,
    /// How many are open.
    pub open: usize,
    /// Plans under way.
    pub plans: usize,
}

impl Stall {
    /// `faults`: all that are open.
    pub(crate) fn of<'a>(
        (launch, when): (u32, When),
        faults: impl Iterator<Item = &'a Outstanding>,
        plans: usize,
        (workload, page_bytes): (&dyn Workload, u64),
    ) -> Self {
        let (mut waiting, mut open) = (Vec::new(), 0);
        for fault in faults {
            open += 1;
            if waiting.len() < NAMED {
                let buffer = buffer_of(fault.page, page_bytes, workload);
                let buffer = buffer.map(|name| format!(" of `{name}`")).unwrap_or_default();
                waiting.push(format!("{} for page {}{buffer}", fault.processor, fault.page.0));
            }
        }
        Self { launch, when, waiting, open, plans }
    }
}

impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { launch, when, waiting, open, plans } = self;
        write!(f, "the run makes no progress: in launch {launch} {when} no access has been served for long")?;
        if !waiting.is_empty() {
            let rest = open - waiting.len();
            let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
            write!(f, "; {}{more} wait", waiting.join(", "))?;
        }
        write!(
            f,
            ", {plans} plans are under way; another `memory.guard`, `memory.placement` or `memory.eviction`, or more `node.capacity`, may help; if the strategies are Octavo's, please report this scenario"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_given_up_after_wakes_in_vain_or_idle_events() {
        let progress = |done, vain| Progress { done, vain, open: 2, looks: 0 };
        let mut dog = Watchdog::new(0);
        assert!(!dog.looks(progress(1, 0), 1 << 16));
        assert!(!dog.looks(progress(1, VAIN_WAKES + 32), 2 << 16), "each fault may be woken in vain some times");
        assert!(dog.looks(progress(1, VAIN_WAKES + 33), 3 << 16));
        assert!(!dog.looks(progress(2, VAIN_WAKES + 33), 4 << 16), "something was done");
        assert!(!dog.looks(progress(2, VAIN_WAKES + 33), (4 << 16) + IDLE_EVENTS));
        let sampled = Progress { looks: 1 << 16, ..progress(2, VAIN_WAKES + 33) };
        assert!(!dog.looks(sampled, (5 << 16) + IDLE_EVENTS), "samples are no events that a run is given up for");
        assert!(dog.looks(progress(2, VAIN_WAKES + 33), (5 << 16) + IDLE_EVENTS));
    }
}
