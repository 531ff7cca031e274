//! Lines in another processor's memory: requests and answers over the links, cached in the first level only.

use octavo_manager::ProcessorId;

use crate::engine::event::{Event, Kind};
use crate::fabric::links::Traffic;
use crate::gpu::path::waiting::{Lines, Waiting};
use crate::gpu::run::Run;
use crate::gpu::translate::entry::Entry;
use crate::machine::hardware::Hardware;

/// Bytes of a line on a link, without its header.
const LINE: u64 = 64;

impl Hardware<'_> {
    /// Serves lines of one page from the memory `entry` leads to; returns when the last is there. If too many lines
    /// are in flight, those that are not cached wait in the GPU's queue.
    #[inline(never)]
    pub fn serve_remote(&mut self, gpu: usize, unit: usize, slot: usize, entry: Entry, run: Run, time: u64) -> u64 {
        let together = self.lines_together();
        let (mut last, mut begun) = (time, 0);
        while begun < run.count() {
            let part = run.part(run.line() + u64::from(begun), (run.count() - begun).min(together));
            let part_time = time + u64::from(begun) * self.costs.line;
            last = last.max(self.serve_together(gpu, unit, slot, entry, part, part_time));
            begun += part.count();
        }
        last
    }

    /// Serves lines that may travel together.
    #[inline(always)]
    fn serve_together(&mut self, gpu: usize, unit: usize, slot: usize, entry: Entry, run: Run, time: u64) -> u64 {
        let (missing, cached) = self.look_up_remote(gpu, unit, entry, run, time);
        if missing.mask == 0 {
            return cached;
        }
        let sent = time + u64::from(run.count() - 1) * self.costs.line + self.costs.l1_lookup;
        self.breakdown.remote_access_ps += missing.count() as u64 * self.costs.l1_lookup;
        if self.queue_remote(gpu, slot, missing, sent) {
            return cached;
        }
        cached.max(self.remote_lines(gpu, unit, entry, missing, sent))
    }

    /// Lines that may travel together: as many as a mask holds and as may be in flight.
    #[inline]
    fn lines_together(&self) -> u32 {
        match self.config.remote.lines_in_flight {
            0 => u64::BITS,
            limit => limit.min(u64::BITS),
        }
    }

    /// Looks up to 64 lines up in the first level, which stores pass through. Returns what is not there, and when
    /// the last of the others is.
    #[inline(always)]
    fn look_up_remote(&mut self, gpu: usize, unit: usize, entry: Entry, run: Run, time: u64) -> (Lines, u64) {
        let missing = Lines { run, mask: u64::MAX >> (u64::BITS - run.count()), count: run.count() };
        if run.is_write() {
            return (missing, time);
        }
        if run.count() > 1 {
            return self.look_up_several(gpu, unit, entry, missing, time);
        }
        match self.look_up_line(gpu, unit, entry, run.line(), time) {
            Some(done) => (Lines { run, mask: 0, count: 0 }, done),
            None => (missing, time),
        }
    }

    /// As above, for several lines, of which none is known to be there yet.
    #[inline(never)]
    fn look_up_several(&mut self, gpu: usize, unit: usize, entry: Entry, lines: Lines, time: u64) -> (Lines, u64) {
        let (mut missing, mut last) = (lines, time);
        for index in 0..u64::from(lines.count) {
            let start = time + index * self.costs.line;
            let Some(done) = self.look_up_line(gpu, unit, entry, lines.run.line() + index, start) else { continue };
            missing.mask &= !(1 << index);
            missing.count -= 1;
            last = last.max(done);
        }
        (missing, last)
    }

    /// When a line that is looked up in the first level at `time` is there, if it is there or on its way.
    #[inline(always)]
    fn look_up_line(&mut self, gpu: usize, unit: usize, entry: Entry, line: u64, time: u64) -> Option<u64> {
        let ready = self.gpus[gpu].l1.lookup(unit, line, entry.version())?;
        let done = ready.max(time + self.costs.l1);
        self.accesses.l1_hits += 1;
        self.breakdown.remote_access_ps += done - time;
        Some(done)
    }

    /// Makes lines wait if more are in flight than the GPU may have, or others wait already.
    #[inline]
    fn queue_remote(&mut self, gpu: usize, slot: usize, lines: Lines, time: u64) -> bool {
        let state = &mut self.gpus[gpu];
        let free = state.remote.available_for(lines.count(), time);
        if free <= time && state.remote_queue.is_empty() {
            return false;
        }
        if state.remote_queue.is_empty() {
            self.calendar.push(free, Event::new(Kind::RemoteQueue, gpu as u32).pack());
        }
        let Lines { run, mask, count } = lines;
        state.remote_queue.push_back(Waiting { run, mask, since: time, count, slot: slot as u32 });
        self.waves.waves[slot].pending += 1;
        true
    }

    /// The first of the lines that wait, which wait no longer; `None` if there is no room for them yet.
    pub fn next_of_queue(&mut self, gpu: usize) -> Option<Waiting> {
        let next = *self.gpus[gpu].remote_queue.front()?;
        let free = self.gpus[gpu].remote.available_for(next.count as usize, self.now);
        if free > self.now {
            self.schedule(free, Kind::RemoteQueue, gpu as u32);
            return None;
        }
        self.gpus[gpu].remote_queue.pop_front();
        // The one that is first now was asked for when it was second.
        if let Some(later) = self.gpus[gpu].remote_queue.get(1) {
            self.waves.hint_record(later.slot as usize);
        }
        Some(next)
    }

    /// Lines requested and answered together; returns when they have arrived.
    #[inline(never)]
    pub fn remote_lines(&mut self, gpu: usize, unit: usize, entry: Entry, lines: Lines, time: u64) -> u64 {
        let count = lines.count();
        self.gpus[gpu].l1.hint(unit, lines.run.line());
        let free = self.gpus[gpu].units[unit].misses.available_for(count, time);
        let done = self.travel(gpu, entry.target(), lines, free);
        self.breakdown.remote_access_ps += (done - time) * count as u64;
        let state = &mut self.gpus[gpu];
        state.units[unit].misses.take_for(count, done);
        if !lines.run.is_write() {
            for line in lines.iter() {
                state.l1.insert(unit, line, entry.version(), done);
            }
        }
        done
    }

    /// One line that is not in the first level, requested and answered by itself; returns when it has arrived.
    pub fn remote_line(&mut self, gpu: usize, owner: ProcessorId, run: Run, time: u64) -> u64 {
        let lines = Lines { run, mask: 1, count: 1 };
        self.travel(gpu, owner, lines, time)
    }

    /// Request, service and answer of lines of one page.
    #[inline(always)]
    fn travel(&mut self, gpu: usize, owner: ProcessorId, lines: Lines, time: u64) -> u64 {
        let (own, count) = (ProcessorId::gpu(gpu), lines.count());
        if let Some(owner) = owner.gpu_index() {
            self.gpus[owner].l2.hint(lines.run.line());
        }
        let start = self.gpus[gpu].remote.available_for(count, time);
        let header = self.costs.header_bytes;
        let (request, answer) = if lines.run.is_write() { (header + LINE, header) } else { (header, header + LINE) };
        let arrived = self.links.send(self.now, start, (own, owner), request * count as u64, Traffic::Lines);
        let served = self.serve_at_owner(owner, lines, arrived);
        let left = self.links.send(self.now, served, (owner, own), answer * count as u64, Traffic::Lines);
        let done = left + self.costs.l1_fill;
        let page = (lines.run.line() >> self.page_line_shift) as u32;
        self.count_remote(gpu, page, owner, count as u32, done);
        self.gpus[gpu].remote.take_for(count, done);
        done
    }

    /// The owner's caches and memory; returns when the last line is ready to travel.
    #[inline]
    fn serve_at_owner(&mut self, owner: ProcessorId, lines: Lines, time: u64) -> u64 {
        let Some(owner) = owner.gpu_index() else { return time + self.costs.host_memory };
        let access = lines.run.line_access();
        lines.iter().fold(time, |last, line| last.max(self.l2_line(owner, line, access, time)))
    }
}
