//! A strategy that can no longer decide.

use crate::contract::event::Fault;
use crate::contract::failure::Failure;
use crate::manager::Manager;

impl Manager {
    /// The first failure of a strategy; no plan made since then is worth carrying out.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_deref()
    }

    /// Keeps the first failure, with the fault that was being served.
    pub(super) fn note_failure(&mut self, fault: Option<&Fault>) {
        if self.failure.is_some() {
            return;
        }
        let evictors = || self.memory.evictors.failure();
        let demotion = || self.memory.demotion.failure();
        let guard = || self.memory.guard.as_ref().and_then(|guard| guard.failure());
        let sharing = || self.memory.sharing.as_ref().and_then(|sharing| sharing.failure());
        let found = self.policies.failure().or_else(evictors).or_else(demotion).or_else(guard).or_else(sharing);
        self.failure = found.map(|failure| match fault {
            Some(fault) => Box::new(failure.about(fault)),
            None => failure,
        });
    }
}
