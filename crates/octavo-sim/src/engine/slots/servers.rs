//! Servers that take requests one at a time, in either order: page-table walkers.

use super::Order;
use super::time_order::ByTime;
use crate::engine::pool::Pool;

/// At least one server. `now` is the simulation's clock.
pub(crate) enum Servers {
    /// A request gets the server that is free first, which is kept from the question to the answer.
    ByRequest {
        pool: Pool,
        first: usize,
    },
    ByTime(Box<ByTime>),
}

impl Servers {
    pub fn new(count: u32, order: Order) -> Self {
        match order {
            Order::Requests => Self::ByRequest { pool: Pool::new(count), first: 0 },
            Order::Time => Self::ByTime(ByTime::new(count).into()),
        }
    }

    /// The time when a request that arrives at `time` gets a server.
    pub fn available(&mut self, now: u64, time: u64) -> u64 {
        match self {
            Self::ByRequest { pool, first } => {
                let free;
                (*first, free) = pool.first_free();
                free.max(time)
            }
            Self::ByTime(servers) => servers.available_for(1, now, time),
        }
    }

    /// Occupies the server that was available last from `from` until `until`.
    pub fn take(&mut self, now: u64, from: u64, until: u64) {
        match self {
            Self::ByRequest { pool, first } => pool.occupy(*first, until),
            Self::ByTime(servers) => servers.take_for(1, now, from, until),
        }
    }
}
