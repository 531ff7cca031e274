//! Plans that are not carried out to their end, and faults that can never be served.

use octavo_manager::{Prefix, Refusal, Why};
use octavo_units::Time;

use crate::driver::Driver;
use crate::executor::{Executor, Happening, Ticket};
use crate::faults::FaultId;

impl Driver {
    /// The steps under way under this ticket are refused.
    pub(crate) fn refused(&mut self, now: Time, ticket: Ticket, refusal: Refusal, to: &mut impl Executor) {
        let (_, begun) = self.plans.end_steps(now, ticket);
        assert!(refusal.done.steps < begun, "{refusal:?} of {begun} steps");
        self.give_up(now, ticket.slot, refusal, to);
    }

    /// A plan ends where its executor says, beginning with the next step. The manager keeps what is done; waiting
    /// accesses try again, unless that can never help, or did not help a thousand times.
    pub(crate) fn give_up(&mut self, now: Time, slot: u32, refusal: Refusal, to: &mut impl Executor) {
        let progress = &self.plans.running[slot];
        debug_assert_eq!(progress.wakes, 0, "wakes are a plan's last steps, and no executor begins them");
        to.hear(now, Happening::PlanEnds { slot, plan: &progress.plan, manager: &self.manager });
        let steps = progress.next + refusal.done.steps;
        // What was to come beside it makes no room scarcer when its faults happen again.
        for plan in std::mem::take(&mut self.plans.running[slot].followers) {
            self.manager.fail(now, &plan, Refusal { done: Prefix::NONE, why: Why::Gone }, &mut self.made);
            self.manager.recycle(plan);
        }
        let refusal = Refusal { done: Prefix { steps, ..refusal.done }, ..refusal };
        let plan = self.plans.remove(slot);
        let hopeless = self.trials.refused(&plan);
        let killed: Vec<_> = if refusal.why == Why::Broken { plan.wakes().collect() } else { hopeless };
        for place in killed {
            let fault = self.faults.close(place, plan.cause, Time::ZERO, None);
            fault.into_iter().for_each(|fault| self.kill(now, fault, to));
        }
        let end = self.manager.fail(now, &plan, refusal, &mut self.made);
        self.manager.recycle(plan);
        end.into_iter().for_each(|end| self.trials.begin_end(end));
        if self.trials.ends_are_vain() {
            self.halt(now, to);
        }
        self.admit_made(now, to);
        self.after_plan(now, to);
    }

    /// The manager's later decisions have no meaning: none of its plans starts, so that none holds its pages, and no
    /// access waits any more.
    pub(crate) fn halt(&mut self, now: Time, to: &mut impl Executor) {
        self.halted = true;
        while let Some(plan) = self.made.pop() {
            self.manager.complete(now, plan.id, &mut self.made);
        }
        while let Some(fault) = self.faults.close_any() {
            self.kill(now, fault, to);
        }
    }

    /// A closed fault wakes nothing.
    pub(crate) fn kill(&mut self, now: Time, id: FaultId, to: &mut impl Executor) {
        to.kill(now, id, &self.faults[id]);
        self.faults.remove(id);
    }
}
