//! Simulated time: the next event, and bookings.

pub(crate) mod backlog;
pub(crate) mod by_arrival;
mod calendar;
pub(crate) mod clock;
pub(crate) mod costs;
pub(crate) mod event;
pub(crate) mod horizon;
pub(crate) mod lane;
pub(crate) mod lru;
pub(crate) mod pool;
pub(crate) mod rate;
pub(crate) mod share;
pub(crate) mod slots;
