//! When requests are served, and when waiting processors are woken.

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
    /// One batch of each queue after another; wake-ups leave when the batch ends.
    Batch(Queues),
}

impl Service {
    /// Requests are served as they arrive and take no time here: with real memory, the time passes outside.
    #[must_use]
    pub fn at_once() -> Self {
        Self(Model::AtOnce)
    }

    /// The service that a node file describes.
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
