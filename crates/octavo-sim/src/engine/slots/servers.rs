//! Servers that take requests one at a time, in either order: page-table walkers.

use super::Order;
use super::by_time::ByTime;
use crate::engine::pool::Pool;

/// At least one server. `now` is the simulation's clock.
pub(crate) enum Servers {
    /// A request gets the server that is free first.
    ByRequest(Pool),
    ByTime(Box<ByTime>),
}

impl Servers {
    pub fn new(count: u32, order: Order) -> Self {
        match order {
            Order::Requests => Self::ByRequest(Pool::new(count)),
            Order::Time => Self::ByTime(ByTime::new(count).into()),
        }
    }

    /// When a request that comes at `time` gets a server.
    pub fn available(&mut self, now: u64, time: u64) -> u64 {
        match self {
            Self::ByRequest(pool) => pool.first_free().1.max(time),
            Self::ByTime(servers) => servers.available_for(1, now, time),
        }
    }

    /// Occupies that server from `from` until `until`.
    pub fn take(&mut self, now: u64, from: u64, until: u64) {
        match self {
            Self::ByRequest(pool) => pool.occupy(pool.first_free().0, until),
            Self::ByTime(servers) => servers.take_for(1, now, from, until),
        }
    }
}
