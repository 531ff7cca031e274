//! An access of a wavefront, from its page's translation to the data, or to the driver.

use octavo_manager::{Access, MemoryId, Needs, PageId, ProcessorId};
use octavo_node::MissPolicy;
use octavo_program::Op;
use octavo_units::Time;

use crate::engine::event::Kind;
use crate::engine::horizon::RESERVED_AHEAD;
use crate::gpu::path::lines::Waiting;
use crate::gpu::run::Run;
use crate::gpu::translate::first_level::FirstLevel;
use crate::gpu::translate::translation::Translation;
use crate::gpu::units::stalls::{Stall, Tally};
use crate::machine::deferral::Deferred;
use crate::machine::executor::Free;
use crate::machine::faults::fault_of;
use crate::machine::hardware::Hardware;
use crate::machine::node::Node;
use crate::machine::occurrence::{Happening, Listen, Spent};

impl<L: Listen> Node<'_, L> {
    /// Accesses a run of lines from `time` on, one per cycle, page by page.
    #[inline(always)]
    pub(super) fn access(&mut self, gpu: usize, unit: usize, slot: usize, run: Run, time: u64) {
        let lines = u64::from(run.count());
        if run.is_write() {
            self.hardware.accesses.store_lines += lines;
        } else {
            self.hardware.accesses.load_lines += lines;
        }
        let page_mask = (1u64 << self.hardware.page_line_shift) - 1;
        let left_in_page = page_mask - (run.line() & page_mask);
        if lines.wrapping_sub(1) <= left_in_page {
            self.access_page(gpu, unit, slot, run, time);
        } else {
            self.access_pages(gpu, unit, slot, run, time);
        }
    }

    #[inline(never)]
    fn access_pages(&mut self, gpu: usize, unit: usize, slot: usize, run: Run, time: u64) {
        let page_lines = 1u64 << self.hardware.page_line_shift;
        let (mut line, end) = (run.line(), run.line() + u64::from(run.count()));
        while line < end {
            let part = ((line | (page_lines - 1)) + 1).min(end) - line;
            let part_time = time + (line - run.line()) * self.hardware.costs.line;
            self.access_page(gpu, unit, slot, run.part(line, part as u32), part_time);
            line += part;
        }
    }

    /// A store that fills some of its lines and not others: equal ones one after another, from `time` on.
    #[inline(never)]
    pub(super) fn access_ragged(&mut self, gpu: usize, unit: usize, slot: usize, op: Op, time: u64) {
        for part in op.uniform() {
            let before = (part.line() - op.line()) * self.hardware.costs.line;
            self.access(gpu, unit, slot, Run::of(part), time + before);
        }
    }

    /// Accesses lines of one page: at once, or when its fault is resolved. The common path is inline here, and rare
    /// steps are calls: a call for each step would cost as much as the steps.
    #[inline(never)]
    pub(super) fn access_page(&mut self, gpu: usize, unit: usize, slot: usize, run: Run, time: u64) {
        let page = self.hardware.page_of(run.line());
        let Translation { entry, time: ready } =
            self.translate(gpu, FirstLevel::Vector(unit), page, run.is_write(), time);
        if !entry.is_valid() {
            return self.fault(gpu, slot, page, run, time, ready);
        }
        self.hardware.say(Happening::Spent(Spent::Walk, (ready - time) * u64::from(run.count())));
        if ready > self.hardware.clock.now() + RESERVED_AHEAD {
            self.hardware.say(Happening::UnderWay { gpu, page, until: ready });
            return self.hardware.defer_until(slot, run, ready);
        }
        self.hardware.serve_translated(gpu, unit, slot, entry, run, ready);
    }

    /// Issues a scalar load; returns when its wavefront can continue.
    #[inline(never)]
    pub(super) fn scalar_load(
        &mut self,
        (gpu, unit): (usize, usize),
        slot: usize,
        time: u64,
        op: Op,
        tally: &mut Tally,
    ) -> u64 {
        let Hardware { gpus, costs, accesses, clock, .. } = &mut self.hardware;
        let over = gpus[gpu].issue_scalar(unit, (clock.now(), time), costs);
        accesses.scalar_loads += 1;
        tally.computed(over - time, (costs.scalar_issue, 0));
        for line in op.line()..op.line() + u64::from(op.count()) {
            let run = Run::of(Op::scalar_load(line, 1));
            self.scalar_line((gpu, unit), slot, run, over + self.hardware.costs.scalar_pipeline);
        }
        over
    }

    fn scalar_line(&mut self, (gpu, unit): (usize, usize), slot: usize, run: Run, time: u64) {
        let cache = self.hardware.scalar_cache(unit);
        let page = self.hardware.page_of(run.line());
        let Translation { entry, time: ready } = self.translate(gpu, FirstLevel::Scalar(cache), page, false, time);
        if !entry.is_valid() {
            return self.fault(gpu, slot, page, run, time, ready);
        }
        self.hardware.say(Happening::Spent(Spent::Walk, ready - time));
        if ready > self.hardware.clock.now() + RESERVED_AHEAD {
            self.hardware.say(Happening::UnderWay { gpu, page, until: ready });
            return self.hardware.defer_until(slot, run, ready);
        }
        self.hardware.serve_scalar((gpu, unit), slot, entry, run, ready);
    }

    /// An access that waited begins again.
    pub(super) fn access_again(&mut self, (gpu, unit): (usize, usize), slot: usize, run: Run, time: u64) {
        if run.is_scalar() {
            self.scalar_line((gpu, unit), slot, run, time);
        } else {
            self.access_page(gpu, unit, slot, run, time);
        }
    }

    /// An access that waited continues, unless its unit issues nothing yet. A translation that is known is used even if
    /// the TLB has replaced it since, unless the entry has gone.
    pub(super) fn resume_access(&mut self, number: u32) {
        let Deferred { run, slot, translated, replay } = self.hardware.deferred[number];
        let slot = slot as usize;
        let (gpu, unit) = self.hardware.waves.place(slot);
        let time = self.hardware.issue_time(gpu, unit);
        if time > self.hardware.clock.now() {
            return self.hardware.clock.schedule(time, Kind::Access, number);
        }
        self.hardware.deferred.remove(number);
        self.attempt(replay, run.count(), |node| {
            let page = node.hardware.page_of(run.line());
            let mut entry = node.hardware.gpus[gpu].entry(page);
            if translated && !entry.allows(run.is_write()) {
                node.keep_free(gpu, page, run.is_write());
                entry = node.hardware.gpus[gpu].entry(page);
            }
            if !translated || !entry.allows(run.is_write()) {
                node.access_again((gpu, unit), slot, run, time);
            } else if run.is_scalar() {
                node.hardware.serve_scalar((gpu, unit), slot, entry, run, time);
            } else {
                node.hardware.serve_translated(gpu, unit, slot, entry, run, time);
            }
        });
        let what = if translated { Stall::Walk } else { Stall::Fault };
        self.hardware.end_pending(slot, (what, self.hardware.page_of(run.line())));
        self.leave_replay(replay);
    }

    /// Remote lines have arrived: those that waited continue while there is room.
    pub(super) fn remote_queue(&mut self, gpu: usize) {
        while let Some(next) = self.hardware.next_of_queue(gpu) {
            self.leave_queue(next);
            let page = self.hardware.page_of(next.lines().run.line());
            self.hardware.end_pending(next.slot as usize, (Stall::Queue, page));
        }
    }

    /// Lines that waited move now, unless their page has moved meanwhile: then they begin again.
    fn leave_queue(&mut self, waiting: Waiting) {
        let (lines, slot, since) = (waiting.lines(), waiting.slot as usize, waiting.since);
        let (gpu, unit) = self.hardware.waves.place(slot);
        let time = self.hardware.issue_time(gpu, unit);
        self.hardware.say(Happening::Spent(Spent::Remote, time.saturating_sub(since) * lines.count() as u64));
        let entry = self.hardware.gpus[gpu].entry(self.hardware.page_of(lines.run.line()));
        let remote = entry.allows(lines.run.is_write()) && entry.target() != MemoryId::gpu(gpu);
        if remote && !(lines.run.is_write() && entry.is_broadcast()) {
            let done = self.hardware.remote_lines(gpu, unit, entry, lines, time);
            let page = self.hardware.page_of(lines.run.line());
            self.hardware.say(Happening::UnderWay { gpu, page, until: done });
            let count = lines.count() as u32;
            let request = self.hardware.remote_request(gpu, entry, lines.run, (time, done));
            return self.hardware.note_done((gpu, unit), slot, count, done, request);
        }
        for line in lines.iter() {
            self.access_page(gpu, unit, slot, lines.one(line), time);
        }
    }

    /// Looks a page up: first-level TLB, second-level TLB, page table.
    #[inline(always)]
    fn translate(&mut self, gpu: usize, first: FirstLevel, page: u32, write: bool, time: u64) -> Translation {
        let Hardware { gpus, costs, accesses, plain_translation, .. } = &mut self.hardware;
        accesses.translations += 1;
        let plain = *plain_translation;
        let start = if plain { time } else { gpus[gpu].first_level_port(first, time) };
        let looked_up = start + if matches!(first, FirstLevel::Vector(_)) { costs.l1_tlb } else { costs.scalar_tlb };
        if !plain && let Some(found) = self.first_level_specially(gpu, first, page, write, looked_up) {
            return found;
        }
        let Hardware { gpus, accesses, .. } = &mut self.hardware;
        match gpus[gpu].look_up_first(first, page, write, looked_up, accesses) {
            Some(found) => found,
            None => self.translate_missed(gpu, first, page, write, looked_up),
        }
    }

    /// The state of a first level apart from its entries for small pages, looked up until `time`.
    #[inline(never)]
    fn first_level_specially(
        &mut self,
        gpu: usize,
        first: FirstLevel,
        page: u32,
        write: bool,
        time: u64,
    ) -> Option<Translation> {
        if self.hardware.config.ideal_tlb {
            return Some(self.translate_ideally(gpu, page, write, time));
        }
        let Hardware { gpus, accesses, .. } = &mut self.hardware;
        gpus[gpu].look_up_first_large(first, page, write, time, accesses)
    }

    /// The upper bound: every mapped page counts as a hit of the first-level TLB.
    fn translate_ideally(&mut self, gpu: usize, page: u32, write: bool, time: u64) -> Translation {
        if !self.hardware.gpus[gpu].entry(page).allows(write) {
            if self.is_awaited(gpu, page, write) {
                return Translation::fault(time);
            }
            self.map_for_free(gpu, page, write);
        }
        let entry = self.hardware.gpus[gpu].entry(page);
        if !entry.allows(write) {
            return Translation::fault(time);
        }
        self.hardware.accesses.l1_tlb_hits += 1;
        Translation::ready(entry, time)
    }

    /// A miss of a unit's first level holds a register of it until it ends.
    #[inline(never)]
    fn translate_missed(&mut self, gpu: usize, first: FirstLevel, page: u32, write: bool, time: u64) -> Translation {
        let FirstLevel::Vector(unit) = first else {
            return self.translate_beyond_l1(gpu, first, page, write, time);
        };
        let now = self.hardware.clock.now();
        let start = self.hardware.gpus[gpu].unit(unit).begin_translation(now, time);
        let translation = self.translate_beyond_l1(gpu, first, page, write, start);
        let Hardware { gpus, config, costs, .. } = &mut self.hardware;
        let unit = gpus[gpu].unit(unit);
        unit.end_translation(now, start, translation.time);
        match config.l1_tlb.on_miss {
            MissPolicy::NonBlocking => {}
            MissPolicy::HitsUnderMisses => unit.hold(start, costs.memory_pipeline),
            MissPolicy::Blocking => unit.hold(translation.time, costs.memory_pipeline),
        }
        translation
    }

    fn translate_beyond_l1(&mut self, gpu: usize, first: FirstLevel, page: u32, write: bool, time: u64) -> Translation {
        let Hardware { gpus, costs, clock, accesses, plain_translation, .. } = &mut self.hardware;
        let state = &mut gpus[gpu];
        let start = if *plain_translation { time } else { state.second_level_port(clock.now(), time) };
        let looked_up = start + costs.l2_tlb;
        if let Some(found) = state.look_up_second(first, page, write, looked_up, accesses) {
            return found;
        }
        if !state.entry(page).allows(write) {
            if self.is_awaited(gpu, page, write) {
                return Translation::fault(looked_up);
            }
            let needs = self.needs_at(page);
            if needs.free_faults {
                self.resolve_for_free(gpu, page);
            } else if write && needs.free_store_faults && self.resolve_for_free(gpu, page) {
                return Translation::ready(self.hardware.gpus[gpu].entry(page), looked_up);
            }
        }
        self.hardware.say(Happening::Walks { page });
        if self.hardware.system.as_ref().is_some_and(|system| system.contains(page)) {
            let huge = self.driver.manager().is_huge(PageId(page));
            return self.hardware.translate_on_host(gpu, first, (page, huge), write, looked_up);
        }
        let Hardware { gpus, clock, walks, accesses, .. } = &mut self.hardware;
        gpus[gpu].walk(first, page, write, (clock.now(), looked_up), walks, accesses)
    }

    /// A page whose faults cost nothing, and which left while its access waited for the walk, comes back at once: with
    /// another walk it could leave again, for ever.
    fn keep_free(&mut self, gpu: usize, page: u32, write: bool) {
        if !self.is_awaited(gpu, page, write) {
            self.map_for_free(gpu, page, write);
        }
    }

    /// Resolves a fault on a page if it costs nothing.
    fn map_for_free(&mut self, gpu: usize, page: u32, write: bool) {
        let needs = self.needs_at(page);
        if needs.free_faults || write && needs.free_store_faults {
            self.resolve_for_free(gpu, page);
        }
    }

    /// The needs of the placement that decides about a page.
    fn needs_at(&self, page: u32) -> Needs {
        self.driver.manager().needs_of(PageId(page))
    }

    /// Whether an outstanding fault will serve such an access, too.
    fn is_awaited(&self, gpu: usize, page: u32, write: bool) -> bool {
        let access = if write { Access::Write } else { Access::Read };
        self.driver.outstanding().will_serve(ProcessorId::gpu(gpu), PageId(page), access)
    }

    /// Resolves a fault that costs nothing (`ideal`); whether stores are allowed then, which they are not if the
    /// manager makes it wait for another plan.
    fn resolve_for_free(&mut self, gpu: usize, page: u32) -> bool {
        self.tell_accesses();
        let now = Time(self.hardware.clock.now());
        self.driver.resolve_at_once(now, &fault_of(gpu, page, true), &mut Free(&mut self.hardware));
        self.drive(|driver, now, hardware| driver.go_on(now, hardware));
        self.hardware.gpus[gpu].entry(page).allows(true)
    }
}
