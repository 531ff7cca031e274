//! The simulated hardware as the driver's executor: each step changes something ([`change`]) and takes time ([`cost`]).

mod change;
mod copy;
mod cost;
pub(crate) mod engines;
mod free;
mod large;
pub(crate) mod messages;
#[cfg(test)]
mod tests;

use octavo_driver::{Alarm, Begun, Executor, FaultId, Happening, Outstanding, Ticket, Wake};
use octavo_manager::{HOST, Manager, PageRun, Plan, Step};
use octavo_units::Time;

pub(crate) use free::Free;

use crate::engine::event::Kind;
use crate::machine::hardware::Hardware;
use crate::machine::occurrence::{self, Listen};

impl<L: Listen> Executor for Hardware<'_, L> {
    /// Policy metadata is read and written before the first step.
    fn admit(&mut self, now: Time, ticket: Ticket, plan: &Plan) -> Begun {
        self.told.begin(ticket.slot);
        match plan.steps.first() {
            Some(&Step::Consult { accesses, beside_walk }) => {
                Begun::At(1, now + Time(self.metadata_time(accesses, beside_walk)))
            }
            _ => Begun::At(0, now),
        }
    }

    fn begin(&mut self, now: Time, ticket: Ticket, left: &[Step]) -> Begun {
        let step = &left[0];
        let (steps, done) = match *step {
            Step::Drain { processors, .. } if !self.told.tell(ticket.slot, processors) => (0, self.message()),
            Step::Copy { .. } => (moving_steps(left), self.carry_out(ticket.slot, step)),
            Step::Populate { pages, .. } if self.is_system(pages) => (1, self.populate_by_kernel(left)),
            _ => (1, self.carry_out(ticket.slot, step)),
        };
        if done <= now.0 {
            return Begun::Done(steps);
        }
        self.trace_step(ticket.slot, step, steps, done);
        Begun::At(steps, Time(done))
    }

    fn wake(&mut self, _now: Time, id: FaultId, fault: &Outstanding) -> Wake {
        if fault.processor == HOST {
            self.clock.schedule(self.clock.now(), Kind::HostWakes, id.0);
        } else {
            self.send_wake(id, fault.processor);
        }
        Wake::UnderWay
    }

    /// The run is over.
    fn kill(&mut self, _now: Time, _id: FaultId, _fault: &Outstanding) {}

    /// A token is the number of the freeing action, from 1 on; nothing waits for token 0.
    fn free(&mut self, now: Time, run: PageRun, token: u64, manager: &Manager) {
        self.forget(run, manager);
        if let Some(action) = token.checked_sub(1) {
            self.clock.schedule(now.0, Kind::Freed, action as u32);
        }
    }

    fn remind(&mut self, at: Time, alarm: Alarm) -> bool {
        let (kind, index) = match alarm {
            Alarm::FaultServed(fault) => (Kind::FaultServed, fault),
            Alarm::CounterServed(notification) => (Kind::CounterServed, notification),
            Alarm::BatchTaken(queue) => (Kind::BatchTaken, queue),
            Alarm::BatchServed(queue) => (Kind::BatchServed, queue),
            Alarm::Plan(slot) => (Kind::PlanStep, slot),
            Alarm::Strategies => (Kind::StrategiesDue, 0),
        };
        self.clock.schedule(at.0, kind, index);
        true
    }

    #[inline]
    fn hear(&mut self, now: Time, happening: Happening<'_>) {
        self.listeners.hear(now.0, occurrence::Happening::Driver(happening));
    }
}

/// The number of steps of a copy that `left` begins with: the frames that it leaves are released with it, their lines
/// with the data.
pub(crate) fn moving_steps(left: &[Step]) -> u32 {
    let moves = |copy: &Step, next: &Step| {
        matches!((copy, next), (Step::Copy { pages, from, .. }, Step::Release { memory, pages: left })
            if from == memory && pages == left)
    };
    if left.get(1).is_some_and(|next| moves(&left[0], next)) { 2 } else { 1 }
}
