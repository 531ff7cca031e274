//! Actions begin when all that they wait for are done, and end: what each kind of them does in between.

use octavo_manager::{Access, Advice, Allocation, Kind, PageId, PageRun, ProcessorId};
use octavo_program::{Action, ActionId, BufferId, HostPhase, ProgramBuffer, Span};

use crate::engine::event::Kind as EventKind;
use crate::machine::happening::{Happening, Listen};
use crate::machine::node::Node;
use crate::machine::program::{BUSY_PAUSE, Phase, Whole, costs};

impl<'a, L: Listen> Node<'a, L> {
    /// The actions that wait for none begin at once.
    pub(in crate::machine) fn begin_program(&mut self) {
        let Some(whole) = &self.whole else { return };
        let first: Vec<ActionId> = whole.order.ready().collect();
        for action in first {
            self.hardware.clock.schedule(0, EventKind::Action, action.0);
        }
    }

    /// The program in execution. Its events come only if there is one.
    pub(super) fn whole(&mut self) -> &mut Whole<'a> {
        self.whole.as_mut().expect("events of a program come of a program")
    }

    pub(in crate::machine) fn begin_action(&mut self, number: u32) {
        let (id, now) = (ActionId(number), self.hardware.clock.now());
        let whole = self.whole();
        let program = whole.program;
        whole.progress[id.index()].began = now;
        match &program.actions()[id.index()].action {
            Action::Allocate(buffer) => self.allocate_buffer(id, &program.buffers()[buffer.index()]),
            Action::Host(phase) => self.begin_host_phase(id, phase),
            Action::Copy { from, to } => self.begin_copies(id, from, to),
            Action::Launch { launch, .. } => self.launch(id, *launch),
            Action::Free(buffer) => self.free_buffer(id, &program.buffers()[buffer.index()]),
            Action::Prefetch { span, to } => self.prefetch(id, span, *to),
            Action::Advise { span, advice } => self.advise(id, span, *advice),
            Action::Synchronise => self.end_action(number),
        }
    }

    /// An action is over: those that waited for it last begin.
    pub(in crate::machine) fn end_action(&mut self, number: u32) {
        let (id, now) = (ActionId(number), self.hardware.clock.now());
        if self.waits_for_plans(id) {
            return self.hardware.clock.schedule(now + BUSY_PAUSE, EventKind::ActionEnds, number);
        }
        let whole = self.whole();
        let (program, began) = (whole.program, whole.progress[id.index()].began);
        let mut ready = std::mem::take(&mut whole.ready);
        whole.order.done(id, &mut ready);
        whole.left -= 1;
        let left = whole.left;
        let action = &program.actions()[id.index()].action;
        let (phase, name) = (phase_of(action, program.buffers()), name_of(action, program.buffers()));
        self.hardware.say(Happening::Phase { action: number, phase, name: &name, began, ended: now });
        for next in ready.drain(..) {
            self.begin_action(next.0);
        }
        self.whole().ready = ready;
        if left == 0 {
            self.jobs.end_all(now);
            self.finished = true;
        }
    }

    fn allocate_buffer(&mut self, id: ActionId, buffer: &ProgramBuffer) {
        let gpu = usize::from(buffer.buffer.gpu).checked_sub(1).map(ProcessorId::gpu);
        let (run, kind, spread) = (self.pages_of_buffer(buffer), buffer.kind, buffer.spread);
        let allocation = Allocation { gpu, kind, spread, populated: false, ..run.into() };
        self.drive(|driver, now, hardware| driver.allocate(now, allocation, hardware));
        let cost = costs::allocation(&self.hardware.config.host.costs, buffer.kind, buffer.buffer.bytes);
        self.hardware.clock.schedule(self.hardware.clock.now() + cost, EventKind::ActionEnds, id.0);
    }

    fn prefetch(&mut self, id: ActionId, span: &Span, to: ProcessorId) {
        let pages = self.pages_of_span(span);
        self.drive(|driver, now, hardware| driver.prefetch(now, pages, to.memory(), hardware));
        self.end_call(id);
    }

    fn advise(&mut self, id: ActionId, span: &Span, advice: Advice) {
        let pages = self.pages_of_span(span);
        self.drive(|driver, now, hardware| driver.advise(now, pages, advice, hardware));
        self.end_call(id);
    }

    fn end_call(&mut self, id: ActionId) {
        let over = self.hardware.clock.now() + self.hardware.config.host.costs.advice_call.0;
        self.hardware.clock.schedule(over, EventKind::ActionEnds, id.0);
    }

    /// Whether plans that an action made are under way: mappings of memory that stays, pages that are brought. What comes
    /// after a prefetch waits for it, as on one stream.
    fn waits_for_plans(&mut self, id: ActionId) -> bool {
        let program = self.whole().program;
        match &program.actions()[id.index()].action {
            Action::Allocate(buffer) => {
                let buffer = &program.buffers()[buffer.index()];
                buffer.kind.stays() && self.driver.is_busy(self.pages_of_buffer(buffer))
            }
            Action::Prefetch { span, .. } => {
                let pages = self.pages_of_span(span);
                self.driver.is_busy(pages)
            }
            _ => false,
        }
    }

    fn free_buffer(&mut self, id: ActionId, buffer: &ProgramBuffer) {
        let run = self.pages_of_buffer(buffer);
        let populated = run.iter().filter(|page| self.driver.manager().page(*page).populated()).count() as u64;
        self.whole().progress[id.index()].over =
            costs::free(&self.hardware.config.host.costs, buffer.kind, buffer.buffer.bytes, populated);
        self.drive(|driver, now, hardware| driver.free(now, run, u64::from(id.0) + 1, hardware));
    }

    /// The pages of a buffer that was to be freed are free: what is left is the time of the call.
    pub(in crate::machine) fn freed(&mut self, number: u32) {
        let cost = self.whole().progress[number as usize].over;
        self.hardware.clock.schedule(self.hardware.clock.now() + cost, EventKind::ActionEnds, number);
    }

    fn launch(&mut self, id: ActionId, launch: u32) {
        let running = self.whole().launching.replace(id);
        assert!(running.is_none(), "launches of a program run one after another");
        self.jobs.only_launch(launch);
        self.begin_launch(0);
    }

    /// The launch of a program is over.
    pub(in crate::machine) fn end_whole_launch(&mut self) {
        let launched = self.whole().launching.take();
        self.jobs.note_memory_use(self.driver.manager());
        self.end_action(launched.expect("a launch was running").0);
    }

    fn pages_of_span(&mut self, span: &Span) -> PageRun {
        let base = self.whole().program.buffers()[span.buffer.index()].buffer.base;
        self.pages_between(base + span.bytes.start, base + span.bytes.end)
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
        Action::Prefetch { .. } | Action::Advise { .. } | Action::Synchronise => Phase::Other,
    }
}

fn writes(phase: &HostPhase) -> bool {
    phase.sweeps.iter().any(|sweep| sweep.access == Access::Write)
}

fn name_of(action: &Action, buffers: &[ProgramBuffer]) -> String {
    let name = |buffer: BufferId| buffers[buffer.index()].buffer.name.clone();
    match action {
        Action::Allocate(buffer) | Action::Free(buffer) => name(*buffer),
        Action::Host(phase) => phase.name.clone().into_owned(),
        Action::Copy { from, to } => {
            let device = if buffers[to.buffer.index()].kind == Kind::Device { to } else { from };
            name(device.buffer)
        }
        Action::Prefetch { span, .. } | Action::Advise { span, .. } => name(span.buffer),
        Action::Launch { launch, .. } => format!("launch {launch}"),
        Action::Synchronise => action.name().to_owned(),
    }
}
