//! Carries out the manager's plans: what each step costs and what it changes.

mod sizes;
mod traced;

use octavo_manager::{
    Cause, HOST, MappingMode, PageId, PageRun, Permission, Plan, PlanId, ProcessorId, ProcessorMask, Step,
};
use octavo_node::DrainScope;

use crate::engine::event::Kind;
use crate::engine::slab::Slab;
use crate::fabric::links::Traffic;
use crate::gpu::translate::entry::Entry;
use crate::machine::node::Node;

/// A plan being carried out.
pub(crate) struct Progress {
    plan: Plan,
    next: usize,
    /// Processors that already have the host's message that pages are about to move.
    told: ProcessorMask,
    /// Time spent on making room.
    evicting: u64,
    /// Wakes under way; the plan is acknowledged when the last has arrived.
    wakes: u32,
}

/// Plans under way, and which of them each wake under way belongs to.
#[derive(Default)]
pub(crate) struct Plans {
    running: Slab<Progress>,
    /// Plans that wake faults; a batch is over when there are none.
    serving: usize,
    /// (fault, plan) of wakes under way; few at a time.
    wakes: Vec<(u32, u32)>,
}

impl Plans {
    pub fn serve_no_fault(&self) -> bool {
        self.serving == 0
    }

    /// Whether no plan is under way.
    pub fn all_done(&self) -> bool {
        self.running.is_empty()
    }
}

impl Node<'_> {
    /// Starts the plans the manager has just made. If a strategy failed they mean nothing, and the run is over.
    pub fn start_made_plans(&mut self) {
        if self.manager.failure().is_some() || self.manager.out_of_memory().is_some() {
            self.finished = true;
            return self.made.clear();
        }
        self.recorder.schemes(self.now, self.manager.drain_scheme_changes());
        let mut made = std::mem::take(&mut self.made);
        for plan in made.drain(..) {
            let metadata = self.metadata_time(&plan);
            let progress = Progress { plan, next: 0, told: ProcessorMask::EMPTY, evicting: 0, wakes: 0 };
            let number = self.plans.running.insert(progress);
            self.plans.serving += usize::from(serves_faults(&self.plans.running[number].plan));
            self.trace_plan(number, metadata);
            self.schedule(self.now + metadata, Kind::PlanStep, number);
        }
        self.made = made;
    }

    /// Reads and writes of policy metadata: those beside the host's walk cost only what exceeds it.
    fn metadata_time(&self, plan: &Plan) -> u64 {
        let beside = u64::from(plan.overlapped_accesses) * self.costs.host_memory;
        beside.saturating_sub(self.costs.host_walk) + u64::from(plan.metadata_accesses) * self.costs.host_memory
    }

    /// Carries out steps until one takes time.
    pub fn plan_step(&mut self, number: u32) {
        loop {
            let progress = &mut self.plans.running[number];
            let Some(&step) = progress.plan.steps.get(progress.next) else {
                return self.end_plan_if_done(number);
            };
            let makes_room = progress.next < progress.plan.room_steps as usize;
            progress.next += 1;
            let done = self.carry_out(number, step);
            if done > self.now {
                self.trace_step(number, step, done);
                if makes_room {
                    self.plans.running[number].evicting += done - self.now;
                }
                return self.schedule(done, Kind::PlanStep, number);
            }
        }
    }

    /// Does one step; returns when it is over.
    fn carry_out(&mut self, number: u32, step: Step) -> u64 {
        match step {
            Step::Drain { processors, pages } => self.drain(number, processors, pages),
            Step::Invalidate { processors, pages } => self.shoot_down(number, processors, pages, false),
            Step::Protect { processors, pages } => self.shoot_down(number, processors, pages, true),
            Step::Copy { pages, from, to, cause } => self.copy(pages, from, to, cause),
            Step::Discard { processor, pages } => self.discard(processor, pages),
            Step::Map { processors, pages, target, permission, mode } => {
                let stale = self.map(processors, pages, target, permission, mode);
                let shootdown = if stale { self.costs.shootdown } else { 0 };
                self.now + self.costs.entry_write + shootdown
            }
            Step::Coalesce { processor, block } => self.coalesce(processor, block),
            Step::Splinter { processor, block } => self.splinter(processor, block),
            Step::Compact { processor, pages, model } => self.compact(processor, pages, model),
            Step::ClearCounters { pages } => {
                self.counters.clear(pages);
                self.now
            }
            Step::Wake { processor, pages } => {
                self.wake(number, processor, pages);
                self.now
            }
        }
    }

    /// The host's message travels; when it has arrived, compute units stop, what they have in flight completes,
    /// first-level caches are discarded and the pages' dirty lines written back.
    fn drain(&mut self, number: u32, processors: ProcessorMask, pages: PageRun) -> u64 {
        let progress = &mut self.plans.running[number];
        if progress.told != processors {
            progress.told = processors;
            progress.next -= 1; // The drain itself, once the message is there.
            return self.now + self.costs.host_link;
        }
        let mut over = self.now;
        for gpu in processors.iter().filter_map(ProcessorId::gpu_index) {
            let quiet = self.quiet_time(gpu, pages);
            over = over.max(self.write_back(gpu, pages, quiet, false));
        }
        // Issue resumes once the translations are shot down, which follows the drain.
        for gpu in processors.iter().filter_map(ProcessorId::gpu_index) {
            self.pause_units(gpu, pages, over + self.costs.shootdown);
        }
        over
    }

    /// When the units of `gpu` that have to drain have nothing in flight.
    fn quiet_time(&self, gpu: usize, pages: PageRun) -> u64 {
        let units = self.gpus[gpu].units.iter().enumerate();
        let draining = units.filter(|&(unit, _)| self.must_drain(gpu, unit, pages));
        draining.map(|(_, unit)| unit.in_flight).max().unwrap_or(0).max(self.now)
    }

    /// With ACUD, units that hold no translation of the pages go on. A translation can be replaced while an access
    /// through it is in flight; such a unit is missed, and its access completes beside the migration.
    fn must_drain(&self, gpu: usize, unit: usize, pages: PageRun) -> bool {
        self.drain == DrainScope::WholeGpu || pages.iter().any(|page| self.gpus[gpu].l1_tlb.holds(unit, page.0))
    }

    fn pause_units(&mut self, gpu: usize, pages: PageRun, until: u64) {
        for unit in 0..self.gpus[gpu].units.len() {
            if self.must_drain(gpu, unit, pages) {
                let state = &mut self.gpus[gpu];
                state.units[unit].paused = state.units[unit].paused.max(until);
                state.l1.discard(unit);
            }
        }
    }

    /// Writes the pages' dirty lines to the GPU's memory; with `drop`, none of their lines stay in the cache.
    fn write_back(&mut self, gpu: usize, pages: PageRun, time: u64, drop: bool) -> u64 {
        let (first, count) = self.lines(pages);
        let state = &mut self.gpus[gpu];
        let dirty = if drop { state.l2.drop_lines(first, count) } else { state.l2.clean_lines(first, count) };
        self.accesses.dram_writes += dirty;
        if dirty == 0 { time } else { state.dram.stream(self.now, time, first, dirty) }
    }

    /// Removes (or write-protects) entries and translations; the answers come back to the host.
    fn shoot_down(&mut self, number: u32, processors: ProcessorMask, pages: PageRun, protect: bool) -> u64 {
        let progress = &mut self.plans.running[number];
        let all_told = processors.0 & !progress.told.0 == 0;
        progress.told = ProcessorMask::EMPTY;
        let message = if all_told { 0 } else { self.costs.host_link };
        self.withdraw(processors, pages, protect);
        self.now + message + self.costs.shootdown + self.costs.host_link
    }

    /// Removes (or write-protects) entries, and the translations made from them.
    fn withdraw(&mut self, processors: ProcessorMask, pages: PageRun, protect: bool) {
        for gpu in processors.iter().filter_map(ProcessorId::gpu_index) {
            let state = &mut self.gpus[gpu];
            if protect {
                state.table.protect(pages);
            } else {
                state.table.invalidate(pages);
            }
            for page in pages.iter() {
                state.shoot_down(page.0);
            }
        }
    }

    /// Copies pages: the source's memory, the link and the destination's memory in a row, and the command before.
    fn copy(&mut self, pages: PageRun, from: ProcessorId, to: ProcessorId, cause: Cause) -> u64 {
        self.recorder.copy(self.now, pages, from, to, cause);
        let (first, count) = self.lines(pages);
        let command = self.now + self.costs.host_link;
        let read = match from.gpu_index() {
            Some(gpu) => {
                // The source gives its frames up, unless it is replicated.
                let clean = self.write_back(gpu, pages, command, cause != Cause::Duplication);
                self.gpus[gpu].dram.stream(self.now, clean, first, count)
            }
            None => command + self.costs.host_memory,
        };
        let arrived = self.links.send(self.now, read, (from, to), count * 64, Traffic::of(cause));
        match to.gpu_index() {
            Some(gpu) => {
                let state = &mut self.gpus[gpu];
                debug_assert!(!state.l2.holds_any(first, count), "lines of a page leave the cache with the page");
                state.dram.stream(self.now, arrived, first, count)
            }
            None => arrived,
        }
    }

    /// Frames are given up; nothing is written back.
    fn discard(&mut self, processor: ProcessorId, pages: PageRun) -> u64 {
        self.recorder.discard(self.now, pages, processor);
        self.drop_lines(processor, pages);
        self.now
    }

    pub(super) fn drop_lines(&mut self, processor: ProcessorId, pages: PageRun) {
        if let Some(gpu) = processor.gpu_index() {
            let (first, count) = self.lines(pages);
            self.gpus[gpu].l2.drop_lines(first, count);
        }
    }

    /// Writes entries. Translations that a change makes wrong are shot down; returns whether there were any.
    fn map(
        &mut self,
        processors: ProcessorMask,
        pages: PageRun,
        target: Option<ProcessorId>,
        permission: Permission,
        mode: MappingMode,
    ) -> bool {
        let mut stale = false;
        let (writable, broadcast) = (permission == Permission::ReadWrite, mode == MappingMode::Broadcast);
        for processor in processors.iter() {
            let Some(gpu) = processor.gpu_index() else { continue };
            let target = target.unwrap_or(processor);
            if target != processor {
                self.recorder.remote_map(self.now, pages, processor, target);
            }
            let entry = Entry::new(target, writable, broadcast);
            for page in pages.iter() {
                if self.gpus[gpu].table.set(page, entry) {
                    self.gpus[gpu].shoot_down(page.0);
                    stale = true;
                }
                self.note_translation(page, target);
            }
        }
        stale
    }

    /// Wakes go to the GPU over its host link; a batch keeps them until its end.
    fn wake(&mut self, number: u32, processor: ProcessorId, pages: PageRun) {
        let Some(gpu) = processor.gpu_index() else { return };
        let progress = &self.plans.running[number];
        let (cause, evicting) = (progress.plan.cause, progress.evicting);
        for page in pages.iter() {
            let Some(fault) = self.wake_fault(gpu, page.0, cause, evicting) else { continue };
            if self.hold_wake(fault) {
                continue;
            }
            self.plans.running[number].wakes += 1;
            self.plans.wakes.push((fault, number));
            self.send_wake(fault, self.now);
        }
    }

    pub fn send_wake(&mut self, fault: u32, time: u64) {
        let gpu = self.faulting_gpu(fault);
        let path = (HOST, ProcessorId::gpu(gpu));
        let arrives = self.links.send(self.now, time, path, self.costs.fault_bytes, Traffic::Control);
        self.schedule(arrives, Kind::FaultWakes, fault);
        if let Some(spans) = &mut self.spans {
            spans.fault_wakes(fault, time, arrives);
        }
    }

    /// A wake has arrived: its plan may be over. Until then its pages are busy, so that the access that faulted is
    /// replayed before anyone can take the page away, and every fault makes progress.
    pub fn finish_plan_of_wake(&mut self, fault: u32) {
        let Some(at) = self.plans.wakes.iter().position(|&(other, _)| other == fault) else { return };
        let (_, number) = self.plans.wakes.swap_remove(at);
        self.plans.running[number].wakes -= 1;
        self.end_plan_if_done(number);
    }

    /// Acknowledges a plan whose steps and wakes are over; what waited for its pages goes on.
    fn end_plan_if_done(&mut self, number: u32) {
        let progress = &self.plans.running[number];
        if progress.wakes > 0 || progress.next < progress.plan.steps.len() {
            return;
        }
        self.trace_plan_end(number);
        let plan = self.plans.running.remove(number).plan;
        self.plans.serving -= usize::from(serves_faults(&plan));
        self.acknowledge(plan.id);
        self.manager.recycle(plan);
        self.start_made_plans();
        self.end_batch_if_done();
    }

    fn acknowledge(&mut self, id: PlanId) {
        self.manager.complete(id, &mut self.made);
    }

    /// Applies the plans just made without any cost or delay.
    pub fn carry_out_made_plans_at_once(&mut self) {
        let made = std::mem::take(&mut self.made);
        for plan in made {
            for step in &plan.steps {
                match *step {
                    Step::Invalidate { processors, pages } => self.withdraw(processors, pages, false),
                    Step::Protect { processors, pages } => self.withdraw(processors, pages, true),
                    Step::Map { processors, pages, target, permission, mode } => {
                        _ = self.map(processors, pages, target, permission, mode);
                    }
                    Step::Wake { processor, pages } => self.wake_at_once(processor, pages, plan.cause),
                    Step::Copy { pages, from, to, .. } => {
                        self.recorder.placed(self.now, pages, from, to);
                        self.drop_lines(from, pages);
                    }
                    Step::Discard { processor, pages } => _ = self.discard(processor, pages),
                    Step::Coalesce { processor, block } => _ = self.coalesce(processor, block),
                    Step::Splinter { processor, block } => _ = self.splinter(processor, block),
                    Step::Drain { .. } | Step::ClearCounters { .. } | Step::Compact { .. } => {}
                }
            }
            self.acknowledge(plan.id);
            self.manager.recycle(plan);
        }
        self.start_made_plans();
    }

    fn wake_at_once(&mut self, processor: ProcessorId, pages: PageRun, cause: Cause) {
        let Some(gpu) = processor.gpu_index() else { return };
        for page in pages.iter() {
            if let Some(fault) = self.wake_fault(gpu, page.0, cause, 0) {
                self.schedule(self.now, Kind::FaultWakes, fault);
            }
        }
    }

    /// First line and count of lines of a run of pages.
    fn lines(&self, pages: PageRun) -> (u64, u64) {
        let PageId(first) = pages.first;
        (u64::from(first) << self.page_line_shift, u64::from(pages.count) << self.page_line_shift)
    }
}

fn serves_faults(plan: &Plan) -> bool {
    plan.steps.iter().any(|step| matches!(step, Step::Wake { .. }))
}
