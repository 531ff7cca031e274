//! The actions of a whole program, one after another.

use std::collections::VecDeque;

use octavo_manager::{Allocation, PageRun, ProcessorId};
use octavo_program::{Action, ActionId, Program, ProgramBuffer, Span};

use crate::functional::run::{Running, Stop};
use crate::machine::happening::Listen;

impl<L: Listen> Running<'_, L> {
    /// Does all actions; of those that wait for none any more, the one that has been ready for longest.
    pub fn whole(&mut self, program: &Program) -> Result<(), Stop> {
        program.loaded().for_each(|buffer| self.allocate_buffer(buffer));
        let mut order = program.order();
        let mut waiting: VecDeque<ActionId> = order.ready().collect();
        let mut ready = Vec::new();
        while let Some(id) = waiting.pop_front() {
            self.act(id, program)?;
            if self.machine.halted() || self.machine.driver.manager().starving().is_some() {
                return Err(Stop::Halted);
            }
            order.done(id, &mut ready);
            waiting.extend(ready.drain(..));
        }
        Ok(())
    }

    fn act(&mut self, id: ActionId, program: &Program) -> Result<(), Stop> {
        let buffers = program.buffers();
        match &program.actions()[id.index()].action {
            Action::Allocate(buffer) => self.allocate_buffer(&buffers[buffer.index()]),
            Action::Host(phase) => return self.host_phase(id, phase, program),
            // As many bytes as it takes; they lie where they are.
            Action::Copy { to, .. } => self.copied_bytes += to.len(),
            Action::Launch { launch, .. } => return self.launch(*launch),
            Action::Free(buffer) => {
                let run = self.pages_of_buffer(&buffers[buffer.index()]);
                self.machine.drive(|driver, now, tables| driver.free(now, run, 0, tables));
            }
            Action::Prefetch { span, to } => {
                let pages = self.pages_of(buffers, span);
                self.machine.drive(|driver, now, tables| driver.prefetch(now, pages, to.memory(), tables));
            }
            Action::Advise { span, advice } => {
                let pages = self.pages_of(buffers, span);
                self.machine.drive(|driver, now, tables| driver.advise(now, pages, *advice, tables));
            }
            Action::Synchronise => {}
        }
        Ok(())
    }

    fn allocate_buffer(&mut self, buffer: &ProgramBuffer) {
        let gpu = usize::from(buffer.buffer.gpu).checked_sub(1).map(ProcessorId::gpu);
        let (run, kind, spread) = (self.pages_of_buffer(buffer), buffer.kind, buffer.spread);
        self.allocate(Allocation { gpu, kind, spread, populated: false, ..run.into() });
    }

    fn pages_of(&self, buffers: &[ProgramBuffer], span: &Span) -> PageRun {
        let base = buffers[span.buffer.index()].buffer.base;
        self.machine.pages_between(base + span.bytes.start, base + span.bytes.end)
    }

    fn pages_of_buffer(&self, buffer: &ProgramBuffer) -> PageRun {
        self.machine.pages_between(buffer.buffer.base, buffer.buffer.base + buffer.buffer.bytes)
    }
}
