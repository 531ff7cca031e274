//! Actions begin when all their predecessors are done, and end: the work of each kind in between.

use std::ops::Range;

use octavo_manager::{Access, Advice, Allocation, Kind, PageId, PageRun, ProcessorId, SpaceId};
use octavo_program::{Action, BufferId, HostPhase, ProgramBuffer, Span};

use crate::engine::event::Kind as EventKind;
use crate::machine::jobs::rounds::BUSY_PAUSE;
use crate::machine::node::Node;
use crate::machine::occurrence::{Happening, Listen};
use crate::machine::phase::{Doing, Phase};
use crate::machine::program::costs;

impl<L: Listen> Node<'_, L> {
    /// Loaded buffers are in memory already, and actions that wait for none begin at once.
    pub(in crate::machine) fn begin_program(&mut self, job: usize) {
        let now = self.hardware.clock.now();
        for buffer in self.programs.of(job).program.loaded() {
            self.bring_into_being(job, buffer);
        }
        let whole = self.programs.of(job);
        whole.begin_anew();
        let first: Vec<u32> = whole.order.ready().map(|action| whole.number(action)).collect();
        for action in first {
            self.hardware.clock.schedule(now, EventKind::Action, action);
        }
    }

    pub(in crate::machine) fn begin_action(&mut self, number: u32) {
        let ((job, id), now) = (self.programs.who(number), self.hardware.clock.now());
        if let Some(ready) = self.context_awaited((job, id)) {
            return self.hardware.clock.schedule(ready, EventKind::Action, number);
        }
        if self.holds_what_is_discarded((job, id)) {
            return self.hardware.clock.schedule(now + BUSY_PAUSE, EventKind::Action, number);
        }
        let whole = self.programs.of(job);
        let program = whole.program;
        whole.progress[id.index()].began = now;
        match &program.actions()[id.index()].action {
            Action::Allocate(buffer) => self.allocate_buffer((job, id), &program.buffers()[buffer.index()]),
            Action::Host(phase) => self.begin_host_phase((job, id), phase),
            Action::Copy { from, to } => self.begin_copies((job, id), from, to),
            Action::Launch { launch, .. } => self.launch((job, id), *launch),
            Action::Free(buffer) => self.free_buffer((job, id), &program.buffers()[buffer.index()]),
            Action::Prefetch { span, to } => self.prefetch((job, id), span, *to),
            Action::Discard(span) => self.discard((job, id), span),
            Action::Advise { span, advice } => self.advise((job, id), span, *advice),
            Action::Synchronise => self.synchronise((job, id)),
        }
    }

    /// An action ends at that time.
    pub(super) fn schedule_end(&mut self, (job, id): Doing, over: u64) {
        let number = self.programs.of(job).number(id);
        self.hardware.clock.schedule(over, EventKind::ActionEnds, number);
    }

    /// An action ends: those that waited for it last begin.
    pub(in crate::machine) fn end_action(&mut self, number: u32) {
        let ((job, id), now) = (self.programs.who(number), self.hardware.clock.now());
        if self.waits_for_frames((job, id)) {
            return self.hardware.clock.schedule_look(now + BUSY_PAUSE, EventKind::FramesAwaited, number);
        }
        if self.waits_for_plans((job, id)) {
            return self.hardware.clock.schedule(now + BUSY_PAUSE, EventKind::ActionEnds, number);
        }
        self.programs.done += 1;
        let whole = self.programs.of(job);
        let (program, began) = (whole.program, whole.progress[id.index()].began);
        let mut ready = std::mem::take(&mut whole.ready);
        whole.order.done(id, &mut ready);
        whole.left -= 1;
        let (left, launches) = (whole.left, whole.launches);
        let action = &program.actions()[id.index()].action;
        let (phase, name) = (phase_of(action, program.buffers()), name_of(action, program.buffers(), launches));
        self.hardware.say(Happening::Phase { job, action: id.0, phase, name: &name, began, ended: now });
        for next in ready.drain(..) {
            let number = self.programs.of(job).number(next);
            self.begin_action(number);
        }
        self.programs.of(job).ready = ready;
        if left == 0 {
            self.end_program(job);
        }
    }

    /// Frees the remaining memory of a program that has ended; returns whether no plan holds any of it any more.
    pub(in crate::machine) fn free_what_is_kept(&mut self, job: usize) -> bool {
        let program = self.programs.of(job).program;
        let kept: Vec<PageRun> = program.kept().map(|buffer| self.pages_of_buffer(buffer)).collect();
        self.give_back(&kept)
    }

    fn bring_into_being(&mut self, job: usize, buffer: &ProgramBuffer) {
        let (space, lot) = (SpaceId(job as u16), &self.jobs.running[job].lot);
        let (gpu, gpus) = (lot.gpu_of(buffer.buffer.gpu), lot.gpu_mask());
        let (run, kind, spread) = (self.pages_of_buffer(buffer), buffer.kind, buffer.spread);
        let allocation = Allocation { space, gpu, gpus, kind, spread, populated: false, ..run.into() };
        if let Some(system) = self.hardware.system.as_mut().filter(|_| kind == Kind::System) {
            system.allocate(run);
        }
        self.drive(|driver, now, hardware| driver.allocate(now, allocation, hardware));
    }

    fn allocate_buffer(&mut self, doing: Doing, buffer: &ProgramBuffer) {
        self.bring_into_being(doing.0, buffer);
        let cost = costs::allocation(&self.hardware.config.host.costs, buffer.kind, buffer.buffer.bytes);
        self.schedule_end(doing, self.hardware.clock.now() + cost);
    }

    fn prefetch(&mut self, doing: Doing, span: &Span, to: ProcessorId) {
        let pages = self.pages_of_span(doing.0, span);
        self.drive(|driver, now, hardware| driver.prefetch(now, pages, to.memory(), hardware));
        self.end_call(doing);
    }

    /// Whether plans still hold pages that the action discards.
    fn holds_what_is_discarded(&mut self, (job, id): Doing) -> bool {
        let program = self.programs.of(job).program;
        let Action::Discard(span) = &program.actions()[id.index()].action else { return false };
        self.whole_pages_of_span(job, span).is_some_and(|pages| self.driver.is_busy(pages))
    }

    /// Part of a page may still be needed.
    fn discard(&mut self, doing: Doing, span: &Span) {
        if let Some(pages) = self.whole_pages_of_span(doing.0, span) {
            self.drive(|driver, now, hardware| driver.discard_pages(now, pages, hardware));
        }
        self.end_call(doing);
    }

    fn advise(&mut self, doing: Doing, span: &Span, advice: Advice) {
        let pages = self.pages_of_span(doing.0, span);
        self.drive(|driver, now, hardware| driver.advise(now, pages, advice, hardware));
        self.end_call(doing);
    }

    /// The host waits for the GPUs: pages that they have written go home, if they should.
    fn synchronise(&mut self, (job, id): Doing) {
        self.drive(|driver, now, hardware| driver.synchronise(now, SpaceId(job as u16), hardware));
        let number = self.programs.of(job).number(id);
        self.end_action(number);
    }

    fn end_call(&mut self, doing: Doing) {
        let over = self.hardware.clock.now() + self.hardware.config.host.costs.advice_call.0;
        self.schedule_end(doing, over);
    }

    /// Whether memory that stays has yet to get frames: others have to leave.
    fn waits_for_frames(&mut self, (job, id): Doing) -> bool {
        let program = self.programs.of(job).program;
        let Action::Allocate(buffer) = &program.actions()[id.index()].action else { return false };
        let buffer = &program.buffers()[buffer.index()];
        buffer.kind.stays() && self.driver.manager().awaits_frames(self.pages_of_buffer(buffer))
    }

    /// Whether plans of an action are still in progress: mappings of memory that stays, pages that are brought, discarded
    /// or go home. Actions after a prefetch or discard wait for it, as on one stream.
    fn waits_for_plans(&mut self, (job, id): Doing) -> bool {
        let program = self.programs.of(job).program;
        match &program.actions()[id.index()].action {
            Action::Allocate(buffer) => {
                let buffer = &program.buffers()[buffer.index()];
                buffer.kind.stays() && self.driver.is_busy(self.pages_of_buffer(buffer))
            }
            Action::Prefetch { span, .. } | Action::Discard(span) => {
                let pages = self.pages_of_span(job, span);
                self.driver.is_busy(pages)
            }
            Action::Synchronise if self.driver.manager().wants_synchronisations() => {
                let managed = program.buffers().iter().filter(|buffer| buffer.kind == Kind::Managed);
                managed.map(|buffer| self.pages_of_buffer(buffer)).any(|pages| self.driver.is_busy(pages))
            }
            _ => false,
        }
    }

    fn free_buffer(&mut self, (job, id): Doing, buffer: &ProgramBuffer) {
        let run = self.pages_of_buffer(buffer);
        let entries = || self.driver.manager().entries(run);
        let whole = self.programs.of(job);
        whole.progress[id.index()].over =
            costs::free(&self.hardware.config.host.costs, buffer.kind, buffer.buffer.bytes, entries);
        let token = u64::from(whole.number(id)) + 1;
        self.drive(|driver, now, hardware| driver.free(now, run, token, hardware));
    }

    /// The pages of a buffer to be freed are free: the time of the call remains.
    pub(in crate::machine) fn freed(&mut self, number: u32) {
        let (job, id) = self.programs.who(number);
        let cost = self.programs.of(job).progress[id.index()].over;
        self.hardware.clock.schedule(self.hardware.clock.now() + cost, EventKind::ActionEnds, number);
    }

    fn launch(&mut self, (job, id): Doing, launch: u32) {
        let running = self.programs.of(job).launching.replace(id);
        assert!(running.is_none(), "launches of a program run one after another");
        self.jobs.only_launch(job, launch);
        self.begin_launch(job);
    }

    /// The launch of a program ends.
    pub(in crate::machine) fn end_whole_launch(&mut self, job: usize) {
        let whole = self.programs.of(job);
        let launched = whole.launching.take().expect("a launch was running");
        let number = whole.number(launched);
        self.jobs.note_memory_use(self.driver.manager());
        self.end_action(number);
    }

    fn pages_of_span(&mut self, job: usize, span: &Span) -> PageRun {
        let base = self.programs.of(job).program.buffers()[span.buffer.index()].buffer.base;
        self.pages_between(base + span.bytes.start, base + span.bytes.end)
    }

    fn whole_pages_of_span(&mut self, job: usize, span: &Span) -> Option<PageRun> {
        let page = self.hardware.page_bytes();
        let Range { start, end } = self.programs.of(job).program.whole_pages(span, page);
        (start < end).then(|| self.pages_between(start, end))
    }

    fn pages_of_buffer(&self, buffer: &ProgramBuffer) -> PageRun {
        self.pages_between(buffer.buffer.base, buffer.buffer.base + buffer.buffer.bytes)
    }

    fn pages_between(&self, start: u64, end: u64) -> PageRun {
        let page = self.hardware.page_bytes();
        let (first, end) = (start / page, end.div_ceil(page));
        PageRun { first: PageId(first as u32), count: (end - first) as u32 }
    }
}

fn phase_of(action: &Action, buffers: &[ProgramBuffer]) -> Phase {
    match action {
        Action::Allocate(_) => Phase::Allocation,
        Action::Host(phase) if writes(phase) => Phase::HostInitialisation,
        Action::Host(_) => Phase::HostResults,
        Action::Copy { to, .. } if buffers[to.buffer.index()].kind == Kind::Device => Phase::CopyIn,
        Action::Copy { .. } => Phase::CopyOut,
        Action::Launch { .. } => Phase::Kernel,
        Action::Free(_) => Phase::Deallocation,
        Action::Prefetch { .. } | Action::Discard(_) | Action::Advise { .. } | Action::Synchronise => Phase::Other,
    }
}

fn writes(phase: &HostPhase) -> bool {
    phase.sweeps.iter().any(|sweep| sweep.access == Access::Write)
}

/// `launches`: the number of the program's first one.
fn name_of(action: &Action, buffers: &[ProgramBuffer], launches: u32) -> String {
    let name = |buffer: BufferId| buffers[buffer.index()].buffer.name.clone();
    match action {
        Action::Allocate(buffer) | Action::Free(buffer) => name(*buffer),
        Action::Host(phase) => phase.name.clone().into_owned(),
        Action::Copy { from, to } => {
            let device = if buffers[to.buffer.index()].kind == Kind::Device { to } else { from };
            name(device.buffer)
        }
        Action::Prefetch { span, .. } | Action::Discard(span) | Action::Advise { span, .. } => name(span.buffer),
        Action::Launch { launch, .. } => format!("launch {}", launch - launches),
        Action::Synchronise => action.name().to_owned(),
    }
}
