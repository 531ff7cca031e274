//! The path of a line access: translation, caches, memory. The hot path of the simulator.
//!
//! What needs the driver is answered, not done: see [`crate::machine::access`].

use octavo_manager::ProcessorId;

use crate::engine::costs::Costs;
use crate::gpu::caches::line_access::LineAccess;
use crate::gpu::counts::Accesses;
use crate::gpu::run::Run;
use crate::gpu::state::Gpu;
use crate::gpu::translate::entry::Entry;
use crate::gpu::translate::first_level::FirstLevel;
use crate::gpu::translate::tlb::Tlb;
use crate::gpu::translate::translation::Translation;
use crate::machine::hardware::Hardware;

impl Hardware<'_> {
    /// Serves lines of one page whose translation is there at `time`.
    #[inline(always)]
    pub fn serve_translated(&mut self, gpu: usize, unit: usize, slot: usize, entry: Entry, run: Run, time: u64) {
        let done = if self.config.l1.in_order || run.is_write() && entry.is_broadcast() {
            self.serve_specially(gpu, unit, entry, run, time)
        } else if entry.target() == ProcessorId::gpu(gpu) {
            self.serve_local(gpu, unit, entry, run, time)
        } else {
            self.serve_remote(gpu, unit, slot, entry, run, time)
        };
        self.note_done(gpu, unit, slot, done);
    }

    /// Lines of caches that serve in order, and stores that go to every replica of their page.
    #[inline(never)]
    fn serve_specially(&mut self, gpu: usize, unit: usize, entry: Entry, run: Run, time: u64) -> u64 {
        if !(run.is_write() && entry.is_broadcast()) {
            return self.serve_in_order(gpu, unit, entry, run, time);
        }
        let local = entry.target() == ProcessorId::gpu(gpu);
        let done = if local { self.serve_local(gpu, unit, entry, run, time) } else { time + self.costs.l1_lookup };
        self.broadcast_stores(gpu, run, done)
    }

    /// An access of the wavefront in `slot` of `unit` will be over at `done`.
    #[inline]
    pub fn note_done(&mut self, gpu: usize, unit: usize, slot: usize, done: u64) {
        let in_flight = &mut self.gpus[gpu].units[unit].in_flight;
        *in_flight = (*in_flight).max(done);
        let answered = if self.config.compute.answers_in_order { *in_flight } else { done };
        let wave = &mut self.waves.waves[slot];
        wave.ready = wave.ready.max(answered);
    }

    /// When `unit` can issue: now, or when a drain is over.
    #[inline]
    pub fn issue_time(&self, gpu: usize, unit: usize) -> u64 {
        self.gpus[gpu].units[unit].paused.max(self.now)
    }

    /// Looks a page up in a first-level TLB, which `time` the lookup is over. What does not allow the access is removed.
    #[inline(always)]
    pub fn look_up_first(
        &mut self,
        gpu: usize,
        first: FirstLevel,
        page: u32,
        write: bool,
        time: u64,
    ) -> Option<Translation> {
        let (tlb, index) = self.first_level(gpu, first);
        let hit = tlb.lookup(index, page)?;
        if hit.entry.allows(write) {
            self.accesses.l1_tlb_hits += 1;
            return Some(Translation::ready(hit.entry, hit.ready.max(time)));
        }
        tlb.invalidate(index, page);
        None
    }

    #[inline(always)]
    pub fn first_level(&mut self, gpu: usize, first: FirstLevel) -> (&mut Tlb, usize) {
        let state = &mut self.gpus[gpu];
        match first {
            FirstLevel::Vector(unit) => (&mut state.l1_tlb, unit),
            FirstLevel::Scalar(cache) => (&mut state.scalar_tlb, cache),
        }
    }

    /// Looks a page up in the second-level TLB, which `time` the lookup is over; what is found is entered in the first
    /// level.
    pub fn look_up_second(
        &mut self,
        gpu: usize,
        first: FirstLevel,
        page: u32,
        write: bool,
        time: u64,
    ) -> Option<Translation> {
        if !self.plain_translation
            && let Some(found) = self.large_second_level(gpu, first, page, write, time)
        {
            return Some(found);
        }
        let state = &mut self.gpus[gpu];
        let hit = state.l2_tlb.lookup(0, page)?;
        if hit.entry.allows(write) {
            self.accesses.l2_tlb_hits += 1;
            let ready = hit.ready.max(time);
            let (tlb, index) = self.first_level(gpu, first);
            tlb.insert(index, page, hit.entry, ready);
            return Some(Translation::ready(hit.entry, ready));
        }
        state.l2_tlb.invalidate(0, page);
        None
    }

    /// Walks the page table; what is found is entered in both levels.
    pub fn walk(&mut self, gpu: usize, first: FirstLevel, page: u32, write: bool, time: u64) -> Translation {
        let walk = if self.config.walker.in_memory {
            self.walk_in_memory(gpu, page, time)
        } else {
            self.shared_walker.as_mut().unwrap_or(&mut self.gpus[gpu].walker).walk(time, page)
        };
        let state = &mut self.gpus[gpu];
        self.accesses.walks += 1;
        self.accesses.walk_levels += u64::from(walk.levels);
        let entry = state.table.get(page);
        if !entry.allows(write) {
            return Translation::fault(walk.done);
        }
        if !self.plain_translation && self.enter_walked_large(gpu, first, page, entry, walk.done) {
            return Translation::ready(entry, walk.done);
        }
        let state = &mut self.gpus[gpu];
        state.l2_tlb.insert(0, page, entry, walk.done);
        let (tlb, index) = self.first_level(gpu, first);
        tlb.insert(index, page, entry, walk.done);
        Translation::ready(entry, walk.done)
    }

    #[inline(always)]
    fn serve_local(&mut self, gpu: usize, unit: usize, entry: Entry, run: Run, time: u64) -> u64 {
        let Self { now, costs, gpus, accesses, breakdown, .. } = self;
        let state = &mut gpus[gpu];
        let (mut start, mut last, mut spent, mut beyond_l1) = (time, time, 0, 0);
        for line in run.line()..run.line() + u64::from(run.count()) {
            let done = if run.is_write() {
                beyond_l1 += 1;
                state.l2_line(*now, line, run.line_access(), start + costs.l1_lookup, accesses) + costs.l1_fill
            } else if let Some(ready) = state.l1.lookup(unit, line, entry.version()) {
                accesses.l1_hits += 1;
                ready.max(start + costs.l1)
            } else {
                beyond_l1 += 1;
                state.load_missed(*now, unit, (line, entry.version()), start + costs.l1_lookup, costs, accesses)
            };
            spent += done - start;
            last = last.max(done);
            start += costs.line;
        }
        breakdown.local_ps += spent;
        self.reports.count(gpu, (run.line() >> self.page_line_shift) as u32, beyond_l1);
        last
    }

    /// One line at the second-level cache of `gpu`, whoever asks.
    #[inline]
    pub fn l2_line(&mut self, gpu: usize, line: u64, access: LineAccess, time: u64) -> u64 {
        self.gpus[gpu].l2_line(self.now, line, access, time, &mut self.accesses)
    }
}

impl Gpu {
    /// A load of `line`, whose page's mapping has that version, that missed the first-level cache: from the own
    /// second-level cache or memory.
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
        let start = self.units[unit].misses.available(time);
        let done = self.l2_line(now, line, LineAccess::Load, start, accesses) + costs.l1_fill;
        self.units[unit].misses.take(done);
        self.l1.insert(unit, line, version, done);
        done
    }

    /// One line at the second-level cache.
    #[inline(never)]
    fn l2_line(&mut self, now: u64, line: u64, access: LineAccess, time: u64, accesses: &mut Accesses) -> u64 {
        self.l2.access(now, time, line, access, &mut self.dram, accesses)
    }
}
