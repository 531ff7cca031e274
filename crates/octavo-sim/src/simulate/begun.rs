//! A run from its first event to its last.

use std::ops::ControlFlow;

use octavo_manager::Manager;
use octavo_node::{CapacityAt, NodeConfig};
use octavo_program::{Program, Workload};
use octavo_units::Time;

use crate::bound::{MemoryMet, Watch};
use crate::error::{MAX_TIME, SimError};
use crate::failure::StrategyFailure;
use crate::machine::jobs::Jobs;
use crate::machine::node::Node;
use crate::machine::occurrence::Listen;
use crate::machine::outcome::Outcome;
use crate::moment::When;
use crate::observe::spans::Spans;
use crate::simulate::lines::{Lines, TakeLine};
use crate::stall::{Stall, Watchdog};

/// Events between looks at the time and the progress callback: a few milliseconds of work.
pub(super) const EVENTS_BETWEEN_REPORTS: u64 = 1 << 16;

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Launches that have ended.
    pub launches_done: u32,
    /// All launches.
    pub launches: u32,
    /// Simulated time.
    pub time: Time,
    /// Line accesses issued.
    pub lines: u64,
    /// Work-groups of all launches that have ended.
    pub groups_done: u64,
    /// Work-groups of all launches.
    pub groups: u64,
}

/// A run that is about to begin.
pub(super) struct Begun<'a, 'p> {
    pub node: &'a NodeConfig,
    pub manager: Manager,
    pub page_bytes: u64,
    pub workload: &'a dyn Workload,
    pub running: Jobs,
    pub programs: &'a [Option<Program>],
    pub changes: Vec<CapacityAt>,
    /// The work-groups of all launches.
    pub groups: u64,
    pub time_limit: Option<Time>,
    pub watch: Option<Watch<'a>>,
    pub progress: Option<&'p mut dyn FnMut(Progress) -> ControlFlow<()>>,
    pub lines: Option<&'p mut TakeLine<'p>>,
}

/// A run that has ended as it should.
pub(super) struct Done {
    pub outcome: Outcome,
    /// How many events happened.
    pub events: u64,
}

impl Begun<'_, '_> {
    /// Runs to the end, pausing after this many events, of which [`EVENTS_BETWEEN_REPORTS`] is a multiple.
    pub fn run<L: Listen>(self, pause_every: u64, listeners: L) -> Result<(Done, L), SimError> {
        let Self {
            node,
            manager,
            page_bytes,
            workload,
            running,
            programs,
            changes,
            groups,
            time_limit,
            watch,
            mut progress,
            lines,
        } = self;
        let mut running = Node::new(node, manager, page_bytes, (workload, running, programs), changes, listeners);
        let mut lines = lines.map(|take| Lines::begin(take, &mut running)).transpose()?;
        let (mut events, mut next_pause) = (0u64, pause_every);
        let mut watchdog = Watchdog::new(workload.address_end().div_ceil(page_bytes));
        while running.step() {
            events += 1;
            if events < next_pause {
                continue;
            }
            next_pause += pause_every;
            running.pause();
            if let Some(lines) = &mut lines {
                lines.pass_on(&mut running, false)?;
            }
            // Whatever is recorded, the same run is looked at after the same events.
            if events.is_multiple_of(EVENTS_BETWEEN_REPORTS) {
                running.check_time(time_limit)?;
                running.check_memory(watch, workload)?;
                if watchdog.looks(running.progress(), events) {
                    return Err(running.stalled(workload, page_bytes));
                }
                let report = progress.as_mut().map(|report| report(running.how_far(workload, groups)));
                if report.is_some_and(|answer| answer.is_break()) {
                    return Err(SimError::Interrupted);
                }
            }
        }
        running.check(workload, page_bytes)?;
        running.check_memory(watch, workload)?;
        if let Some(lines) = &mut lines {
            lines.pass_on(&mut running, true)?;
        }
        let (outcome, listeners) = running.end();
        Ok((Done { outcome, events }, listeners))
    }
}

impl Done {
    /// The timeline, if there is one, is whole.
    pub fn finish(self, spans: Option<Box<Spans<'_>>>) -> Result<Self, SimError> {
        let Some(mut spans) = spans else { return Ok(self) };
        spans.finish(self.outcome.ended, &self.outcome.links);
        match spans.failure() {
            Some(reason) => Err(SimError::Timeline { reason }),
            None => Ok(self),
        }
    }
}

impl<L: Listen> Node<'_, L> {
    /// Whether the run is still within the limits of simulated time.
    fn check_time(&self, limit: Option<Time>) -> Result<(), SimError> {
        if self.now() > MAX_TIME.0 {
            return Err(SimError::TooLong { limit: MAX_TIME });
        }
        match limit {
            Some(limit) if self.now() > limit.0 && !self.is_finished() => Err(SimError::OverTime { limit }),
            _ => Ok(()),
        }
    }

    /// The message about a run that makes no progress.
    fn stalled(&self, workload: &dyn Workload, page_bytes: u64) -> SimError {
        let at = (self.launches_done(), When::Time(Time(self.now())));
        let (faults, plans) = (self.driver().outstanding().iter(), self.driver().plans_under_way());
        SimError::NoProgress(Box::new(Stall::of(at, faults, plans, (workload, page_bytes))))
    }

    /// Whether the run is still within its memory, and would be if it ended now.
    fn check_memory(&self, watch: Option<Watch<'_>>, workload: &dyn Workload) -> Result<(), SimError> {
        let Some(met) = watch.and_then(|watch| watch.met(self.recorded())) else { return Ok(()) };
        let launches = (self.launches_done().min(workload.launches()), workload.launches());
        Err(SimError::MemoryMet(Box::new(MemoryMet::new(met, When::Time(Time(self.now())), launches))))
    }

    fn how_far(&self, workload: &dyn Workload, groups: u64) -> Progress {
        Progress {
            launches_done: self.launches_done().min(workload.launches()),
            launches: workload.launches(),
            time: Time(self.now()),
            lines: self.lines(),
            groups_done: self.groups_done().min(groups),
            groups,
        }
    }

    /// Whether the run has ended as it should.
    fn check(&self, workload: &dyn Workload, page_bytes: u64) -> Result<(), SimError> {
        if let Some(failure) = self.manager().failure() {
            let failure = StrategyFailure::new(failure, When::Time(Time(self.now())), page_bytes, workload);
            return Err(SimError::Strategy(Box::new(failure)));
        }
        if let Some(out) = self.manager().out_of_memory() {
            let address = u64::from(out.page.0) * page_bytes;
            let name = self.program_name(out.space.0.into());
            let full = SimError::full(self.config(), out.memory, name, address, When::Time(Time(self.now())));
            return Err(full.because(self.manager(), out));
        }
        if let Some(reason) = workload.failure() {
            return Err(SimError::Workload { reason });
        }
        if let Some(starving) = self.manager().starving().filter(|_| !self.is_finished()) {
            let address = u64::from(starving.out.page.0) * page_bytes;
            let name = self.program_name(starving.out.space.0.into());
            let full = SimError::starving(self.config(), starving, name, address, When::Time(Time(self.now())));
            return Err(full.because(self.manager(), starving.out));
        }
        if !self.is_finished() {
            let (launch, waiting) = (self.launches_done(), self.open_faults());
            return Err(SimError::Stuck { launch, when: When::Time(Time(self.now())), waiting });
        }
        Ok(())
    }
}
