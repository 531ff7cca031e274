//! Ports of TLBs: how many lookups a cycle takes.

use crate::engine::lane::Lane;

/// Lookups of a second-level TLB are booked in buckets of 16 ns.
const PORT_BUCKET_SHIFT: u32 = 14;

/// Ports of a GPU's TLBs, if they are limited.
pub(crate) struct Ports {
    /// The time when each unit's first-level TLB takes its next lookup.
    first_level: Vec<u64>,
    /// Time from one lookup to the next; 0 for no limit.
    first_level_cost: u64,
    second_level: Lane,
    second_level_cost: u64,
}

impl Ports {
    pub fn new(units: usize, first_level: u32, second_level: u32, cycle: u64) -> Self {
        let cost = |ports: u32| if ports == 0 { 0 } else { (cycle / u64::from(ports)).max(1) };
        Self {
            first_level: vec![0; units],
            first_level_cost: cost(first_level),
            second_level: Lane::new(PORT_BUCKET_SHIFT),
            second_level_cost: cost(second_level),
        }
    }

    /// The beginning of a first-level lookup that arrives at `time`.
    pub fn first(&mut self, unit: usize, time: u64) -> u64 {
        let start = self.first_level[unit].max(time);
        self.first_level[unit] = start + self.first_level_cost;
        start
    }

    /// The beginning of a second-level lookup that arrives at `time`.
    pub fn second(&mut self, now: u64, time: u64) -> u64 {
        match self.second_level_cost {
            0 => time,
            cost => self.second_level.reserve(now, time, cost) - cost,
        }
    }
}
