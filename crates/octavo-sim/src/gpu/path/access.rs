//! Lines of the own memory: first-level cache, second-level cache, memory. The hot path of the simulator.

use crate::engine::costs::Costs;
use crate::gpu::caches::line_access::LineAccess;
use crate::gpu::caches::settled::Together;
use crate::gpu::counts::Accesses;
use crate::gpu::run::Run;
use crate::gpu::state::Gpu;
use crate::gpu::translate::entry::Entry;

/// The result for lines of the GPU's own memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Served {
    /// The arrival of the last line.
    pub last: u64,
    /// Their latencies, summed.
    pub spent: u64,
    /// How long the last to arrive waited for its turn.
    pub queued: u64,
    /// The number of lines that the first level did not have.
    pub beyond_l1: u32,
}

impl Gpu {
    /// It is `now`: serves lines of one page of the own memory from `time` on.
    #[inline(always)]
    pub fn serve_local(
        &mut self,
        unit: usize,
        entry: Entry,
        run: Run,
        (now, time): (u64, u64),
        costs: &Costs,
        accesses: &mut Accesses,
    ) -> Served {
        let (mut start, mut last, mut spent, mut beyond_l1, mut queued) = (time, time, 0, 0, 0);
        for line in run.line()..run.line() + u64::from(run.count()) {
            let before = accesses.queued;
            let done = if run.is_write() {
                beyond_l1 += 1;
                self.l2_line(now, line, run.line_access(), start + costs.l1_lookup, accesses) + costs.l1_fill
            } else if let Some(ready) = self.l1.lookup(unit, line, entry.version()) {
                accesses.l1_hits += 1;
                ready.max(start + costs.l1)
            } else {
                beyond_l1 += 1;
                self.load_missed(now, unit, (line, entry.version()), start + costs.l1_lookup, costs, accesses)
            };
            spent += done - start;
            if done > last {
                // A line that others have asked for waits with them.
                queued = (accesses.queued - before).max((done - start).saturating_sub(costs.memory));
                last = done;
            }
            start += costs.line;
        }
        Served { last, spent, queued, beyond_l1 }
    }

    /// A load of `line`, whose page's mapping has that version, after a miss in the first-level cache: from the GPU's
    /// own second-level cache or memory.
    #[inline(always)]
    fn load_missed(
        &mut self,
        now: u64,
        unit: usize,
        (line, version): (u64, u8),
        time: u64,
        costs: &Costs,
        accesses: &mut Accesses,
    ) -> u64 {
        let start = self.units[unit].misses.available(now, time);
        accesses.queued += start - time;
        let done = self.l2_line(now, line, LineAccess::Load, start, accesses) + costs.l1_fill;
        self.units[unit].misses.take(now, start, done);
        self.l1.insert(unit, line, version, done);
        done
    }

    /// Lines at a second-level cache without tags.
    #[inline]
    pub fn settle_lines(&mut self, now: u64, lines: Together, time: u64, accesses: &mut Accesses) -> u64 {
        self.l2.settled().access(now, time, lines, &mut self.dram, accesses)
    }

    /// Lines of a page are stored to, at a second-level cache without tags.
    #[inline]
    pub fn note_stored(&mut self, line: u64, count: u32) {
        self.l2.settled().note_stored(line, count);
    }

    /// One line at the second-level cache, from any requester.
    #[inline(never)]
    pub fn l2_line(&mut self, now: u64, line: u64, access: LineAccess, time: u64, accesses: &mut Accesses) -> u64 {
        self.l2.access(now, time, line, access, &mut self.dram, accesses)
    }
}
