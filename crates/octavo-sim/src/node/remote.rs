//! Lines in another processor's memory: requests and answers over the links, cached in the first level only.

use octavo_manager::ProcessorId;

use super::Node;
use super::access::Run;
use super::event::{Event, Kind};
use crate::links::Traffic;
use crate::translate::Entry;

/// Bytes of a line on a link, without its header.
const LINE: u64 = 64;

/// Up to 64 lines of one page that have to travel: bit `i` of the mask is line `first + i`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines {
    first: u64,
    mask: u64,
    write: bool,
    partial: bool,
}

impl Lines {
    fn count(self) -> usize {
        self.mask.count_ones() as usize
    }

    fn run(self, line: u64) -> Run {
        Run { line, count: 1, write: self.write, partial: self.partial }
    }

    /// From one set bit to the next: most instructions have one line here.
    #[inline]
    fn iter(self) -> impl Iterator<Item = u64> {
        let mut left = self.mask;
        std::iter::from_fn(move || {
            let line = (left != 0).then(|| self.first + u64::from(left.trailing_zeros()));
            left &= left.wrapping_sub(1);
            line
        })
    }
}

/// Lines that wait until fewer are in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    lines: Lines,
    slot: u32,
    since: u64,
}

impl Node<'_> {
    /// Serves lines of one page from the memory `entry` leads to; returns when the last is there. If too many lines
    /// are in flight, those that are not cached wait in the GPU's queue.
    pub fn serve_remote(&mut self, slot: usize, entry: Entry, run: Run, time: u64) -> u64 {
        let together = self.lines_together();
        let (mut last, mut begun) = (time, 0);
        while begun < run.count {
            let count = (run.count - begun).min(together);
            let part = Run { line: run.line + u64::from(begun), count, ..run };
            last = last.max(self.serve_together(slot, entry, part, time + u64::from(begun) * self.costs.line));
            begun += count;
        }
        last
    }

    /// Serves lines that may travel together.
    fn serve_together(&mut self, slot: usize, entry: Entry, run: Run, time: u64) -> u64 {
        let (missing, cached) = self.look_up_remote(slot, entry, run, time);
        if missing.mask == 0 {
            return cached;
        }
        let sent = time + u64::from(run.count - 1) * self.costs.line + self.costs.l1_lookup;
        self.breakdown.remote_access_ps += missing.count() as u64 * self.costs.l1_lookup;
        if self.queue_remote(slot, missing, sent) {
            return cached;
        }
        cached.max(self.remote_lines(slot, entry, missing, sent))
    }

    /// Lines that may travel together: as many as a mask holds and as may be in flight.
    fn lines_together(&self) -> u32 {
        match self.config.remote.lines_in_flight {
            0 => u64::BITS,
            limit => limit.min(u64::BITS),
        }
    }

    /// Looks up to 64 lines up in the first level, which stores pass through. Returns what is not there, and when
    /// the last of the others is.
    fn look_up_remote(&mut self, slot: usize, entry: Entry, run: Run, time: u64) -> (Lines, u64) {
        let (gpu, unit) = self.place(slot);
        let all = u64::MAX >> (u64::BITS - run.count);
        let mut missing = Lines { first: run.line, mask: all, write: run.write, partial: run.partial };
        let mut last = time;
        if run.write {
            return (missing, last);
        }
        for index in 0..u64::from(run.count) {
            let Some(ready) = self.gpus[gpu].l1.lookup(unit, run.line + index, entry.version()) else { continue };
            let start = time + index * self.costs.line;
            let done = ready.max(start + self.costs.l1);
            self.accesses.l1_hits += 1;
            self.breakdown.remote_access_ps += done - start;
            missing.mask &= !(1 << index);
            last = last.max(done);
        }
        (missing, last)
    }

    /// Makes lines wait if more are in flight than the GPU may have, or others wait already.
    fn queue_remote(&mut self, slot: usize, lines: Lines, time: u64) -> bool {
        let (gpu, _) = self.place(slot);
        let state = &mut self.gpus[gpu];
        let free = state.remote.available_for(lines.count(), time);
        if free <= time && state.remote_queue.is_empty() {
            return false;
        }
        if state.remote_queue.is_empty() {
            self.calendar.push(free, Event::new(Kind::RemoteQueue, gpu as u32).pack());
        }
        state.remote_queue.push_back(Waiting { lines, slot: slot as u32, since: time });
        self.waves.waves[slot].pending += 1;
        true
    }

    /// Remote lines have arrived: those that waited go on while there is room.
    pub fn remote_queue(&mut self, gpu: usize) {
        while let Some(&next) = self.gpus[gpu].remote_queue.front() {
            let free = self.gpus[gpu].remote.available_for(next.lines.count(), self.now);
            if free > self.now {
                return self.schedule(free, Kind::RemoteQueue, gpu as u32);
            }
            self.gpus[gpu].remote_queue.pop_front();
            self.leave_queue(next);
            self.end_pending(next.slot as usize);
        }
    }

    /// Lines that waited travel now, unless their page has moved meanwhile: then they begin anew.
    fn leave_queue(&mut self, waiting: Waiting) {
        let Waiting { lines, slot, since } = waiting;
        let slot = slot as usize;
        let (gpu, unit) = self.place(slot);
        let time = self.issue_time(gpu, unit);
        self.breakdown.remote_access_ps += time.saturating_sub(since) * lines.count() as u64;
        let entry = self.gpus[gpu].table.get((lines.first >> self.page_line_shift) as u32);
        let remote = entry.allows(lines.write) && entry.target() != ProcessorId::gpu(gpu);
        if remote && !(lines.write && entry.is_broadcast()) {
            let done = self.remote_lines(slot, entry, lines, time);
            return self.note_done(slot, done);
        }
        for line in lines.iter() {
            self.access_page(gpu, unit, slot, lines.run(line), time);
        }
    }

    /// Lines requested and answered together; returns when they have arrived.
    fn remote_lines(&mut self, slot: usize, entry: Entry, lines: Lines, time: u64) -> u64 {
        let (gpu, unit) = self.place(slot);
        let count = lines.count();
        let free = self.gpus[gpu].units[unit].misses.available_for(count, time);
        let done = self.travel(gpu, entry.target(), lines, free);
        self.breakdown.remote_access_ps += (done - time) * count as u64;
        let state = &mut self.gpus[gpu];
        state.units[unit].misses.take_for(count, done);
        if !lines.write {
            for line in lines.iter() {
                state.l1.insert(unit, line, entry.version(), done);
            }
        }
        done
    }

    /// One line that is not in the first level, requested and answered by itself; returns when it has arrived.
    pub fn remote_line(&mut self, gpu: usize, owner: ProcessorId, run: Run, time: u64) -> u64 {
        let lines = Lines { first: run.line, mask: 1, write: run.write, partial: run.partial };
        self.travel(gpu, owner, lines, time)
    }

    /// Request, service and answer of lines of one page.
    fn travel(&mut self, gpu: usize, owner: ProcessorId, lines: Lines, time: u64) -> u64 {
        let (own, count) = (ProcessorId::gpu(gpu), lines.count());
        let start = self.gpus[gpu].remote.available_for(count, time);
        let header = self.costs.header_bytes;
        let (request, answer) = if lines.write { (header + LINE, header) } else { (header, header + LINE) };
        let arrived = self.links.send(self.now, start, (own, owner), request * count as u64, Traffic::Lines);
        let served = self.serve_at_owner(owner, lines, arrived);
        let left = self.links.send(self.now, served, (owner, own), answer * count as u64, Traffic::Lines);
        let done = left + self.costs.l1_fill;
        let page = (lines.first >> self.page_line_shift) as u32;
        self.count_remote(gpu, page, owner, count as u32, done);
        self.gpus[gpu].remote.take_for(count, done);
        done
    }

    /// The owner's caches and memory; returns when the last line is ready to travel.
    #[inline]
    fn serve_at_owner(&mut self, owner: ProcessorId, lines: Lines, time: u64) -> u64 {
        let Some(owner) = owner.gpu_index() else { return time + self.costs.host_memory };
        let mut last = time;
        for line in lines.iter() {
            last = last.max(self.l2_line(owner, line, lines.run(line).line_access(), time));
        }
        last
    }
}
