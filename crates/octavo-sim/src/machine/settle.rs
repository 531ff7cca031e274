//! Fidelity `page`: a wavefront's operations on the own GPU's memory, settled without cache tags and ahead of the
//! clock. All other parts of an operation happen at their own times, as at fidelity `line`.

use octavo_manager::MemoryId;
use octavo_program::{Op, OpKind};

use crate::gpu::caches::line_access::LineAccess;
use crate::gpu::caches::settled::Together;
use crate::gpu::run::Run;
use crate::gpu::stand_ins::Segment;
use crate::gpu::translate::entry::Entry;
use crate::gpu::units::issue::Stop;
use crate::gpu::units::stalls::Tally;
use crate::gpu::units::wave::Next;
use crate::machine::hardware::Hardware;
use crate::machine::issue::AHEAD;
use crate::machine::node::Node;
use crate::machine::occurrence::{Happening, Listen, Spent};

/// Where a wavefront runs.
#[derive(Clone, Copy)]
struct Place {
    gpu: usize,
    unit: usize,
    slot: usize,
}

impl<L: Listen> Node<'_, L> {
    /// Like `run_wave`, at fidelity `page`.
    #[inline(never)]
    pub(super) fn settle_wave(&mut self, slot: usize, op: u16) {
        self.run_wave_by(slot, op, Self::issue_settled);
    }

    /// Issues operations from `next` on, and processes pending ones when it stops.
    fn issue_settled(&mut self, (gpu, unit): (usize, usize), slot: usize, next: &mut Next, _: &mut Tally) -> Stop {
        let place = Place { gpu, unit, slot };
        let mut segment = Segment::begin(self.hardware.clock.now());
        match self.issue_segments(place, next, &mut segment) {
            Stop::Until(time) => Stop::Until(self.hardware.settle(place, &mut segment, time)),
            Stop::Barrier(time) => Stop::Barrier(self.hardware.settle(place, &mut segment, time)),
            stop => stop,
        }
    }

    /// Issues operations from `next` on, through waits, until one has to wait for its time or for others.
    fn issue_segments(&mut self, place: Place, next: &mut Next, segment: &mut Segment) -> Stop {
        let (now, ahead) = (self.hardware.clock.now(), self.hardware.settled_ahead());
        let mut time = now;
        while time <= now + ahead {
            let Some(op) = self.hardware.waves.op(place.slot, *next) else {
                *next = self.refill(place.slot);
                continue;
            };
            let after = match op.kind() {
                OpKind::Load | OpKind::Store => self.settle_memory(place, segment, time, op),
                OpKind::Compute => Ok(self.hardware.settle_compute(place, segment, time, op)),
                OpKind::Wait => self.settle_wait(place, segment, time, op),
                OpKind::ScalarLoad if time <= now + AHEAD => {
                    Ok(self.scalar_load((place.gpu, place.unit), place.slot, time, op, &mut Tally::default()))
                }
                OpKind::Fetch if time <= now + AHEAD => {
                    Ok(self.hardware.run_on(place.slot, time, op, &mut Tally::default()))
                }
                OpKind::ScalarLoad | OpKind::Fetch => Err(Stop::Until(time)),
                OpKind::Barrier => {
                    next.op += 1;
                    return Stop::Barrier(time);
                }
                OpKind::End => {
                    time = self.hardware.settle(place, segment, time);
                    return self.wait(place.slot, time, op.count()).unwrap_or(Stop::End);
                }
            };
            match after {
                Ok(after) => time = after,
                Err(stop) => return stop,
            }
            next.op += 1;
        }
        Stop::Until(time)
    }

    /// A wait ends at some later time, or the wavefront sleeps and then tries again.
    #[inline]
    fn settle_wait(&mut self, place: Place, segment: &mut Segment, time: u64, op: Op) -> Result<u64, Stop> {
        let time = self.hardware.settle(place, segment, time);
        let after = match self.wait(place.slot, time, op.count()) {
            None => time,
            Some(Stop::Until(ready)) => ready.max(time),
            Some(stop) => return Err(stop),
        };
        segment.began = after;
        Ok(after)
    }

    /// Issues the lines of one memory operation; returns when the last was issued, or that it has to be retried.
    #[inline]
    fn settle_memory(&mut self, place: Place, segment: &mut Segment, time: u64, op: Op) -> Result<u64, Stop> {
        let hardware = &mut self.hardware;
        let in_time = time <= hardware.clock.now() + AHEAD;
        let own = hardware.own_page(place, op, time);
        // A page that never left has no version: it is not contended.
        if !in_time && own.is_none_or(|entry| entry.version() > 0) {
            return Err(Stop::Until(time));
        }
        let over = time + u64::from(op.count()) * hardware.costs.line;
        segment.pipeline += over - time;
        let entered = time + hardware.costs.memory_pipeline;
        if own.is_some() {
            hardware.settle_hit(place, segment, Run::of(op), over);
        } else if op.is_ragged() {
            self.access_ragged(place.gpu, place.unit, place.slot, op, entered);
        } else {
            self.access(place.gpu, place.unit, place.slot, Run::of(op), entered);
        }
        let after = if op.continues() { over } else { over.max(time + self.hardware.costs.memory_issue) };
        Ok(self.hardware.settle_instruction(place, segment, op, after))
    }
}

impl<L: Listen> Hardware<'_, L> {
    /// How far ahead of the clock a wavefront proceeds: if translation has limits of its own, no further than usual.
    fn settled_ahead(&self) -> u64 {
        match &self.settling {
            Some(settling) if self.plain_translation => settling.ahead.max(AHEAD),
            _ => AHEAD,
        }
    }

    /// The entry of the one page of an operation, if it is in the own memory, may be accessed so, and the unit's
    /// first-level TLB has it.
    #[inline]
    fn own_page(&mut self, Place { gpu, unit, .. }: Place, op: Op, time: u64) -> Option<Entry> {
        let page = self.page_of(op.line());
        if op.is_ragged() || !self.plain_translation || page != self.page_of(op.line() + u64::from(op.count()) - 1) {
            return None;
        }
        let entry = self.gpus[gpu].entry(page);
        let is_own = entry.target() == MemoryId::gpu(gpu) && entry.allows(op.is_store());
        if !is_own || op.is_store() && entry.is_broadcast() {
            return None;
        }
        let settling = self.settling.as_mut()?;
        if settling.remembers((gpu, unit), page) {
            return Some(entry);
        }
        let hit = self.gpus[gpu].first_level_hit(unit, page)?;
        let is_there = hit.entry.allows(op.is_store()) && hit.ready <= time;
        is_there.then(|| {
            settling.remember((gpu, unit), page);
            entry
        })
    }

    /// Lines of a page that [`Self::own_page`] has found, the last of which is issued at `time`.
    #[inline]
    fn settle_hit(&mut self, place: Place, segment: &mut Segment, run: Run, time: u64) {
        let (count, lines) = (run.count(), u64::from(run.count()));
        self.accesses.translations += 1;
        self.accesses.l1_tlb_hits += 1;
        self.say(Happening::Spent(Spent::Walk, self.costs.l1_tlb * lines));
        self.say(Happening::Accessed { gpu: place.gpu, page: self.page_of(run.line()), write: run.is_write() });
        (segment.last, segment.line) = (time, run.line());
        if run.is_write() {
            self.accesses.store_lines += lines;
            *if run.is_partial() { &mut segment.partial_stores } else { &mut segment.stores } += count;
            self.gpus[place.gpu].note_stored(run.line(), count);
            return self.reports.count(place.gpu, self.page_of(run.line()), count);
        }
        self.accesses.load_lines += lines;
        let missed = self.settling.as_mut().map_or(0, |settling| settling.missed(place.gpu, count));
        segment.loads += missed;
        segment.hits += count - missed;
        self.reports.count(place.gpu, self.page_of(run.line()), missed);
    }

    /// If waits may leave the youngest instructions outstanding, each is processed by itself.
    #[inline]
    fn settle_instruction(&mut self, place: Place, segment: &mut Segment, op: Op, time: u64) -> u64 {
        if op.continues() || !self.waves.keeps_history() {
            return time;
        }
        let time = self.settle(place, segment, time);
        self.waves.note_issued(place.slot, op);
        time
    }

    /// Processes the work of a wavefront since its last wait, and starts again; returns when it continues, `time` at
    /// the earliest.
    fn settle(&mut self, place: Place, segment: &mut Segment, time: u64) -> u64 {
        let (now, done) = (self.clock.now(), *segment);
        let Some(settling) = &mut self.settling else { return time };
        let simd = self.waves.simd(place.slot);
        let over = settling.pass_pipelines((place.gpu, place.unit, simd), now, &done).max(time);
        *segment = Segment::begin(over);
        if done.hits + done.loads + done.stores + done.partial_stores > 0 {
            let entered = done.last + (over - time) + self.costs.memory_pipeline + self.costs.l1_tlb;
            let answered = self.settle_lines(place.gpu, &done, entered);
            let lines = done.hits + done.loads + done.stores + done.partial_stores;
            let request = self.request((0, false, true), entered, 0);
            self.note_done((place.gpu, place.unit), place.slot, lines, answered, request);
        }
        over
    }

    /// Lines of the GPU's own memory whose translation is known at `time`; returns when the last arrives.
    fn settle_lines(&mut self, gpu: usize, done: &Segment, time: u64) -> u64 {
        let Self { clock, costs, gpus, accesses, .. } = self;
        accesses.l1_hits += u64::from(done.hits);
        let mut last = if done.hits > 0 { time + costs.l1 } else { time };
        let mut spent = u64::from(done.hits) * costs.l1;
        let beyond = [
            (done.loads, LineAccess::Load),
            (done.stores, LineAccess::Store),
            (done.partial_stores, LineAccess::PartialStore),
        ];
        for (count, access) in beyond.into_iter().filter(|(count, _)| *count > 0) {
            let lines = Together { line: done.line, count, access };
            let over = gpus[gpu].settle_lines(clock.now(), lines, time + costs.l1_lookup, accesses) + costs.l1_fill;
            spent += u64::from(count) * (over - time);
            last = last.max(over);
        }
        self.say(Happening::Spent(Spent::Local, spent));
        last
    }

    /// Single lines of one page of the GPU's own memory, whose translation arrives at `time`: those that waited for
    /// something. Returns the arrival of the last.
    pub(super) fn settle_local(&mut self, gpu: usize, run: Run, time: u64) -> u64 {
        let count = run.count();
        let missed = match &mut self.settling {
            Some(settling) if !run.is_write() => settling.missed(gpu, count),
            _ => count,
        };
        let mut done = Segment { line: run.line(), hits: count - missed, ..Segment::begin(time) };
        match run.line_access() {
            LineAccess::Load => done.loads = missed,
            LineAccess::Store => done.stores = missed,
            LineAccess::PartialStore => done.partial_stores = missed,
        }
        if run.is_write() {
            self.gpus[gpu].note_stored(run.line(), count);
        }
        self.reports.count(gpu, self.page_of(run.line()), missed);
        self.settle_lines(gpu, &done, time + u64::from(count - 1) * self.costs.line)
    }

    #[inline]
    fn settle_compute(&mut self, place: Place, segment: &mut Segment, time: u64, op: Op) -> u64 {
        let Self { costs, clock, settling, fetch, waves, accesses, .. } = self;
        let instructions = op.instructions();
        let vector = u64::from(instructions.vector);
        accesses.compute_instructions += vector;
        segment.simd += vector * costs.vector_alu.occupancy;
        let time = time + vector * costs.vector_alu.latency;
        if op.is_vector_only() {
            return time;
        }
        let Some(settling) = settling else { return time };
        let time = settling.execute((place.gpu, place.unit), costs, (clock.now(), time), instructions, accesses);
        fetch.branched(waves.fetcher(place.slot), time, instructions.branch, accesses)
    }
}
