//! Accesses that wait for outstanding faults.

use octavo_driver::FaultId;
use octavo_driver::slab::Slab;

use crate::gpu::run::Run;

const NONE: u32 = u32::MAX;

/// Lines that an instruction wants from a faulting page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiter {
    pub run: Run,
    pub slot: u32,
    pub since: u64,
    /// The one behind it.
    pub next: u32,
}

/// Accesses that wait for a fault.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    /// The time when the GPU's walk had found no mapping.
    pub walked_at: u64,
    pub last_waiter: u32,
}

/// The accesses that wait for outstanding faults.
#[derive(Default)]
pub(crate) struct Waiters {
    /// By number of the fault.
    queues: Vec<Queue>,
    waiters: Slab<Waiter>,
}

impl Waiter {
    /// The lines of an access that came then, by the wavefront in a slot.
    pub fn new(run: Run, slot: usize, since: u64) -> Self {
        Self { run, slot: slot as u32, since, next: NONE }
    }
}

impl Waiters {
    /// A fault begins, without waiters yet.
    pub(super) fn begin(&mut self, fault: FaultId, walked_at: u64) {
        let index = fault.0 as usize;
        let queue = Queue { walked_at, last_waiter: NONE };
        if index < self.queues.len() {
            self.queues[index] = queue;
        } else {
            self.queues.resize(index + 1, queue);
        }
    }

    /// Someone waits for a fault, too.
    pub(super) fn join(&mut self, fault: FaultId, waiter: Waiter) {
        let last = &mut self.queues[fault.0 as usize].last_waiter;
        *last = self.waiters.insert(Waiter { next: *last, ..waiter });
    }

    /// The accesses that wait for a fault.
    pub(super) fn of(&self, fault: FaultId) -> Queue {
        self.queues[fault.0 as usize]
    }

    /// A hint that the one behind a waiter is needed soon.
    pub(super) fn hint_behind(&self, waiter: &Waiter) {
        self.waiters.hint(waiter.next);
    }

    /// A waiter, which no longer waits.
    pub(super) fn take(&mut self, number: u32) -> Option<Waiter> {
        (number != NONE).then(|| self.waiters.remove(number))
    }
}
