//! A first-level cache that serves strictly in order: a request that finds its line being filled, or all ways of its
//! set, waits and holds up those behind it.

use crate::engine::costs::Costs;
use crate::gpu::caches::l1::Arrival;
use crate::gpu::state::Gpu;

impl Gpu {
    /// The turn of a request of `unit` that arrives at `asked`.
    pub fn turn(&mut self, now: u64, unit: usize, asked: u64) -> u64 {
        let unit = &mut self.units[unit];
        unit.misses.available(now, asked.max(unit.blocked))
    }

    /// A load of a line of the mapping with that version, served at `time`: when it is done, if the line is in the
    /// cache or on its way.
    pub fn hit_in_order(&mut self, unit: usize, (line, version): (u64, u8), time: u64, costs: &Costs) -> Option<u64> {
        match self.l1.in_order().arrival(unit, line, version, time + costs.l1_lookup) {
            Arrival::Missing => None,
            Arrival::There => Some(time + costs.l1),
            Arrival::Coming(ready) => Some(ready),
            Arrival::Locked(until) => {
                let turn = until - costs.l1_lookup;
                self.units[unit].blocked = turn;
                Some(turn + costs.l1)
            }
        }
    }

    /// The time when a store to a line of the mapping with that version, looked up until `looked_up`, is sent.
    pub fn store_in_order(&mut self, unit: usize, (line, version): (u64, u8), looked_up: u64, costs: &Costs) -> u64 {
        let sent = self.l1.in_order().store(unit, line, version, looked_up);
        self.sent(unit, (looked_up, sent), costs)
    }

    /// The time when a load that was looked up until `looked_up` is sent: when a way of its set is free.
    pub fn room_in_order(&mut self, unit: usize, line: u64, looked_up: u64, costs: &Costs) -> u64 {
        let sent = self.l1.in_order().room(unit, line, looked_up);
        self.sent(unit, (looked_up, sent), costs)
    }

    /// A request that is sent later than it was looked up holds up those behind it.
    fn sent(&mut self, unit: usize, (looked_up, sent): (u64, u64), costs: &Costs) -> u64 {
        if sent > looked_up {
            self.units[unit].blocked = sent - costs.l1_lookup;
        }
        sent
    }

    /// Enters a line that was requested at `sent` and arrives at `done`.
    pub fn enter_in_order(&mut self, unit: usize, (line, version): (u64, u8), done: u64, sent: u64) {
        self.l1.in_order().insert_at(unit, line, version, done, sent);
    }

    /// A request of `unit` that was served from `start` on ends at `done`, and frees its register.
    pub fn end_in_order(&mut self, now: u64, unit: usize, (start, done): (u64, u64)) {
        self.units[unit].misses.take(now, start, done);
    }
}
