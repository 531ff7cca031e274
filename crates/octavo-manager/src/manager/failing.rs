//! A strategy that can no longer decide.

use crate::contract::event::Fault;
use crate::contract::failure::Failure;
use crate::manager::Manager;
use crate::strategies::composition::Policy;

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
        let eviction = &self.memory.eviction;
        let Policy { placement, prefetch } = &self.policies.managed;
        let found = placement.failure().or_else(|| prefetch.failure()).or_else(|| eviction.failure());
        self.failure = found.map(|failure| match fault {
            Some(fault) => Box::new(failure.about(fault)),
            None => failure,
        });
    }
}
