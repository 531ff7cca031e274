//! Strategies that request a call at a certain time.

use octavo_manager::Event;
use octavo_units::Time;

use crate::alarm::Alarm;
use crate::driver::Driver;
use crate::executor::Executor;

impl Driver {
    /// Sets an alarm for the manager's deadline, unless there is one by then.
    pub(crate) fn keep(&mut self, now: Time, deadline: Time, to: &mut impl Executor) {
        if !self.halted && self.reminded.is_none_or(|set| deadline < set) {
            let at = deadline.max(now);
            self.reminded = Some(at);
            self.remind(at, Alarm::Strategies, to);
        }
    }

    /// The alarm for the manager's deadline has come. A deadline that an earlier one has replaced has no effect.
    pub(crate) fn strategies_are_due(&mut self, now: Time, to: &mut impl Executor) {
        if self.reminded.is_some_and(|at| at <= now) {
            self.reminded = None;
            self.tell(now, Event::Tick, to);
        }
    }
}
