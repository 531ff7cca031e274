//! Walkers of the host's page table, which far faults need before the driver sees them.

use crate::engine::pool::Pool;

/// The host's walkers.
pub(crate) struct HostWalkers {
    walkers: Pool,
    /// Time of a walk.
    duration: u64,
}

impl HostWalkers {
    pub fn new(walkers: u32, duration: u64) -> Self {
        Self { walkers: Pool::new(walkers), duration }
    }

    /// The end of a walk that is requested at `time`.
    pub fn walk(&mut self, time: u64) -> u64 {
        self.walkers.reserve(time, self.duration)
    }
}
