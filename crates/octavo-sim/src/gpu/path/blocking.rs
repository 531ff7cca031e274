//! Lines through a first-level cache that serves strictly in order: a request that finds its line being filled, or all
//! ways of its set, waits and holds up those behind it.

use octavo_manager::ProcessorId;

use crate::gpu::caches::l1::Arrival;
use crate::gpu::run::Run;
use crate::gpu::translate::entry::Entry;
use crate::machine::hardware::Hardware;

/// Where a line is asked for.
#[derive(Clone, Copy)]
struct Place {
    gpu: usize,
    unit: usize,
}

impl Hardware<'_> {
    /// Serves lines of one page; returns when the last is there.
    pub fn serve_in_order(&mut self, gpu: usize, unit: usize, entry: Entry, run: Run, time: u64) -> u64 {
        let (mut last, mut beyond_l1, mut spent) = (time, 0, 0);
        for index in 0..u64::from(run.count()) {
            let line = run.part(run.line() + index, 1);
            let asked = time + index * self.costs.line;
            let state = &self.gpus[gpu].units[unit];
            let start = state.misses.available(asked.max(state.blocked));
            let hit = if run.is_write() { None } else { self.hit_in_order(Place { gpu, unit }, line, entry, start) };
            let done = hit.unwrap_or_else(|| self.miss_in_order(Place { gpu, unit }, line, entry, start));
            self.gpus[gpu].units[unit].misses.take(done);
            beyond_l1 += u32::from(hit.is_none());
            spent += done - asked;
            last = last.max(done);
        }
        if entry.target() == ProcessorId::gpu(gpu) {
            self.breakdown.local_ps += spent;
            self.reports.count(gpu, (run.line() >> self.page_line_shift) as u32, beyond_l1);
        } else {
            self.breakdown.remote_access_ps += spent;
        }
        last
    }

    /// A load whose turn it is at `time`: when it is done, if its line is there or on its way.
    fn hit_in_order(&mut self, place: Place, run: Run, entry: Entry, time: u64) -> Option<u64> {
        let Place { gpu, unit } = place;
        let looked_up = time + self.costs.l1_lookup;
        let done = match self.gpus[gpu].l1.arrival(unit, run.line(), entry.version(), looked_up) {
            Arrival::Missing => return None,
            Arrival::There => time + self.costs.l1,
            Arrival::Coming(ready) => ready,
            Arrival::Locked(until) => {
                let turn = until - self.costs.l1_lookup;
                self.gpus[gpu].units[unit].blocked = turn;
                turn + self.costs.l1
            }
        };
        self.accesses.l1_hits += 1;
        Some(done)
    }

    /// A store, or a load that fetches its line into a way that is free.
    fn miss_in_order(&mut self, place: Place, run: Run, entry: Entry, time: u64) -> u64 {
        let Place { gpu, unit } = place;
        let looked_up = time + self.costs.l1_lookup;
        if run.is_write() {
            return self.beyond_first_level(gpu, run, entry, looked_up);
        }
        let sent = self.gpus[gpu].l1.room(unit, run.line(), looked_up);
        if sent > looked_up {
            self.gpus[gpu].units[unit].blocked = sent - self.costs.l1_lookup;
        }
        let done = self.beyond_first_level(gpu, run, entry, sent);
        self.gpus[gpu].l1.insert_at(unit, run.line(), entry.version(), done, sent);
        done
    }

    /// One line at the memory that `entry` leads to; when the wavefront has it, or the answer to its store.
    fn beyond_first_level(&mut self, gpu: usize, run: Run, entry: Entry, time: u64) -> u64 {
        if entry.target() == ProcessorId::gpu(gpu) {
            self.l2_line(gpu, run.line(), run.line_access(), time) + self.costs.l1_fill
        } else {
            self.remote_line(gpu, entry.target(), run, time)
        }
    }
}
