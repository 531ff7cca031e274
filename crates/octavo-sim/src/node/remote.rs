//! Lines in another processor's memory: requests and answers over the links, cached in the first level only.

use octavo_manager::ProcessorId;

use super::Node;
use super::access::Run;
use crate::links::Traffic;

/// Bytes of a line on a link, without its header.
const LINE: u64 = 64;
/// Lines that travel together at most.
const BATCH: usize = 16;

impl Node<'_> {
    /// Serves lines of one page from `owner`'s memory; returns when the last is there.
    pub fn serve_remote(&mut self, gpu: usize, unit: usize, page: u32, owner: ProcessorId, run: Run, time: u64) -> u64 {
        let mut last = time;
        let mut missing = [0; BATCH];
        let (mut line, end) = (run.line, run.line + u64::from(run.count));
        while line < end {
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
            if count > 0 {
                let sent = time + (line - 1 - run.line) * self.costs.line + self.costs.l1;
                let done = self.remote_lines(gpu, unit, owner, &missing[..count], run.write, sent);
                self.breakdown.remote_access_ps += (done + self.costs.l1 - sent) * count as u64;
                self.count_remote(gpu, page, owner, count as u32, done);
                last = last.max(done);
            }
        }
        last
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
