//! Limits on how many requests are outstanding: miss registers, walkers, queue places.

mod levels;
mod request_order;
mod servers;
mod time_order;

use octavo_node::NodeConfig;

use self::request_order::ByRequest;
pub(crate) use self::servers::Servers;
use self::time_order::ByTime;

/// The order in which places are given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// For requests: a place is taken from now on, whenever its request begins.
    Requests,
    /// For time: a place is free until its request begins.
    Time,
}

impl Order {
    /// The order of a GPU's registers and walkers.
    pub const fn of(node: &NodeConfig) -> Self {
        if node.registers_in_time_order { Self::Time } else { Self::Requests }
    }
}

/// Places for requests. `now` is the simulation's clock: nothing is asked for an earlier time.
pub(crate) enum Slots {
    ByRequest(ByRequest),
    ByTime(Box<ByTime>),
}

impl Slots {
    /// `places` places; 0 for no limit.
    pub fn new(places: u32, order: Order) -> Self {
        match order {
            Order::Time if places > 0 => Self::ByTime(ByTime::new(places).into()),
            _ => Self::ByRequest(ByRequest::new(places)),
        }
    }

    /// A hint to the simulating machine that the next place is needed soon.
    #[inline(always)]
    pub fn hint(&self) {
        if let Self::ByRequest(places) = self {
            places.hint();
        }
    }

    /// The time when a request that arrives at `time` gets a place.
    #[inline(always)]
    pub fn available(&mut self, now: u64, time: u64) -> u64 {
        match self {
            Self::ByRequest(places) => places.available(time),
            Self::ByTime(places) => places.available_for(1, now, time),
        }
    }

    /// The time when all of `count` requests that arrive together at `time` have a place. Callers keep `count` within
    /// the places; where they cannot (misses of one long instruction), those beyond share places.
    #[inline(always)]
    pub fn available_for(&mut self, count: usize, now: u64, time: u64) -> u64 {
        match self {
            Self::ByRequest(places) => places.available_for(count, time),
            Self::ByTime(places) => places.available_for(count, now, time),
        }
    }

    /// Takes a place from `from`, when there was one, until `until`.
    #[inline(always)]
    pub fn take(&mut self, now: u64, from: u64, until: u64) {
        match self {
            Self::ByRequest(places) => places.take(until),
            Self::ByTime(places) => places.take_for(1, now, from, until),
        }
    }

    /// Takes `count` places.
    #[inline(always)]
    pub fn take_for(&mut self, count: usize, now: u64, from: u64, until: u64) {
        match self {
            Self::ByRequest(places) => places.take_for(count, until),
            Self::ByTime(places) => places.take_for(count, now, from, until),
        }
    }
}
