//! Lines with a known translation: from the GPU's own memory, from another processor's, or in order.

use octavo_manager::MemoryId;

use crate::gpu::caches::line_access::LineAccess;
use crate::gpu::path::access::Served;
use crate::gpu::run::Run;
use crate::gpu::translate::entry::Entry;
use crate::gpu::units::stalls::Request;
use crate::machine::hardware::Hardware;
use crate::machine::occurrence::{Happening, Listen, Spent};

impl<L: Listen> Hardware<'_, L> {
    /// Serves lines of one page whose translation arrives at `time`.
    #[inline(always)]
    pub(super) fn serve_translated(&mut self, gpu: usize, unit: usize, slot: usize, entry: Entry, run: Run, time: u64) {
        self.say(Happening::Accessed { gpu, page: self.page_of(run.line()), write: run.is_write() });
        let own = entry.target() == MemoryId::gpu(gpu);
        let (done, queued) = if self.serves_specially || run.is_write() && entry.is_broadcast() {
            let before = self.accesses.queued;
            let done = self.serve_specially(gpu, unit, slot, entry, run, time);
            (done, self.accesses.queued - before)
        } else if own {
            self.serve_local(gpu, unit, entry, run, time)
        } else {
            (self.serve_remote(gpu, unit, slot, entry, run, time), 0)
        };
        self.say(Happening::UnderWay { gpu, page: self.page_of(run.line()), until: done });
        let request = match own {
            true => self.request((self.page_of(run.line()), run.is_write(), true), time, queued),
            false => self.remote_request(gpu, entry, run, (time, done)),
        };
        self.note_done((gpu, unit), slot, run.count(), done, request);
    }

    /// Lines of caches that serve in order or have no tags, and stores that go to every replica of their page.
    #[inline(never)]
    fn serve_specially(&mut self, gpu: usize, unit: usize, slot: usize, entry: Entry, run: Run, time: u64) -> u64 {
        let local = entry.target() == MemoryId::gpu(gpu);
        if run.is_write() && entry.is_broadcast() {
            let done = if local { self.serve_own(gpu, unit, entry, run, time) } else { time + self.costs.l1_lookup };
            return self.broadcast_stores(gpu, run, done);
        }
        if self.config.l1.in_order {
            return self.serve_in_order(gpu, unit, entry, run, time);
        }
        if local {
            self.serve_own(gpu, unit, entry, run, time)
        } else {
            self.serve_remote(gpu, unit, slot, entry, run, time)
        }
    }

    /// Lines of the own memory, with or without tags.
    fn serve_own(&mut self, gpu: usize, unit: usize, entry: Entry, run: Run, time: u64) -> u64 {
        if self.settling.is_some() {
            self.settle_local(gpu, run, time)
        } else {
            self.serve_local(gpu, unit, entry, run, time).0
        }
    }

    /// Lines of the own memory, and how long the last to arrive waited for its turn.
    #[inline(always)]
    fn serve_local(&mut self, gpu: usize, unit: usize, entry: Entry, run: Run, time: u64) -> (u64, u64) {
        let Self { clock, costs, gpus, accesses, .. } = self;
        let served = gpus[gpu].serve_local(unit, entry, run, (clock.now(), time), costs, accesses);
        let Served { last, spent, queued, beyond_l1 } = served;
        self.say(Happening::Spent(Spent::Local, spent));
        self.reports.count(gpu, self.page_of(run.line()), beyond_l1);
        (last, queued)
    }

    /// An access of this many lines of the wavefront in `slot` of a unit will end at `done`. The wavefront does not
    /// wait for stores that are posted.
    #[inline]
    pub(super) fn note_done(
        &mut self,
        (gpu, unit): (usize, usize),
        slot: usize,
        lines: u32,
        done: u64,
        request: Request,
    ) {
        let unit = self.gpus[gpu].unit(unit);
        let answered = if self.config.compute.answers_in_order {
            unit.note_done_in_order(done, u64::from(lines) * self.costs.answer)
        } else {
            unit.note_done(done);
            done
        };
        // What waits for earlier answers waits for its turn.
        let request = Request { queued: request.queued + (answered - done), ..request };
        if !(request.write && self.config.compute.posted_stores) {
            self.waves.note_answer(slot, answered, request.answered(answered));
        }
    }

    /// One line at the second-level cache of `gpu`, from any requester.
    #[inline]
    pub(super) fn l2_line(&mut self, gpu: usize, line: u64, access: LineAccess, time: u64) -> u64 {
        self.gpus[gpu].l2_line(self.clock.now(), line, access, time, &mut self.accesses)
    }

    /// Serves lines of one page through a first-level cache that serves strictly in order; returns when the last
    /// arrives.
    fn serve_in_order(&mut self, gpu: usize, unit: usize, entry: Entry, run: Run, time: u64) -> u64 {
        let (now, mut last, mut beyond_l1, mut spent) = (self.clock.now(), time, 0, 0);
        for index in 0..u64::from(run.count()) {
            let line = run.part(run.line() + index, 1);
            let asked = time + index * self.costs.line;
            let start = self.gpus[gpu].turn(now, unit, asked);
            let hit = if run.is_write() { None } else { self.hit_in_order((gpu, unit), line, entry, start) };
            let done = hit.unwrap_or_else(|| self.miss_in_order((gpu, unit), line, entry, start));
            self.gpus[gpu].end_in_order(now, unit, (start, done));
            beyond_l1 += u32::from(hit.is_none());
            spent += done - asked;
            last = last.max(done);
        }
        if entry.target() == MemoryId::gpu(gpu) {
            self.say(Happening::Spent(Spent::Local, spent));
            self.reports.count(gpu, self.page_of(run.line()), beyond_l1);
        } else {
            self.say(Happening::Spent(Spent::Remote, spent));
        }
        last
    }

    /// A load that is served at `time`: when it is done, if its line is in the cache or on its way.
    fn hit_in_order(&mut self, (gpu, unit): (usize, usize), run: Run, entry: Entry, time: u64) -> Option<u64> {
        let done = self.gpus[gpu].hit_in_order(unit, (run.line(), entry.version()), time, &self.costs)?;
        self.accesses.l1_hits += 1;
        Some(done)
    }

    /// A store, which also uses a line that is present, or a load that fetches its line into a free way.
    fn miss_in_order(&mut self, (gpu, unit): (usize, usize), run: Run, entry: Entry, time: u64) -> u64 {
        let looked_up = time + self.costs.l1_lookup;
        if run.is_write() {
            let sent = self.gpus[gpu].store_in_order(unit, (run.line(), entry.version()), looked_up, &self.costs);
            return self.beyond_first_level(gpu, run, entry, sent);
        }
        let sent = self.gpus[gpu].room_in_order(unit, run.line(), looked_up, &self.costs);
        let done = self.beyond_first_level(gpu, run, entry, sent);
        self.gpus[gpu].enter_in_order(unit, (run.line(), entry.version()), done, sent);
        done
    }

    /// One line at the memory of `entry`; returns when the wavefront has it, or the answer to its store.
    fn beyond_first_level(&mut self, gpu: usize, run: Run, entry: Entry, time: u64) -> u64 {
        if entry.target() == MemoryId::gpu(gpu) {
            self.l2_line(gpu, run.line(), run.line_access(), time) + self.costs.l1_fill
        } else {
            self.remote_line(gpu, entry.target(), run, time)
        }
    }

    /// The scalar cache of a compute unit.
    pub(super) fn scalar_cache(&self, unit: usize) -> usize {
        unit / self.config.scalar.units as usize
    }

    /// Serves a line of a scalar load of the wavefront in `slot`, whose translation arrives at `time`.
    pub(super) fn serve_scalar(&mut self, (gpu, unit): (usize, usize), slot: usize, entry: Entry, run: Run, time: u64) {
        let (cache, now, before) = (self.scalar_cache(unit), self.clock.now(), self.accesses.queued);
        self.say(Happening::Accessed { gpu, page: self.page_of(run.line()), write: false });
        let start = self.gpus[gpu].begin_scalar(cache, now, time);
        let answer = self.scalar_answer((gpu, cache), entry, run, start);
        let done = self.gpus[gpu].end_scalar((unit, cache), now, (start, answer), &self.costs);
        self.say(Happening::UnderWay { gpu, page: self.page_of(run.line()), until: done });
        self.gpus[gpu].unit(unit).note_scalar_done(done);
        let own = entry.target() == MemoryId::gpu(gpu);
        let queued = self.accesses.queued - before + (start - time);
        let request = self.request((self.page_of(run.line()), false, own), time, queued);
        self.waves.note_answer(slot, done, request.answered(done));
    }

    /// The answer of a line that the scalar cache accepts at `time`.
    fn scalar_answer(&mut self, (gpu, cache): (usize, usize), entry: Entry, run: Run, time: u64) -> u64 {
        let (line, version) = (run.line(), entry.version());
        if let Some(there) = self.gpus[gpu].look_up_scalar(cache, line, version, time, &self.costs) {
            return there;
        }
        let done = self.scalar_miss(gpu, run, entry, time + self.costs.scalar_lookup);
        self.gpus[gpu].enter_scalar(cache, line, version, done);
        done
    }

    /// A line that the scalar cache does not have, from the own second level or another processor's memory.
    fn scalar_miss(&mut self, gpu: usize, run: Run, entry: Entry, time: u64) -> u64 {
        if entry.target() == MemoryId::gpu(gpu) {
            let done = self.l2_line(gpu, run.line(), LineAccess::Load, time) + self.costs.scalar_fill;
            self.say(Happening::Spent(Spent::Local, done - time));
            self.reports.count(gpu, self.page_of(run.line()), 1);
            return done;
        }
        let done = self.remote_line(gpu, entry.target(), run, time);
        self.say(Happening::Spent(Spent::Remote, done - time));
        done
    }
}
