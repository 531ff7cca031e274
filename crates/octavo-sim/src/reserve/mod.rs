//! Resources as reservations: instead of queues that are polled, a request asks when it would be served and takes
//! that time.

mod lane;
mod pool;
mod slots;

pub(crate) use lane::Lane;
pub(crate) use pool::Pool;
pub(crate) use slots::Slots;
