//! Pages that are to be freed as soon as no plan holds them.

use octavo_manager::{Event, PageId, PageRun};
use octavo_units::Time;

use crate::driver::Driver;
use crate::executor::Executor;

/// A run that is to be freed.
struct Free {
    run: PageRun,
    token: u64,
    /// The page that was busy when it was looked at last: while it is, the others need no look.
    busy: Option<PageId>,
}

/// What is to be freed, oldest first.
#[derive(Default)]
pub(crate) struct Frees(Vec<Free>);

impl Frees {
    /// Whether `page` is about to be freed.
    pub fn contain(&self, page: PageId) -> bool {
        self.0.iter().any(|free| page.0.wrapping_sub(free.run.first.0) < free.run.count)
    }
}

impl Driver {
    /// Frees pages as soon as no plan holds them: [`Executor::free`] is called then, perhaps before this returns. From
    /// now on no fault on them is served; those that are outstanding then are woken, and find nothing there.
    pub fn free(&mut self, now: Time, run: PageRun, token: u64, to: &mut impl Executor) {
        self.frees.0.push(Free { run, token, busy: None });
        self.free_what_is_idle(now, to);
        self.run(now, to);
    }

    /// Frees what no plan holds any more.
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
            self.tell(now, Event::Free(run), to);
            while let Some(fault) = self.faults.close_in(run) {
                _ = self.send_wake(now, fault, to);
            }
        }
    }
}
