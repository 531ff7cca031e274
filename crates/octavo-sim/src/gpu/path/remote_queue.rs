//! Lines of another processor that travel together, or wait until fewer are in flight.

use crate::engine::costs::Costs;
use crate::gpu::counts::Accesses;
use crate::gpu::path::lines::{Lines, Waiting};
use crate::gpu::run::Run;
use crate::gpu::state::Gpu;
use crate::gpu::translate::entry::Entry;

/// Whether lines have to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Queued {
    /// They can travel now.
    No,
    /// They wait behind others.
    Behind,
    /// They are the first in the queue until then.
    First(u64),
}

/// The next one of those that wait.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Turn {
    Nobody,
    /// There is no room before then.
    NotBefore(u64),
    /// These lines wait no longer. The wavefront in this slot is behind the present first ones.
    Of(Waiting, Option<u32>),
}

/// The state of some lines in the first level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub missing: Lines,
    /// The time when the last of the others arrives.
    pub last: u64,
    /// Latencies of the others, summed.
    pub spent: u64,
}

impl Gpu {
    /// Looks up to 64 lines up in the first level from `time` on, which stores pass through.
    #[inline(always)]
    pub fn look_up_remote(
        &mut self,
        unit: usize,
        entry: Entry,
        run: Run,
        time: u64,
        costs: &Costs,
        accesses: &mut Accesses,
    ) -> Found {
        let missing = Lines { run, mask: u64::MAX >> (u64::BITS - run.count()), count: run.count() };
        if run.is_write() {
            return Found { missing, last: time, spent: 0 };
        }
        if run.count() > 1 {
            return self.look_up_several(unit, entry, missing, time, costs, accesses);
        }
        match self.look_up_line(unit, entry, run.line(), time, costs, accesses) {
            Some(done) => Found { missing: Lines { run, mask: 0, count: 0 }, last: done, spent: done - time },
            None => Found { missing, last: time, spent: 0 },
        }
    }

    /// Like the function above, for several lines, none of which is known to be present.
    #[inline(never)]
    fn look_up_several(
        &mut self,
        unit: usize,
        entry: Entry,
        lines: Lines,
        time: u64,
        costs: &Costs,
        accesses: &mut Accesses,
    ) -> Found {
        let mut found = Found { missing: lines, last: time, spent: 0 };
        for index in 0..u64::from(lines.count) {
            let start = time + index * costs.line;
            let line = lines.run.line() + index;
            let Some(done) = self.look_up_line(unit, entry, line, start, costs, accesses) else { continue };
            found.missing.mask &= !(1 << index);
            found.missing.count -= 1;
            found.last = found.last.max(done);
            found.spent += done - start;
        }
        found
    }

    /// The time when a line that is looked up in the first level at `time` can be read, if the level has it or it is on
    /// its way.
    #[inline(always)]
    fn look_up_line(
        &mut self,
        unit: usize,
        entry: Entry,
        line: u64,
        time: u64,
        costs: &Costs,
        accesses: &mut Accesses,
    ) -> Option<u64> {
        let ready = self.l1.lookup(unit, line, entry.version())?;
        accesses.l1_hits += 1;
        Some(ready.max(time + costs.l1))
    }

    /// Makes lines wait if more are in flight than the GPU may have, or others wait already.
    #[inline(always)]
    pub fn queue_remote(&mut self, slot: usize, lines: Lines, (now, time): (u64, u64)) -> Queued {
        let free = self.remote.available_for(lines.count(), now, time);
        let first = self.remote_queue.is_empty();
        if free <= time && first {
            return Queued::No;
        }
        let Lines { run, mask, count } = lines;
        self.remote_queue.push_back(Waiting { run, mask, since: time, count, slot: slot as u32 });
        if first { Queued::First(free) } else { Queued::Behind }
    }

    /// The first of the lines that wait.
    #[inline(always)]
    pub fn next_remote(&mut self, now: u64) -> Turn {
        let Some(&next) = self.remote_queue.front() else { return Turn::Nobody };
        let free = self.remote.available_for(next.count as usize, now, now);
        if free > now {
            return Turn::NotBefore(free);
        }
        self.remote_queue.pop_front();
        Turn::Of(next, self.remote_queue.get(1).map(|later| later.slot))
    }

    /// The time when registers are free for lines that a unit misses at `time`.
    #[inline(always)]
    pub fn begin_misses(&mut self, unit: usize, lines: Lines, (now, time): (u64, u64)) -> u64 {
        self.l1.hint(unit, lines.run.line());
        self.units[unit].misses.available_for(lines.count(), now, time)
    }

    /// Lines that got registers at `start` arrive at `done`. Loads are entered in the first level.
    #[inline(always)]
    pub fn end_misses(&mut self, now: u64, unit: usize, entry: Entry, lines: Lines, (start, done): (u64, u64)) {
        self.units[unit].misses.take_for(lines.count(), now, start, done);
        if !lines.run.is_write() {
            for line in lines.iter() {
                self.l1.insert(unit, line, entry.version(), done);
            }
        }
    }

    /// The time when this many lines of others fit in flight, in addition to the present ones.
    #[inline]
    pub fn begin_travel(&mut self, count: usize, (now, time): (u64, u64)) -> u64 {
        self.remote.available_for(count, now, time)
    }

    /// Lines that began to travel at `start` have arrived at `done`.
    #[inline]
    pub fn end_travel(&mut self, now: u64, count: usize, (start, done): (u64, u64)) {
        self.remote.take_for(count, now, start, done);
    }
}
