//! How long steps take.

use octavo_manager::{Cause, HOST, HOST_MEMORY, MemoryId, PageRun, ProcessorId, ProcessorMask, Step};

use crate::cpu::first_memory::Passed;
use crate::fabric::links::Traffic;
use crate::machine::hardware::Hardware;
use crate::machine::occurrence::{Happening, Listen};
use crate::machine::program::costs::zeroing;
use octavo_node::DrainScope;
use octavo_program::LINE_BYTES;

impl<L: Listen> Hardware<'_, L> {
    /// Reads and writes of policy metadata: those in parallel with the host's walk cost only the time beyond it.
    pub(super) fn metadata_time(&self, accesses: u32, beside_walk: u32) -> u64 {
        let beside = u64::from(beside_walk) * self.costs.host_memory;
        beside.saturating_sub(self.costs.host_walk) + u64::from(accesses) * self.costs.host_memory
    }

    /// A step of the plan in `slot` takes time until `done`; a drain of which no step is done was its message alone.
    pub(super) fn trace_step(&mut self, slot: u32, step: &Step, steps: u32, done: u64) {
        self.say(Happening::Step { slot, step, is_done: steps > 0, until: done });
    }

    /// The arrival of a message that the host sends now.
    pub(super) fn message(&self) -> u64 {
        self.clock.now() + self.costs.host_link
    }

    /// Carries out one step of the plan in `slot`; returns its end.
    pub(super) fn carry_out(&mut self, slot: u32, step: &Step) -> u64 {
        match *step {
            Step::Consult { accesses, beside_walk } => self.clock.now() + self.metadata_time(accesses, beside_walk),
            Step::Drain { processors, pages } => self.drain(processors, pages),
            Step::Invalidate { processors, pages } => self.shoot_down(slot, processors, pages, false),
            Step::Protect { processors, pages } => self.shoot_down(slot, processors, pages, true),
            Step::Populate { memory, pages, zeroed } => self.populate(pages, memory, zeroed),
            Step::Copy { pages, from, to, cause } => self.copy(slot, pages, (from, to), cause),
            Step::Map { processors, pages, target, permission, mode } => {
                let stale = self.map(processors, pages, target, permission, mode);
                let shootdown = if stale { self.costs.shootdown } else { 0 };
                // The cost of the host's own entries is part of the time of its faults.
                let of_host = processors == ProcessorMask::only(HOST) || self.is_system(pages);
                let written = of_host || self.batches() && self.told.map(slot);
                let write = if written { 0 } else { self.costs.entry_write };
                self.clock.now() + write + shootdown
            }
            Step::Coalesce { processor, block } => {
                self.set_large(processor, block);
                self.clock.now() + self.costs.entry_write
            }
            Step::Splinter { processor, block } => {
                let quiet = self.quiet_large(processor, block);
                self.clear_large(processor, block);
                quiet + self.costs.shootdown
            }
            Step::Compact { processor, pages, model } => self.compact(processor, pages, model),
            Step::Release { memory, pages } => {
                self.release(memory, pages);
                self.clock.now()
            }
            Step::ClearCounters { pages } => {
                self.counters.clear(pages);
                self.clock.now()
            }
            Step::Wake { .. } => self.clock.now(), // The driver's.
        }
    }

    /// The host's message has arrived: compute units stop, their accesses in flight complete, first-level caches are
    /// discarded and the pages' dirty lines written back.
    fn drain(&mut self, processors: ProcessorMask, pages: PageRun) -> u64 {
        // With ACUD, units that hold no translation of the pages go on. A translation can be replaced while an access
        // through it is in flight; such a unit is missed, and its access completes beside the migration.
        let concerned = self.drains_some().then_some(pages);
        let mut over = self.clock.now();
        for gpu in processors.iter().filter_map(ProcessorId::gpu_index) {
            let quiet = self.gpus[gpu].quiet_time(self.clock.now(), concerned);
            over = over.max(self.write_back(gpu, pages, quiet, None));
        }
        // Issue resumes once the translations are shot down, which follows the drain.
        for gpu in processors.iter().filter_map(ProcessorId::gpu_index) {
            self.gpus[gpu].pause(over + self.costs.shootdown, concerned);
        }
        over
    }

    /// Whether drains stop units that hold a translation of their pages, and no others. With ideal TLBs all units do.
    pub(super) fn drains_some(&self) -> bool {
        self.config.driver.drain == DrainScope::TouchedUnits && !self.config.ideal_tlb
    }

    /// Writes the pages' dirty lines to the GPU's memory.
    pub(super) fn write_back(&mut self, gpu: usize, pages: PageRun, time: u64, for_copy: Option<Cause>) -> u64 {
        let dirty = self.clean(gpu, pages, for_copy);
        let (first, _) = self.lines(pages);
        if dirty == 0 { time } else { self.gpus[gpu].stream(self.clock.now(), time, first, dirty) }
    }

    /// Removes (or write-protects) entries and translations; the answers come back to the host.
    fn shoot_down(&mut self, slot: u32, processors: ProcessorMask, pages: PageRun, protect: bool) -> u64 {
        if self.is_system(pages) {
            return self.unmap_by_kernel(slot, processors, pages, protect);
        }
        if processors == ProcessorMask::only(HOST) {
            return self.unmap_on_host(pages, protect);
        }
        let on_host = if processors.contains(HOST) { self.unmap_on_host(pages, protect) } else { self.clock.now() };
        let message = if self.told.forget(slot, processors) { 0 } else { self.costs.host_link };
        self.withdraw(processors.without(HOST), pages, protect);
        on_host.max(self.clock.now() + message + self.costs.shootdown + self.costs.host_link)
    }

    /// Pages get frames: the host commands a GPU to clear them, and clears its own.
    fn populate(&mut self, pages: PageRun, memory: MemoryId, zeroed: bool) -> u64 {
        self.say(Happening::Placed { pages, from: memory, to: memory });
        if memory.on_host() {
            self.host_frames.iter_mut().for_each(|frames| frames.put(pages));
        }
        let (first, count) = self.lines(pages);
        match memory.gpu_index().filter(|_| zeroed) {
            Some(gpu) => {
                let command = self.message();
                self.gpus[gpu].stream(self.clock.now(), command, first, count)
            }
            None if zeroed => {
                let clearing = zeroing(&self.config.host.costs, count * LINE_BYTES);
                if memory == HOST_MEMORY {
                    let written = Passed::written(count * LINE_BYTES);
                    return self.begin_on_host(self.clock.now(), written) + clearing;
                }
                (self.clock.now() + clearing).max(self.access_further(self.clock.now(), memory, count, Traffic::Lines))
            }
            None => self.clock.now(),
        }
    }

    /// Whether pages are the operating system's, in the page table that coherent GPUs share.
    #[inline]
    pub(super) fn is_system(&self, pages: PageRun) -> bool {
        self.system.as_ref().is_some_and(|system| system.contains(pages.first.0))
    }

    /// The kernel makes entries of untouched pages, and has them cleared. For a core that faults, this is part of the
    /// time of its fault; for all others, the kernel takes one page after another.
    pub(super) fn populate_by_kernel(&mut self, left: &[Step]) -> u64 {
        let Step::Populate { pages, memory, zeroed } = left[0] else { unreachable!("it populates") };
        let now = self.clock.now();
        let of_core = left.iter().any(|step| matches!(step, Step::Wake { processor: HOST, .. }));
        let made = match &mut self.system {
            Some(system) if !of_core => system.first_touch(now, pages.count),
            _ => now,
        };
        self.populate(pages, memory, zeroed) + (made - now)
    }

    /// The kernel removes entries from the shared page table, and the GPUs, which know of it already if they were
    /// drained, drop translations made from them. It does not know which of them walked the table: the call is the same
    /// where only cores used the pages.
    fn unmap_by_kernel(&mut self, slot: u32, processors: ProcessorMask, pages: PageRun, protect: bool) -> u64 {
        let message = if self.told.forget(slot, processors.without(HOST)) { 0 } else { self.costs.host_link };
        let (now, work) = (self.clock.now(), u64::from(pages.count) * self.config.host.costs.unmap_page.0);
        self.withdraw(processors, pages, protect);
        let unmapped = self.system.as_mut().map_or(now + work, |system| system.work(now, work));
        unmapped + message + self.costs.shootdown + self.costs.host_link
    }

    /// The host's own entries change at once, for so much a page.
    fn unmap_on_host(&mut self, pages: PageRun, protect: bool) -> u64 {
        self.withdraw(ProcessorMask::only(HOST), pages, protect);
        let page = self.config.driver.unmap_page.unwrap_or(self.config.host.costs.unmap_page);
        self.clock.now() + u64::from(pages.count) * page.0
    }

    /// Lines of a memory of the host that is not its first are read or written.
    pub(super) fn access_further(&mut self, time: u64, memory: MemoryId, lines: u64, traffic: Traffic) -> u64 {
        self.links.memories.access(self.clock.now(), time, memory, lines * LINE_BYTES, traffic)
    }
}
