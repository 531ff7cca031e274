//! Phases in which the host computes: its threads take turns, a page of each.

use octavo_manager::{Access, Fault, HOST, PageId};
use octavo_program::{ActionId, HostPhase, LINE_BYTES, Program};

use crate::cpu::thread::Thread;
use crate::functional::run::{Running, Stop};
use crate::machine::happening::Listen;

impl<L: Listen> Running<'_, L> {
    /// Runs a phase to its end.
    pub fn host_phase(&mut self, id: ActionId, phase: &HostPhase, program: &Program) -> Result<(), Stop> {
        let threads = 0..phase.threads;
        let mut threads: Vec<Thread> =
            threads.map(|number| Thread::new((0, id), phase, number, 0, program.buffers())).collect();
        let page_shift = self.machine.page_line_shift + LINE_BYTES.trailing_zeros();
        while !threads.is_empty() {
            let mut stopped = Ok(());
            threads.retain_mut(|thread| {
                let Some((chunk, next)) = thread.next(page_shift) else { return false };
                if stopped.is_ok() {
                    stopped = self.touch(PageId(chunk.page), chunk.write, chunk.lines);
                    thread.go_on(next);
                }
                true
            });
            stopped?;
        }
        self.report()
    }

    fn touch(&mut self, page: PageId, write: bool, lines: u64) -> Result<(), Stop> {
        let access = if write { Access::Write } else { Access::Read };
        let count = if write { &mut self.host.store_lines } else { &mut self.host.load_lines };
        *count += lines;
        if !self.machine.tables.entries.entry(HOST, page).allows(access) {
            self.host.faults += 1;
            self.machine.fault(Fault { processor: HOST, page, access }).ok_or(Stop::Halted)?;
        }
        Ok(())
    }
}
