//! The memory of a job while only its launches run: all of its buffers, from its beginning to its end.

use octavo_manager::PageRun;
use octavo_program::Existence;

use crate::beginning::{Beginning, Memory};
use crate::lot::runs_of;
use crate::machine::jobs::Running;
use crate::machine::jobs::rounds::BUSY_PAUSE;
use crate::machine::node::Node;
use crate::machine::occurrence::Listen;

/// The first pause before looking again at memory that a launch waits for: a nanosecond.
const SHORTEST_PAUSE: u64 = 1_000;

impl<L: Listen> Node<'_, L> {
    /// Tells the manager about the buffers of a job, each in the job's own address space.
    pub(super) fn allocate(&mut self, job: usize) {
        let page_bytes = self.hardware.page_bytes();
        let Running { lot, existence, program, .. } = &self.jobs.running[job];
        let existence = *existence;
        let memory = Memory { job, lot, existence, program, workload: self.workload, page_bytes };
        let (brought, told): (Vec<_>, Vec<_>) =
            memory.beginnings().into_iter().partition(|beginning| matches!(beginning, Beginning::Bring(..)));
        self.jobs.running[job].to_bring = brought;
        for beginning in told {
            self.tell(beginning);
        }
    }

    fn tell(&mut self, beginning: Beginning) {
        if let Beginning::Allocate(allocation) = &beginning
            && allocation.populated
        {
            self.hardware.host_frames.iter_mut().for_each(|frames| frames.put(allocation.run));
        }
        self.drive(|driver, now, hardware| match beginning {
            Beginning::Allocate(allocation) => driver.allocate(now, allocation, hardware),
            Beginning::SetAside(run, to) => driver.set_aside(now, run, to, hardware),
            Beginning::Bring(run, to) => driver.prefetch(now, run, to, hardware),
        });
    }

    /// When to look again at the memory of a job whose first launch has to wait for it, or for its data: after as long
    /// as the wait has taken.
    ///
    /// Data are brought once no plan holds the pages: those that were freed before may have left large pages behind.
    pub(in crate::machine) fn awaits_memory(&mut self, job: usize) -> Option<u64> {
        let state = &self.jobs.running[job];
        if state.existence == Existence::default() || state.launch > state.program.launches.start {
            return None;
        }
        let now = self.hardware.clock.now();
        let again = now + (now - state.launch_began).clamp(SHORTEST_PAUSE, BUSY_PAUSE);
        if self.is_held(job) {
            return Some(again);
        }
        for beginning in std::mem::take(&mut self.jobs.running[job].to_bring) {
            self.tell(beginning);
        }
        self.is_held(job).then_some(again)
    }

    /// Whether plans hold some of a job's memory, or it lacks frames.
    fn is_held(&self, job: usize) -> bool {
        let held = |run| self.driver.is_busy(run) || self.driver.manager().awaits_frames(run);
        self.runs(job).into_iter().any(|(run, _)| held(run))
    }

    /// Gives all of it back; whether no plan holds any of it any more.
    pub(super) fn free_all(&mut self, job: usize) -> bool {
        let runs: Vec<PageRun> = self.runs(job).into_iter().map(|(run, _)| run).collect();
        self.give_back(&runs)
    }

    /// Gives pages back: those that a plan holds are free when it ends. Whether all are.
    pub(in crate::machine) fn give_back(&mut self, runs: &[PageRun]) -> bool {
        for &run in runs {
            if self.driver.manager().page(run.first).allocated && !self.driver.is_freeing(run.first) {
                self.drive(|driver, now, hardware| driver.free(now, run, 0, hardware));
            }
        }
        !runs.iter().any(|run| self.driver.manager().page(run.first).allocated)
    }

    pub(super) fn runs(&self, job: usize) -> Vec<(PageRun, u8)> {
        runs_of(self.workload, &self.jobs.running[job].program, self.hardware.page_bytes())
    }
}
