//! Faults that wait until a time.

use octavo_units::Time;

use crate::transaction::flight::Pending;

/// Faults by the time at which they continue; faults of one time in the order in which they began to wait.
#[derive(Default)]
pub(super) struct Delayed(Vec<(Time, Pending)>);

impl Delayed {
    pub fn wait(&mut self, until: Time, pending: Pending) {
        let at = self.0.partition_point(|(other, _)| *other <= until);
        self.0.insert(at, (until, pending));
    }

    /// The time when the first of them continues.
    pub fn deadline(&self) -> Option<Time> {
        self.0.first().map(|(until, _)| *until)
    }

    /// Takes those whose time has come.
    pub fn due(&mut self, now: Time) -> Vec<Pending> {
        let due = self.0.partition_point(|(until, _)| *until <= now);
        self.0.drain(..due).map(|(_, pending)| pending).collect()
    }

    /// Forgets all faults that are not `wanted`.
    pub fn keep(&mut self, wanted: impl Fn(&Pending) -> bool) {
        self.0.retain(|(_, pending)| wanted(pending));
    }
}
