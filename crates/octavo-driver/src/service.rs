//! When requests are served and when those who wait are woken.

use crate::batch::Queues;
use crate::config::ServiceModel;
use crate::pool::Pool;

/// How requests are served.
pub struct Service(pub(crate) Model);

pub(crate) enum Model {
    /// Faults are served as they come, in no time; wakes go out one by one.
    AtOnce,
    /// Each alone, by one of a few servers; wakes go out one by one.
    Pool(Pool),
    /// One batch of each queue after another; wakes go out when the batch is over.
    Batch(Queues),
}

impl Service {
    /// Requests are served as they come and cost no time: what costs time does so outside, as with real memory.
    #[must_use]
    pub fn at_once() -> Self {
        Self(Model::AtOnce)
    }

    /// As a node file says it.
    ///
    /// # Panics
    /// If a pool has no servers.
    #[must_use]
    pub fn new(model: &ServiceModel) -> Self {
        match model {
            ServiceModel::Pool(pool) => Self(Model::Pool(Pool::new(pool.servers, pool.service))),
            ServiceModel::Batch(batch) => Self(Model::Batch(Queues::new(batch))),
        }
    }

    pub(crate) fn queues(&mut self) -> Option<&mut Queues> {
        match &mut self.0 {
            Model::Batch(queues) => Some(queues),
            Model::AtOnce | Model::Pool(_) => None,
        }
    }
}
