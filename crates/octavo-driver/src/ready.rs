//! Plans that can go on at once, first come first served: a plan's end makes others, and those are not begun inside it.

use std::collections::VecDeque;

use octavo_units::Time;

use crate::driver::Driver;
use crate::executor::Executor;

/// Slots of plans that can go on at once.
#[derive(Default)]
pub(crate) struct Ready(VecDeque<u32>);

impl Ready {
    pub fn push(&mut self, slot: u32) {
        self.0.push_back(slot);
    }
}

impl Driver {
    /// Ends every call from outside: goes on with what can go on at once.
    #[inline]
    pub(crate) fn run(&mut self, now: Time, to: &mut impl Executor) {
        while let Some(slot) = self.ready.0.pop_front() {
            self.advance(now, slot, to);
        }
        if let Some(deadline) = self.manager.deadline() {
            self.keep(now, deadline, to);
        }
    }
}
