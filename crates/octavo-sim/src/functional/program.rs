//! The actions of whole programs.

use octavo_manager::{Allocation, PageRun, SpaceId};
use octavo_program::{Action, ActionId, ProgramBuffer, Span};

use crate::functional::job::Doing;
use crate::functional::run::Run;
use crate::machine::occurrence::Listen;

impl<L: Listen> Run<'_, L> {
    /// A job's program does an action, or begins it.
    pub fn act(&mut self, job: usize, id: ActionId) {
        let Some(whole) = &self.jobs[job].whole else { return };
        let program = whole.program;
        let buffers = program.buffers();
        match &program.actions()[id.index()].action {
            Action::Allocate(buffer) => {
                let run = self.allocate_buffer(job, &buffers[buffer.index()]);
                self.jobs[job].doing = Doing::Frames(run);
            }
            Action::Host(phase) => self.begin_host_phase(job, id, phase),
            // Bytes are only counted; they lie where they are.
            Action::Copy { to, .. } => self.copied_bytes += to.len(),
            Action::Launch { launch, .. } => self.begin_launch(job, *launch),
            Action::Free(buffer) => {
                let run = self.pages_of_buffer(&buffers[buffer.index()]);
                self.machine.drive(|driver, now, tables| driver.free(now, run, 0, tables));
            }
            Action::Prefetch { span, to } => {
                let pages = self.pages_of(buffers, span);
                self.machine.drive(|driver, now, tables| driver.prefetch(now, pages, to.memory(), tables));
            }
            Action::Discard(span) => {
                let whole = program.whole_pages(span, self.machine.page_bytes());
                if !whole.is_empty() {
                    let pages = self.machine.pages_between(whole.start, whole.end);
                    self.machine.drive(|driver, now, tables| driver.discard_pages(now, pages, tables));
                }
            }
            Action::Advise { span, advice } => {
                let pages = self.pages_of(buffers, span);
                self.machine.drive(|driver, now, tables| driver.advise(now, pages, *advice, tables));
            }
            Action::Synchronise => {
                let space = SpaceId(job as u16);
                self.machine.drive(|driver, now, tables| driver.synchronise(now, space, tables));
            }
        }
    }

    /// A buffer of a job comes into being: its pages.
    pub fn allocate_buffer(&mut self, job: usize, buffer: &ProgramBuffer) -> PageRun {
        let (space, lot) = (SpaceId(job as u16), &self.jobs[job].lot);
        let (gpu, gpus) = (lot.gpu_of(buffer.buffer.gpu), lot.gpu_mask());
        let (run, kind, spread) = (self.pages_of_buffer(buffer), buffer.kind, buffer.spread);
        self.allocate(Allocation { space, gpu, gpus, kind, spread, populated: false, ..run.into() });
        run
    }

    fn pages_of(&self, buffers: &[ProgramBuffer], span: &Span) -> PageRun {
        let base = buffers[span.buffer.index()].buffer.base;
        self.machine.pages_between(base + span.bytes.start, base + span.bytes.end)
    }

    pub fn pages_of_buffer(&self, buffer: &ProgramBuffer) -> PageRun {
        self.machine.pages_between(buffer.buffer.base, buffer.buffer.base + buffer.buffer.bytes)
    }
}
