//! Lines in another processor's memory: requests and answers over the links, cached in the first level only.

use octavo_manager::{HOST_MEMORY, MemoryId, ProcessorId};
use octavo_program::LINE_BYTES;

use crate::cpu::first_memory::Passed;
use crate::engine::event::Kind;
use crate::fabric::links::Traffic;
use crate::gpu::path::lines::{Lines, Waiting};
use crate::gpu::path::remote_queue::{Found, Queued, Turn};
use crate::gpu::run::Run;
use crate::gpu::translate::entry::Entry;
use crate::gpu::units::stalls::Request;
use crate::machine::hardware::Hardware;
use crate::machine::occurrence::{Happening, Listen, Spent};

impl<L: Listen> Hardware<'_, L> {
    /// Serves lines of one page from the memory that `entry` leads to; returns when the last arrives. If too many lines
    /// are in flight, those that are not cached wait in the GPU's queue.
    #[inline(never)]
    pub(super) fn serve_remote(
        &mut self,
        gpu: usize,
        unit: usize,
        slot: usize,
        entry: Entry,
        run: Run,
        time: u64,
    ) -> u64 {
        let together = self.lines_together(run);
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
        let Self { costs, gpus, accesses, .. } = self;
        let Found { missing, last: cached, spent } = gpus[gpu].look_up_remote(unit, entry, run, time, costs, accesses);
        self.say(Happening::Spent(Spent::Remote, spent));
        if missing.is_empty() {
            return cached;
        }
        let sent = time + u64::from(run.count() - 1) * self.costs.line + self.costs.l1_lookup;
        self.say(Happening::Spent(Spent::Remote, missing.count() as u64 * self.costs.l1_lookup));
        if self.queue_remote(gpu, slot, missing, sent) {
            return cached;
        }
        cached.max(self.remote_lines(gpu, unit, entry, missing, sent))
    }

    /// Lines that may move together: as many as a mask holds and as may be in flight.
    #[inline]
    fn lines_together(&self, run: Run) -> u32 {
        match self.config.remote.lines_in_flight {
            _ if self.is_posted(run) => u64::BITS,
            0 => u64::BITS,
            limit => limit.min(u64::BITS),
        }
    }

    /// Makes lines wait if more are in flight than the GPU may have, or others wait already.
    #[inline]
    fn queue_remote(&mut self, gpu: usize, slot: usize, lines: Lines, time: u64) -> bool {
        if self.is_posted(lines.run) {
            return false;
        }
        match self.gpus[gpu].queue_remote(slot, lines, (self.clock.now(), time)) {
            Queued::No => return false,
            Queued::Behind => {}
            Queued::First(free) => self.clock.schedule(free, Kind::RemoteQueue, gpu as u32),
        }
        self.waves.begin_pending(slot);
        true
    }

    /// Posted writes need no answer, so they take no place of those that are in flight.
    #[inline(always)]
    fn is_posted(&self, run: Run) -> bool {
        self.config.compute.posted_stores && run.is_write()
    }

    /// The first of the lines that wait, which wait no longer; `None` if there is no room for them yet.
    pub(super) fn next_of_queue(&mut self, gpu: usize) -> Option<Waiting> {
        match self.gpus[gpu].next_remote(self.clock.now()) {
            Turn::Nobody => None,
            Turn::NotBefore(free) => {
                self.clock.schedule(free, Kind::RemoteQueue, gpu as u32);
                None
            }
            Turn::Of(next, later) => {
                // The first one's record was prefetched when it was second.
                if let Some(slot) = later {
                    self.waves.hint_record(slot as usize);
                }
                Some(next)
            }
        }
    }

    /// Lines requested and answered together; returns when they have arrived.
    #[inline(never)]
    pub(super) fn remote_lines(&mut self, gpu: usize, unit: usize, entry: Entry, lines: Lines, time: u64) -> u64 {
        let now = self.clock.now();
        let free = self.gpus[gpu].begin_misses(unit, lines, (now, time));
        let done = self.travel(gpu, entry.target(), lines, free);
        self.say(Happening::Spent(Spent::Remote, (done - time) * lines.count() as u64));
        self.gpus[gpu].end_misses(now, unit, entry, lines, (free, done));
        done
    }

    /// An access to lines of another processor's memory, known at `time`, that arrive at `done`: what it takes longer
    /// than alone, it waits for its turn.
    #[inline]
    pub(super) fn remote_request(&self, gpu: usize, entry: Entry, run: Run, (time, done): (u64, u64)) -> Request {
        let queued = (done - time).saturating_sub(self.idle_remote(gpu, entry.target(), run));
        self.request((self.page_of(run.line()), run.is_write(), false), time, queued)
    }

    /// The time of lines of another processor's memory that wait for no others.
    fn idle_remote(&self, gpu: usize, owner: MemoryId, run: Run) -> u64 {
        let (own, count) = (ProcessorId::gpu(gpu), u64::from(run.count()));
        let lone = (run.line() & 1) + ((run.line() + count) & 1);
        let (request, answer) = self.packets(owner, run.is_write(), (count, lone));
        let there = self.links.idle((own, owner.processor()), request);
        let back = self.links.idle((owner.processor(), own), answer);
        let served = if owner.gpu_index().is_some() {
            self.costs.memory
        } else if owner == HOST_MEMORY {
            self.costs.host_memory
        } else {
            self.links.memories.idle(owner, count * LINE_BYTES)
        };
        self.costs.l1_lookup + count * self.costs.line + there + served + back + self.costs.l1_fill
    }

    /// Bytes of the requests and of the answers for `count` lines, of which `lone` come without their other half.
    #[inline]
    fn packets(&self, owner: MemoryId, write: bool, (count, lone): (u64, u64)) -> (u64, u64) {
        let headers = self.costs.header_bytes * count;
        let lone = if owner.gpu_index().is_none() { self.costs.lone_bytes * lone } else { 0 };
        let data = headers + LINE_BYTES * count + lone;
        if write { (data, headers) } else { (headers, data) }
    }

    /// One line that is not in the first level, requested and answered by itself; returns when it has arrived.
    pub(super) fn remote_line(&mut self, gpu: usize, owner: MemoryId, run: Run, time: u64) -> u64 {
        self.travel(gpu, owner, Lines::first_of(run), time)
    }

    /// Request, service and answer of lines of one page.
    #[inline(always)]
    fn travel(&mut self, gpu: usize, owner: MemoryId, lines: Lines, time: u64) -> u64 {
        let (own, count) = (ProcessorId::gpu(gpu), lines.count());
        if let Some(owner) = owner.gpu_index() {
            self.gpus[owner].hint_line(lines.run.line());
        }
        let now = self.clock.now();
        let posted = self.is_posted(lines.run);
        let start = if posted { time } else { self.gpus[gpu].begin_travel(count, (now, time)) };
        let lone = if self.costs.lone_bytes > 0 { lines.lone() } else { 0 };
        let (request, answer) = self.packets(owner, lines.run.is_write(), (count as u64, lone));
        let arrived = self.links.send(now, start, (own, owner.processor()), request, Traffic::Lines);
        let served = self.serve_at_owner(owner, lines, arrived);
        let left = self.links.send(now, served, (owner.processor(), own), answer, Traffic::Lines);
        let done = left + self.costs.l1_fill;
        let page = self.page_of(lines.run.line());
        self.count_remote(gpu, page, owner, count as u32, done);
        if !posted {
            self.gpus[gpu].end_travel(now, count, (start, done));
        }
        done
    }

    /// The owner's caches and memory; returns when the last line is ready to travel.
    #[inline(always)]
    fn serve_at_owner(&mut self, owner: MemoryId, lines: Lines, time: u64) -> u64 {
        let Some(owner) = owner.gpu_index() else { return self.serve_on_host(owner, lines, time) };
        let access = lines.run.line_access();
        lines.iter().fold(time, |last, line| last.max(self.l2_line(owner, line, access, time)))
    }

    /// Memory of the host: the first has a latency, and a bandwidth where coherent GPUs share it with cores; the others
    /// have both.
    #[inline(never)]
    fn serve_on_host(&mut self, memory: MemoryId, lines: Lines, time: u64) -> u64 {
        let bytes = lines.count() as u64 * LINE_BYTES;
        if memory != HOST_MEMORY {
            return self.links.memories.access(self.clock.now(), time, memory, bytes, Traffic::Lines);
        }
        if self.system.is_none() {
            return time + self.costs.host_memory;
        }
        let passed = if lines.run.is_write() { Passed::written(bytes) } else { Passed::read(bytes) };
        self.first_memory.begin(self.clock.now(), time, passed) + self.costs.host_memory
    }
}
