//! An executor for which steps take time, with time standing still.

use std::collections::VecDeque;

use octavo_manager::{Fault, Manager, PageRun, Plan, Step};
use octavo_units::Time;

use crate::executor::{Begun, Executor, Happening, Ticket, Wake};
use crate::faults::{FaultId, Outstanding};

/// Another executor, whose steps are done as soon as they start even if it announces a later time, and whose wake-ups
/// arrive at once. It changes tables and memories where it begins a step; what that costs is not the suite's.
pub struct Prompt<E> {
    /// The other.
    pub inner: E,
    woken: VecDeque<Fault>,
}

impl<E: Executor> Prompt<E> {
    /// One that answers with times, and reports nothing later.
    pub fn new(inner: E) -> Self {
        Self { inner, woken: VecDeque::new() }
    }

    /// A fault that was woken, each once.
    pub fn take_woken(&mut self) -> Option<Fault> {
        self.woken.pop_front()
    }
}

impl<E: Executor> Executor for Prompt<E> {
    fn admit(&mut self, now: Time, ticket: Ticket, plan: &Plan) -> Begun {
        match self.inner.admit(now, ticket, plan) {
            Begun::At(steps, _) => Begun::Done(steps),
            begun => begun,
        }
    }

    /// Begins again whatever the executor asks to begin again.
    fn begin(&mut self, now: Time, ticket: Ticket, left: &[Step]) -> Begun {
        loop {
            match self.inner.begin(now, ticket, left) {
                Begun::At(0, _) => {}
                Begun::At(steps, _) => return Begun::Done(steps),
                begun => return begun,
            }
        }
    }

    fn wake(&mut self, now: Time, id: FaultId, fault: &Outstanding) -> Wake {
        _ = self.inner.wake(now, id, fault);
        self.woken.push_back(fault.fault());
        Wake::Arrived
    }

    fn kill(&mut self, now: Time, id: FaultId, fault: &Outstanding) {
        self.inner.kill(now, id, fault);
    }

    fn free(&mut self, now: Time, run: PageRun, token: u64, manager: &Manager) {
        self.inner.free(now, run, token, manager);
    }

    fn hear(&mut self, now: Time, happening: Happening<'_>) {
        self.inner.hear(now, happening);
    }
}
