//! The path of a line access: translation, caches, memory, links. The hot path of the simulator.

use octavo_manager::ProcessorId;
use octavo_program::Op;

use crate::engine::costs::Costs;
use crate::engine::horizon::RESERVED_AHEAD;
use crate::gpu::caches::line_access::LineAccess;
use crate::gpu::counts::Accesses;
use crate::gpu::run::Run;
use crate::gpu::state::Gpu;
use crate::gpu::translate::entry::Entry;
use crate::gpu::translate::first_level::FirstLevel;
use crate::gpu::translate::tlb::Tlb;
use crate::gpu::translate::translation::Translation;
use crate::machine::node::Node;

impl Node<'_> {
    /// Accesses a run of lines from `time` on, one a cycle, page by page.
    #[inline(always)]
    pub fn access(&mut self, gpu: usize, unit: usize, slot: usize, run: Run, time: u64) {
        let lines = u64::from(run.count());
        if run.is_write() {
            self.accesses.store_lines += lines;
        } else {
            self.accesses.load_lines += lines;
        }
        let page_mask = (1u64 << self.page_line_shift) - 1;
        let left_in_page = page_mask - (run.line() & page_mask);
        if lines.wrapping_sub(1) <= left_in_page {
            self.access_page(gpu, unit, slot, run, time);
        } else {
            self.access_pages(gpu, unit, slot, run, time);
        }
    }

    #[inline(never)]
    fn access_pages(&mut self, gpu: usize, unit: usize, slot: usize, run: Run, time: u64) {
        let page_lines = 1u64 << self.page_line_shift;
        let (mut line, end) = (run.line(), run.line() + u64::from(run.count()));
        while line < end {
            let part = ((line | (page_lines - 1)) + 1).min(end) - line;
            let part_time = time + (line - run.line()) * self.costs.line;
            self.access_page(gpu, unit, slot, run.part(line, part as u32), part_time);
            line += part;
        }
    }

    /// A store that fills some of its lines and not others: what is alike one after another, from `time` on.
    #[inline(never)]
    pub fn access_ragged(&mut self, gpu: usize, unit: usize, slot: usize, op: Op, time: u64) {
        for part in op.uniform() {
            let before = (part.line() - op.line()) * self.costs.line;
            self.access(gpu, unit, slot, Run::of(part), time + before);
        }
    }

    /// Accesses lines of one page: at once, or when its fault is resolved. What most accesses do is in here, what few do
    /// is called: a call for each step would cost as much as the steps.
    #[inline(never)]
    pub fn access_page(&mut self, gpu: usize, unit: usize, slot: usize, run: Run, time: u64) {
        let page = (run.line() >> self.page_line_shift) as u32;
        let Translation { entry, time: ready } =
            self.translate(gpu, FirstLevel::Vector(unit), page, run.is_write(), time);
        if !entry.is_valid() {
            return self.fault(gpu, slot, page, run, time, ready);
        }
        self.breakdown.walk_ps += (ready - time) * u64::from(run.count());
        if ready > self.now + RESERVED_AHEAD {
            return self.defer_until(slot, run, ready);
        }
        self.serve_translated(gpu, unit, slot, entry, run, ready);
    }

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

    /// Looks a page up: first-level TLB, second-level TLB, page table.
    #[inline(always)]
    pub fn translate(&mut self, gpu: usize, first: FirstLevel, page: u32, write: bool, time: u64) -> Translation {
        self.accesses.translations += 1;
        let start = if self.plain_translation { time } else { self.first_level_port(gpu, first, time) };
        let looked_up =
            start + if matches!(first, FirstLevel::Vector(_)) { self.costs.l1_tlb } else { self.costs.scalar_tlb };
        if !self.plain_translation
            && let Some(found) = self.first_level_specially(gpu, first, page, write, looked_up)
        {
            return found;
        }
        let (tlb, index) = self.first_level(gpu, first);
        if let Some(hit) = tlb.lookup(index, page) {
            if hit.entry.allows(write) {
                self.accesses.l1_tlb_hits += 1;
                return Translation::ready(hit.entry, hit.ready.max(looked_up));
            }
            tlb.invalidate(index, page);
        }
        self.translate_missed(gpu, first, page, write, looked_up)
    }

    /// A miss of a unit's first level holds a register of it until it is over.
    #[inline(never)]
    fn translate_missed(&mut self, gpu: usize, first: FirstLevel, page: u32, write: bool, time: u64) -> Translation {
        let FirstLevel::Vector(unit) = first else {
            return self.translate_beyond_l1(gpu, first, page, write, time);
        };
        let start = self.gpus[gpu].units[unit].translations.available(time);
        let translation = self.translate_beyond_l1(gpu, first, page, write, start);
        self.gpus[gpu].units[unit].translations.take(translation.time);
        translation
    }

    #[inline(always)]
    pub fn first_level(&mut self, gpu: usize, first: FirstLevel) -> (&mut Tlb, usize) {
        let state = &mut self.gpus[gpu];
        match first {
            FirstLevel::Vector(unit) => (&mut state.l1_tlb, unit),
            FirstLevel::Scalar(cache) => (&mut state.scalar_tlb, cache),
        }
    }

    fn translate_beyond_l1(&mut self, gpu: usize, first: FirstLevel, page: u32, write: bool, time: u64) -> Translation {
        let start = if self.plain_translation { time } else { self.second_level_port(gpu, time) };
        let looked_up = start + self.costs.l2_tlb;
        if !self.plain_translation
            && let Some(found) = self.large_second_level(gpu, first, page, write, looked_up)
        {
            return found;
        }
        let state = &mut self.gpus[gpu];
        if let Some(hit) = state.l2_tlb.lookup(0, page) {
            if hit.entry.allows(write) {
                self.accesses.l2_tlb_hits += 1;
                let ready = hit.ready.max(looked_up);
                let (tlb, index) = self.first_level(gpu, first);
                tlb.insert(index, page, hit.entry, ready);
                return Translation::ready(hit.entry, ready);
            }
            state.l2_tlb.invalidate(0, page);
        }
        if !state.table.get(page).allows(write) {
            if self.faults.pending(gpu, page, write) {
                return Translation::fault(looked_up);
            }
            if self.needs.free_faults {
                self.resolve_for_free(gpu, page);
            } else if write && self.needs.free_store_faults && self.resolve_for_free(gpu, page) {
                let entry = self.gpus[gpu].table.get(page);
                return Translation::ready(entry, looked_up);
            }
        }
        self.walk(gpu, first, page, write, looked_up)
    }

    fn walk(&mut self, gpu: usize, first: FirstLevel, page: u32, write: bool, time: u64) -> Translation {
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
