//! Actions whose time has come.

use octavo_units::Time;

use crate::contract::plan::Plan;
use crate::manager::Manager;
use crate::strategies::context::Context;
use crate::strategies::decision::Move;
use crate::strategies::placement::Placement;

impl Manager {
    /// The time when something must be done even though nothing else happens: call with
    /// [`Event::Tick`](crate::Event::Tick) then. `None` if no strategy waits. Changes with any call.
    #[must_use]
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        let placement = self.policies.deadline();
        if self.memory.guard.is_none() && !self.wants_outstanding() {
            return placement;
        }
        let all = [placement, self.guard_deadline(), self.delayed.deadline(), self.room_deadline()];
        all.into_iter().flatten().min()
    }

    fn guard_deadline(&self) -> Option<Time> {
        self.memory.guard.as_ref().and_then(|guard| guard.deadline())
    }

    /// Asks strategies whose deadline has come, and serves faults that waited until now, or for accesses in progress.
    pub(super) fn tick(&mut self, plans: &mut Vec<Plan>) {
        let now = self.memory.now;
        let due = |deadline: Option<Time>| deadline.is_some_and(|at| at <= now);
        if due(self.guard_deadline()) {
            self.ask_what_to_unpin(plans);
        }
        for decider in self.policies.deciders() {
            if due(self.policies.placement(decider).deadline()) {
                let ask = |placement: &mut dyn Placement, context: &mut Context<'_>, moves: &mut Vec<Move>| {
                    placement.on_deadline(context, moves);
                };
                let moved = self.ask_for_moves(decider, ask, plans);
                self.memory.statistics.timed_migrations += moved;
            }
        }
        if due(self.delayed.deadline()) {
            self.serve_delayed(plans);
        }
        if self.wants_outstanding() {
            self.retry_starved(plans);
        }
        assert!(
            self.deadline().is_none_or(|at| at > now),
            "a strategy was asked at {now} and wants to be asked by then"
        );
    }
}
