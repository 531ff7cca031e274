//! Lines of the own memory through a first-level cache that serves strictly in order: a request that finds its line
//! being filled, or all ways of its set, waits and holds up those behind it.

use super::Node;
use super::access::Run;
use crate::memory::{Arrival, LineAccess};
use crate::translate::Entry;

impl Node<'_> {
    /// Serves lines of one page; returns when the last is there, and how many went beyond the first level.
    pub fn serve_in_order(&mut self, gpu: usize, unit: usize, entry: Entry, run: Run, time: u64) -> (u64, u32) {
        let (mut last, mut beyond_l1) = (time, 0);
        for index in 0..u64::from(run.count) {
            let (line, asked) = (run.line + index, time + index * self.costs.line);
            let state = &self.gpus[gpu].units[unit];
            let start = state.misses.available(asked.max(state.blocked));
            let (done, beyond) = match run.line_access() {
                LineAccess::Load => self.load_in_order((gpu, unit), line, entry.version(), start),
                store => (self.l2_line(gpu, line, store, start + self.costs.l1_lookup) + self.costs.l1_fill, true),
            };
            self.gpus[gpu].units[unit].misses.take(done);
            self.breakdown.local_ps += done - asked;
            beyond_l1 += u32::from(beyond);
            last = last.max(done);
        }
        (last, beyond_l1)
    }

    /// A load whose turn it is at `time`; when it is done, and whether it went beyond the first level.
    fn load_in_order(&mut self, (gpu, unit): (usize, usize), line: u64, version: u8, time: u64) -> (u64, bool) {
        let found = self.gpus[gpu].l1.arrival(unit, line, version, time + self.costs.l1_lookup);
        match found {
            Arrival::There => {
                self.accesses.l1_hits += 1;
                (time + self.costs.l1, false)
            }
            Arrival::Coming(ready) => {
                self.accesses.l1_hits += 1;
                (ready, false)
            }
            Arrival::Locked(until) => {
                self.accesses.l1_hits += 1;
                self.gpus[gpu].units[unit].blocked = until - self.costs.l1_lookup;
                (until - self.costs.l1_lookup + self.costs.l1, false)
            }
            Arrival::Missing => (self.fill_in_order((gpu, unit), line, version, time), true),
        }
    }

    /// Fetches a line into a way that is free.
    fn fill_in_order(&mut self, (gpu, unit): (usize, usize), line: u64, version: u8, time: u64) -> u64 {
        let looked_up = time + self.costs.l1_lookup;
        let sent = self.gpus[gpu].l1.room(unit, line, looked_up);
        if sent > looked_up {
            self.gpus[gpu].units[unit].blocked = sent - self.costs.l1_lookup;
        }
        let done = self.l2_line(gpu, line, LineAccess::Load, sent) + self.costs.l1_fill;
        self.gpus[gpu].l1.insert_at(unit, line, version, done, sent);
        done
    }
}
