//! Phases in which the host computes: its threads touch pages, and fault on those that are not there.

use octavo_driver::{FaultId, Opened};
use octavo_manager::{Access, Fault, HOST, MemoryId, PageId, ProcessorId};
use octavo_program::{HostPhase, LINE_BYTES};

use crate::cpu::cores::{Beyond, ChunkLine};
use crate::cpu::thread::{Chunk, Thread};
use crate::engine::event::Kind;
use crate::fabric::links::{Links, Traffic};
use crate::gpu::caches::line_access::LineAccess;
use crate::gpu::counts::Accesses;
use crate::gpu::state::Gpu;
use crate::machine::hardware::Hardware;
use crate::machine::node::Node;
use crate::machine::occurrence::Listen;
use crate::machine::phase::Doing;

/// The memories that cores reach apart from the host's first: its others, and GPUs' memory line by line if they are
/// coherent.
struct Reached<'a> {
    links: &'a mut Links,
    gpus: &'a mut [Gpu],
    accesses: &'a mut Accesses,
    /// Bytes of a request, or in addition to a line.
    header: u64,
    /// From a core's request to the data in a GPU's memory.
    latency: u64,
    page_line_shift: u32,
}

impl Beyond for Reached<'_> {
    /// A line of a GPU passes its second level and the link; a written-back line passes the link the other way, and
    /// nothing waits for it.
    fn line(&mut self, now: u64, time: u64, memory: MemoryId, line: ChunkLine) -> u64 {
        let Some(gpu) = memory.gpu_index() else { return self.links.memories.line(now, time, memory, line) };
        let own = ProcessorId::gpu(gpu);
        let number = (u64::from(line.page) << self.page_line_shift) + line.index;
        let (access, back) = if line.write { (LineAccess::Store, LINE_BYTES) } else { (LineAccess::Load, 0) };
        let served = self.gpus[gpu].l2_line(now, number, access, time, self.accesses);
        self.links.send(now, time, (HOST, own), self.header + back, Traffic::Lines);
        let arrived = self.links.send(now, time, (own, HOST), self.header + LINE_BYTES, Traffic::Lines);
        served.max(arrived).max(time + self.latency)
    }
}

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

    /// A thread touches lines of one page, or finds that it needs the kernel for them, or ends.
    pub(in crate::machine) fn run_host_thread(&mut self, number: u32) {
        let now = self.hardware.clock.now();
        let page_shift = self.hardware.page_bytes().trailing_zeros();
        let thread = &mut self.programs.threads[number];
        let Some((chunk, next)) = thread.next(page_shift) else { return self.end_host_thread(number) };
        let chunk = Chunk { huge: self.driver.manager().is_huge(PageId(chunk.page)), ..chunk };
        let Hardware { cpu, first_memory, links, gpus, accesses, costs, config, page_line_shift, .. } =
            &mut self.hardware;
        let cpu = cpu.as_mut().expect("a program has a host");
        if !cpu.allows(chunk.page, chunk.write) {
            cpu.count_fault();
            let costs = &config.host.costs;
            let on_gpu = self.driver.manager().page(PageId(chunk.page)).owner.gpu_index().is_some();
            let driver = if on_gpu { costs.driver_fault.0 } else { 0 };
            return self.hardware.clock.schedule(now + costs.minor_fault.0 + driver, Kind::HostFault, number);
        }
        let latency = config.coherence.as_ref().map_or(0, |coherence| coherence.cpu_latency.0);
        let header = costs.header_bytes;
        let mut beyond = Reached { links, gpus, accesses, header, latency, page_line_shift: *page_line_shift };
        let touched = cpu.touch(now, thread.core, now, &chunk, (first_memory, &mut beyond));
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

    /// The kernel handles the request of a thread. Another thread's fault may have served it in the meantime.
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

    /// A fault of the host is served: the threads that waited for it continue before the page can be taken away.
    pub(in crate::machine) fn host_wakes(&mut self, number: u32) {
        let fault = self.driver.wake_arrives(FaultId(number));
        let waiting = &mut self.programs.waiting;
        let woken: Vec<u32> = waiting.iter().filter(|(id, _)| id.0 == number).map(|(_, thread)| *thread).collect();
        waiting.retain(|(id, _)| id.0 != number);
        woken.into_iter().for_each(|thread| self.run_host_thread(thread));
        self.drive(|driver, now, hardware| driver.replayed(now, &fault, hardware));
    }
}
