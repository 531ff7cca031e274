//! The consequences of a plan's end: pages that no plan holds any more are freed, and the manager works ahead of need.

use octavo_manager::{Event, PageRun};
use octavo_units::Time;

use crate::driver::Driver;
use crate::executor::Executor;
use crate::frees::Free;

impl Driver {
    /// A plan is finished, and the work that it made possible starts: batches may end, and pages become idle.
    #[inline]
    pub(crate) fn after_plan(&mut self, now: Time, to: &mut impl Executor) {
        let waited = self.frees.any();
        self.work_ahead(now, to);
        self.end_batches_if_done(now, to);
        self.free_what_is_idle(now, to);
        if waited {
            self.work_ahead(now, to);
        }
    }

    /// Frees pages as soon as no plan holds them: [`Executor::free`] is called then, perhaps before this returns. From
    /// now on no fault on them is served, and no work ahead of need uses them. Outstanding faults are woken, and their
    /// accesses find no page.
    pub fn free(&mut self, now: Time, run: PageRun, token: u64, to: &mut impl Executor) {
        self.frees.0.push(Free { run, token, busy: None });
        self.free_what_is_idle(now, to);
        self.work_ahead(now, to);
        self.run(now, to);
    }

    /// Frees runs that no plan holds any more.
    #[inline]
    pub(crate) fn free_what_is_idle(&mut self, now: Time, to: &mut impl Executor) {
        let mut at = 0;
        while let Some(&Free { run, token, busy }) = self.frees.0.get(at) {
            let busy = busy.filter(|page| self.manager.page(*page).busy).or_else(|| self.first_busy(run));
            if busy.is_some() {
                self.frees.0[at].busy = busy;
                at += 1;
                continue;
            }
            self.frees.0.remove(at);
            to.free(now, run, token, &self.manager);
            self.manager.handle(now, Event::Free(run), &mut self.made);
            self.admit_made(now, to);
            while let Some(fault) = self.faults.close_in(run) {
                _ = self.send_wake(now, fault, to);
            }
        }
    }

    /// The manager begins plans that no fault waits for, unless pages are to be freed: these it must not hold again.
    #[inline]
    pub(crate) fn work_ahead(&mut self, now: Time, to: &mut impl Executor) {
        if !self.frees.any() && !self.halted && !self.trials.ahead_is_vain() {
            self.manager.work_ahead(now, &mut self.made);
            self.admit_made(now, to);
        }
    }
}
