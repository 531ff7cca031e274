//! Lines in another processor's memory: requests and answers over the links, cached in the first level only.

use octavo_manager::ProcessorId;

use super::Node;
use super::access::Run;
use super::defer::Deferred;
use super::event::{Event, Kind};
use crate::links::Traffic;

/// Bytes of a line on a link, without its header.
const LINE: u64 = 64;
/// Lines that travel together at most.
const BATCH: usize = 16;

impl Node<'_> {
    /// Serves lines of one page from `owner`'s memory; returns when the last is there. If too many lines are in
    /// flight, those that are not cached wait in the GPU's queue.
    pub fn serve_remote(&mut self, slot: usize, owner: ProcessorId, run: Run, time: u64) -> u64 {
        let (gpu, unit) = self.place(slot);
        let mut last = time;
        let mut missing = [0; BATCH];
        let (mut line, end) = (run.line, run.line + u64::from(run.count));
        while line < end {
            let first = line;
            let mut count = 0;
            while line < end && count < BATCH {
                let start = time + (line - run.line) * self.costs.line;
                match self.lookup_remote(gpu, unit, line, run.write) {
                    Some(ready) => {
                        let done = ready.max(start + self.costs.l1);
                        self.breakdown.remote_access_ps += done - start;
                        last = last.max(done);
                    }
                    None => {
                        missing[count] = line;
                        count += 1;
                    }
                }
                line += 1;
            }
            let sent = time + (line - 1 - run.line) * self.costs.line + self.costs.l1;
            let rest = Run { line: first, count: (line - first) as u32, write: run.write };
            if count > 0 && !self.queue_remote(slot, rest, count, sent) {
                last = last.max(self.remote_lines(gpu, unit, owner, &missing[..count], run.write, sent));
            }
        }
        last
    }

    /// Makes an access wait if more remote lines are in flight than the GPU may have, or others wait already.
    fn queue_remote(&mut self, slot: usize, run: Run, lines: usize, time: u64) -> bool {
        let (gpu, _) = self.place(slot);
        let state = &mut self.gpus[gpu];
        let free = state.remote.available_for(lines, time);
        if state.serving_queue || (free <= time && state.remote_queue.is_empty()) {
            return false;
        }
        if state.remote_queue.is_empty() {
            self.calendar.push(free, Event::new(Kind::RemoteQueue, gpu as u32).pack());
        }
        state.remote_queue.push_back(Deferred { run, slot: slot as u32, since: time });
        self.waves.waves[slot].pending += 1;
        true
    }

    /// Remote lines have arrived: those that waited go on while there is room.
    pub fn remote_queue(&mut self, gpu: usize) {
        while let Some(&next) = self.gpus[gpu].remote_queue.front() {
            let free = self.gpus[gpu].remote.available_for(BATCH.min(next.run.count as usize), self.now);
            if free > self.now {
                return self.schedule(free, Kind::RemoteQueue, gpu as u32);
            }
            self.gpus[gpu].remote_queue.pop_front();
            self.breakdown.remote_access_ps += self.now.saturating_sub(next.since) * u64::from(next.run.count);
            self.gpus[gpu].serving_queue = true;
            self.access_translated(next);
            self.gpus[gpu].serving_queue = false;
            self.end_pending(next.slot as usize);
        }
    }

    /// When a remote line is in the first-level cache; `None` for stores, which go through.
    #[inline]
    fn lookup_remote(&mut self, gpu: usize, unit: usize, line: u64, write: bool) -> Option<u64> {
        if write {
            return None;
        }
        let ready = self.gpus[gpu].l1.lookup(unit, line)?;
        self.accesses.l1_hits += 1;
        Some(ready)
    }

    /// Lines of one instruction, requested and answered together; returns when they have arrived.
    fn remote_lines(
        &mut self,
        gpu: usize,
        unit: usize,
        owner: ProcessorId,
        lines: &[u64],
        write: bool,
        time: u64,
    ) -> u64 {
        let own = ProcessorId::gpu(gpu);
        let count = lines.len();
        let free = self.gpus[gpu].units[unit].misses.available_for(count, time);
        let start = self.gpus[gpu].remote.available_for(count, free);
        let header = self.costs.header_bytes;
        let (request, answer) = if write { (header + LINE, header) } else { (header, header + LINE) };
        let arrived = self.links.send(self.now, start, (own, owner), request * count as u64, Traffic::Lines);
        let served = self.serve_at_owner(owner, lines, write, arrived);
        let done = self.links.send(self.now, served, (owner, own), answer * count as u64, Traffic::Lines);
        self.breakdown.remote_access_ps += (done + self.costs.l1 - time) * count as u64;
        let page = (lines[0] >> self.page_line_shift) as u32;
        self.count_remote(gpu, page, owner, count as u32, done);
        let state = &mut self.gpus[gpu];
        state.remote.take_for(count, done);
        state.units[unit].misses.take_for(count, done);
        if !write {
            for &line in lines {
                state.l1.insert(unit, line, done);
            }
        }
        done
    }

    /// The owner's caches and memory; returns when the last line is ready to travel.
    #[inline]
    fn serve_at_owner(&mut self, owner: ProcessorId, lines: &[u64], write: bool, time: u64) -> u64 {
        let Some(owner) = owner.gpu_index() else { return time + self.costs.host_memory };
        let mut last = time;
        for &line in lines {
            last = last.max(self.l2_line(owner, line, write, time));
        }
        last
    }
}
