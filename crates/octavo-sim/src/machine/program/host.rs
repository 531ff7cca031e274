//! Phases in which the host computes: its threads touch pages, and fault on those that are not there.

use octavo_driver::{FaultId, Opened};
use octavo_manager::{Access, Fault, HOST, PageId};
use octavo_program::HostPhase;

use crate::cpu::thread::Thread;
use crate::engine::event::Kind;
use crate::machine::happening::Listen;
use crate::machine::hardware::Hardware;
use crate::machine::node::Node;
use crate::machine::program::Doing;

impl<L: Listen> Node<'_, L> {
    /// All threads of the phase begin, each on the core that has fewest.
    pub(super) fn begin_host_phase(&mut self, (job, id): Doing, phase: &HostPhase) {
        let now = self.hardware.clock.now();
        let cpu = self.hardware.cpu.as_mut().expect("a program has a host");
        let whole = self.programs.of(job);
        whole.progress[id.index()].parts = phase.threads;
        let buffers = whole.program.buffers();
        let threads = (0..phase.threads).map(|number| Thread::new((job, id), phase, number, cpu.take_core(), buffers));
        let numbers: Vec<u32> = threads.map(|thread| self.programs.threads.insert(thread)).collect();
        numbers.into_iter().for_each(|number| self.hardware.clock.schedule(now, Kind::HostThread, number));
    }

    /// A thread touches lines of one page, or finds that it needs the kernel for them, or is over.
    pub(in crate::machine) fn run_host_thread(&mut self, number: u32) {
        let now = self.hardware.clock.now();
        let page_shift = self.hardware.page_bytes().trailing_zeros();
        let thread = &mut self.programs.threads[number];
        let Some((chunk, next)) = thread.next(page_shift) else { return self.end_host_thread(number) };
        let Hardware { cpu, links, .. } = &mut self.hardware;
        let cpu = cpu.as_mut().expect("a program has a host");
        if !cpu.allows(chunk.page, chunk.write) {
            cpu.count_fault();
            let entered = now + self.hardware.config.host.costs.minor_fault.0;
            return self.hardware.clock.schedule(entered, Kind::HostFault, number);
        }
        let touched = cpu.touch(now, thread.core, now, &chunk, &mut links.memories);
        thread.done = thread.done.max(touched.done);
        thread.go_on(next);
        self.hardware.clock.schedule(touched.next, Kind::HostThread, number);
    }

    fn end_host_thread(&mut self, number: u32) {
        let Thread { doing: (job, id), core, done, .. } = self.programs.threads.remove(number);
        self.hardware.cpu.as_mut().expect("a program has a host").leave_core(core);
        if let Some(over) = self.programs.of(job).part_over(id, done) {
            self.schedule_end((job, id), over.max(self.hardware.clock.now()));
        }
    }

    /// The kernel looks at what a thread needs. Another thread's fault may have served it meanwhile.
    pub(in crate::machine) fn host_faults(&mut self, number: u32) {
        let page_shift = self.hardware.page_bytes().trailing_zeros();
        let Some((chunk, _)) = self.programs.threads[number].next(page_shift) else { return };
        if self.hardware.cpu.as_ref().is_some_and(|cpu| cpu.allows(chunk.page, chunk.write)) {
            return self.run_host_thread(number);
        }
        let access = if chunk.write { Access::Write } else { Access::Read };
        let fault = Fault { processor: HOST, page: PageId(chunk.page), access };
        let opened = self.driver.open_fault(&fault);
        self.programs.waiting.push((opened.fault(), number));
        if let Opened::New(id) = opened {
            self.drive(|driver, now, hardware| driver.serve_in_kernel(now, id, hardware));
        }
    }

    /// A fault of the host is served: the threads that waited for it go on before anyone can take the page away.
    pub(in crate::machine) fn host_wakes(&mut self, number: u32) {
        let fault = self.driver.wake_arrives(FaultId(number));
        let waiting = &mut self.programs.waiting;
        let woken: Vec<u32> = waiting.iter().filter(|(id, _)| id.0 == number).map(|(_, thread)| *thread).collect();
        waiting.retain(|(id, _)| id.0 != number);
        woken.into_iter().for_each(|thread| self.run_host_thread(thread));
        self.drive(|driver, now, hardware| driver.replayed(now, &fault, hardware));
    }
}
