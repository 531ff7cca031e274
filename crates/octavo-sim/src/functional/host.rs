//! Phases in which the host computes: its threads take turns, a page of each.

use octavo_manager::{Access, Fault, HOST, PageId};
use octavo_program::{ActionId, HostPhase, LINE_BYTES};

use crate::cpu::thread::{Chunk, Thread};
use crate::functional::job::Doing;
use crate::functional::run::{Run, Stop};
use crate::machine::occurrence::Listen;

impl<L: Listen> Run<'_, L> {
    /// The threads of a phase of a job begin.
    pub fn begin_host_phase(&mut self, job: usize, id: ActionId, phase: &HostPhase) {
        let Some(whole) = &self.jobs[job].whole else { return };
        let buffers = whole.program.buffers();
        let thread = |number| Thread::new((job, id), phase, number, 0, buffers);
        self.jobs[job].doing = Doing::Host((0..phase.threads).map(thread).collect());
    }

    /// Each thread of each job touches a page; whether there was any.
    pub fn host_turns(&mut self) -> Result<bool, Stop> {
        let mut any = false;
        for job in 0..self.jobs.len() {
            if let Doing::Host(threads) = &mut self.jobs[job].doing {
                let mut threads = std::mem::take(threads);
                any = true;
                self.turn_of_threads(&mut threads)?;
                self.jobs[job].doing = Doing::Host(threads);
            }
        }
        Ok(any)
    }

    fn turn_of_threads(&mut self, threads: &mut Vec<Thread>) -> Result<(), Stop> {
        let page_shift = self.machine.page_line_shift + LINE_BYTES.trailing_zeros();
        let mut stopped = Ok(());
        threads.retain_mut(|thread| {
            let Some((chunk, next)) = thread.next(page_shift) else { return false };
            if stopped.is_ok() {
                stopped = self.touch(chunk);
                thread.go_on(next);
            }
            true
        });
        stopped
    }

    fn touch(&mut self, Chunk { page, lines, write, .. }: Chunk) -> Result<(), Stop> {
        let (page, access) = (PageId(page), if write { Access::Write } else { Access::Read });
        let count = if write { &mut self.host.store_lines } else { &mut self.host.load_lines };
        *count += lines;
        if !self.machine.tables.entries.entry(HOST, page).allows(access) {
            self.host.faults += 1;
            self.machine.fault(Fault { processor: HOST, page, access }).ok_or(Stop::Halted)?;
        }
        Ok(())
    }
}
