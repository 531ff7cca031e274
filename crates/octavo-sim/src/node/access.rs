//! The path of a line access: translation, caches, memory, links. The hot path of the simulator.

use octavo_manager::ProcessorId;
use octavo_workload::{Op, OpKind};

use super::Node;
use super::defer::RESERVED_AHEAD;
use crate::memory::LineAccess;
use crate::translate::{Entry, Tlb};

/// Consecutive lines accessed by one instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub line: u64,
    pub count: u32,
    pub write: bool,
    /// A store that does not write all bytes of its lines.
    pub partial: bool,
}

impl Run {
    /// What is done to each of its lines.
    #[inline]
    pub const fn line_access(self) -> LineAccess {
        match (self.write, self.partial) {
            (false, _) => LineAccess::Load,
            (true, false) => LineAccess::Store,
            (true, true) => LineAccess::PartialStore,
        }
    }

    #[inline]
    pub fn of(op: Op) -> Self {
        Self { line: op.line(), count: op.count(), write: op.kind() == OpKind::Store, partial: op.is_partial() }
    }
}

/// A first-level TLB: of a compute unit, or of a scalar cache.
#[derive(Clone, Copy)]
pub(crate) enum FirstLevel {
    Vector(usize),
    Scalar(usize),
}

/// A translation, or the moment the walker found that the driver is needed.
pub(crate) enum Translation {
    Ready(Entry, u64),
    Fault(u64),
}

impl Node<'_> {
    /// Accesses a run of lines from `time` on, one a cycle, page by page.
    #[inline]
    pub fn access(&mut self, gpu: usize, unit: usize, slot: usize, run: Run, time: u64) {
        let lines = u64::from(run.count);
        if run.write {
            self.accesses.store_lines += lines;
        } else {
            self.accesses.load_lines += lines;
        }
        let page_lines = 1u64 << self.page_line_shift;
        let (mut line, end) = (run.line, run.line + lines);
        while line < end {
            let part = ((line | (page_lines - 1)) + 1).min(end) - line;
            let part_time = time + (line - run.line) * self.costs.line;
            self.access_page(gpu, unit, slot, Run { line, count: part as u32, ..run }, part_time);
            line += part;
        }
    }

    /// A store that fills some of its lines and not others: what is alike one after another, from `time` on.
    pub fn access_ragged(&mut self, gpu: usize, unit: usize, slot: usize, op: Op, time: u64) {
        for part in op.uniform() {
            let before = (part.line() - op.line()) * self.costs.line;
            self.access(gpu, unit, slot, Run::of(part), time + before);
        }
    }

    /// Accesses lines of one page: at once, or when its fault is resolved.
    #[inline]
    pub fn access_page(&mut self, gpu: usize, unit: usize, slot: usize, run: Run, time: u64) {
        let page = (run.line >> self.page_line_shift) as u32;
        match self.translate(gpu, FirstLevel::Vector(unit), page, run.write, time) {
            Translation::Ready(entry, ready) => {
                self.breakdown.walk_ps += (ready - time) * u64::from(run.count);
                if ready > self.now + RESERVED_AHEAD {
                    return self.defer_until(slot, run, ready);
                }
                self.serve_translated(gpu, unit, slot, entry, run, ready);
            }
            Translation::Fault(walked) => self.fault(gpu, slot, page, run, time, walked),
        }
    }

    /// Serves lines of one page whose translation is there at `time`.
    #[inline]
    pub fn serve_translated(&mut self, gpu: usize, unit: usize, slot: usize, entry: Entry, run: Run, time: u64) {
        let page = (run.line >> self.page_line_shift) as u32;
        let own = ProcessorId::gpu(gpu);
        let broadcast = run.write && entry.is_broadcast();
        let done = if self.config.l1.in_order && !broadcast {
            self.serve_in_order(gpu, unit, entry, run, time)
        } else if entry.target() == own {
            self.serve_local(gpu, unit, page, entry, run, time)
        } else if broadcast {
            self.broadcast_stores(gpu, run, time + self.costs.l1_lookup)
        } else {
            self.serve_remote(slot, entry, run, time)
        };
        self.note_done(slot, done);
    }

    /// An access of the wavefront in `slot` will be over at `done`.
    #[inline]
    pub fn note_done(&mut self, slot: usize, done: u64) {
        let (gpu, unit) = self.place(slot);
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
    #[inline]
    pub fn translate(&mut self, gpu: usize, first: FirstLevel, page: u32, write: bool, time: u64) -> Translation {
        self.accesses.translations += 1;
        let start = if self.plain_translation { time } else { self.first_level_port(gpu, first, time) };
        let looked_up =
            start + if matches!(first, FirstLevel::Vector(_)) { self.costs.l1_tlb } else { self.costs.scalar_tlb };
        if !self.plain_translation
            && let Some(found) = self.translate_specially(gpu, first, page, write, looked_up)
        {
            return found;
        }
        let (tlb, index) = self.first_level(gpu, first);
        if let Some(hit) = tlb.lookup(index, page) {
            if hit.entry.allows(write) {
                self.accesses.l1_tlb_hits += 1;
                return Translation::Ready(hit.entry, hit.ready.max(looked_up));
            }
            tlb.invalidate(index, page);
        }
        let FirstLevel::Vector(unit) = first else {
            return self.translate_beyond_l1(gpu, first, page, write, looked_up);
        };
        // A miss holds a register of the first level until it is over.
        let start = self.gpus[gpu].units[unit].translations.available(looked_up);
        let translation = self.translate_beyond_l1(gpu, first, page, write, start);
        let (Translation::Ready(_, over) | Translation::Fault(over)) = translation;
        self.gpus[gpu].units[unit].translations.take(over);
        translation
    }

    /// What the first level has beside its entries for small pages.
    #[inline(never)]
    fn translate_specially(
        &mut self,
        gpu: usize,
        first: FirstLevel,
        page: u32,
        write: bool,
        time: u64,
    ) -> Option<Translation> {
        let FirstLevel::Vector(unit) = first else { return None };
        if self.config.ideal_tlb {
            return Some(self.translate_ideally(gpu, page, write, time));
        }
        self.large_first_level(gpu, unit, page, write, time)
    }

    #[inline]
    fn first_level(&mut self, gpu: usize, first: FirstLevel) -> (&mut Tlb, usize) {
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
                return Translation::Ready(hit.entry, ready);
            }
            state.l2_tlb.invalidate(0, page);
        }
        if !state.table.get(page).allows(write) {
            if self.faults.pending(gpu, page, write) {
                return Translation::Fault(looked_up);
            }
            if self.needs.free_faults {
                self.resolve_for_free(gpu, page);
            } else if write && self.needs.free_store_faults && self.resolve_for_free(gpu, page) {
                let entry = self.gpus[gpu].table.get(page);
                return Translation::Ready(entry, looked_up);
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
            return Translation::Fault(walk.done);
        }
        if !self.plain_translation && self.enter_walked_large(gpu, first, page, entry, walk.done) {
            return Translation::Ready(entry, walk.done);
        }
        let state = &mut self.gpus[gpu];
        state.l2_tlb.insert(0, page, entry, walk.done);
        let (tlb, index) = self.first_level(gpu, first);
        tlb.insert(index, page, entry, walk.done);
        Translation::Ready(entry, walk.done)
    }

    #[inline]
    fn serve_local(&mut self, gpu: usize, unit: usize, page: u32, entry: Entry, run: Run, time: u64) -> u64 {
        let (mut last, mut spent, mut beyond_l1) = (time, 0, 0);
        for index in 0..u64::from(run.count) {
            let (line, start) = (run.line + index, time + index * self.costs.line);
            let done = if run.write {
                beyond_l1 += 1;
                self.l2_line(gpu, line, run.line_access(), start + self.costs.l1_lookup) + self.costs.l1_fill
            } else if let Some(ready) = self.gpus[gpu].l1.lookup(unit, line, entry.version()) {
                self.accesses.l1_hits += 1;
                ready.max(start + self.costs.l1)
            } else {
                beyond_l1 += 1;
                self.load_local(gpu, unit, line, entry.version(), start + self.costs.l1_lookup)
            };
            spent += done - start;
            last = last.max(done);
        }
        self.breakdown.local_ps += spent;
        self.reports.count(gpu, page, beyond_l1);
        if run.write && entry.is_broadcast() {
            return self.broadcast_stores(gpu, run, last);
        }
        last
    }

    /// A load that missed the first-level cache, from the own second-level cache or memory.
    #[inline]
    fn load_local(&mut self, gpu: usize, unit: usize, line: u64, version: u8, time: u64) -> u64 {
        let start = self.gpus[gpu].units[unit].misses.available(time);
        let done = self.l2_line(gpu, line, LineAccess::Load, start) + self.costs.l1_fill;
        let state = &mut self.gpus[gpu];
        state.units[unit].misses.take(done);
        state.l1.insert(unit, line, version, done);
        done
    }

    /// One line at the second-level cache of `gpu`, whoever asks.
    #[inline]
    pub fn l2_line(&mut self, gpu: usize, line: u64, access: LineAccess, time: u64) -> u64 {
        let state = &mut self.gpus[gpu];
        let is_store = access != LineAccess::Load;
        let access = state.l2.access(self.now, time, line, access, &mut state.dram);
        self.accesses.l2_hits += u64::from(access.hit);
        self.accesses.dram_reads += u64::from(access.fetched);
        self.accesses.store_fetches += u64::from(access.fetched & is_store);
        self.accesses.dram_writes += u64::from(access.wrote_back);
        access.done
    }
}
