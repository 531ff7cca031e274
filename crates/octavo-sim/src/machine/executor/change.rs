//! Effects of steps on page tables, translations and caches. Nothing here takes time.

use octavo_manager::{
    Cause, HOST, HOST_MEMORY, Manager, MappingMode, MemoryId, PageId, PageRun, Permission, ProcessorId, ProcessorMask,
};

use crate::gpu::translate::entry::Entry;
use crate::machine::hardware::Hardware;
use crate::machine::occurrence::{Happening, Listen};

impl<L: Listen> Hardware<'_, L> {
    /// Removes (or write-protects) entries, and the translations made from them.
    pub(super) fn withdraw(&mut self, processors: ProcessorMask, pages: PageRun, protect: bool) {
        if processors.contains(HOST)
            && let Some(cpu) = &mut self.cpu
        {
            cpu.withdraw(pages, protect);
        }
        let system = self.is_system(pages);
        if !protect {
            self.drop_decreed(processors, pages);
        }
        for gpu in processors.iter().filter_map(ProcessorId::gpu_index) {
            if system {
                self.gpus[gpu].forget_huge(pages);
            }
            if protect {
                self.gpus[gpu].protect(pages);
            } else {
                self.gpus[gpu].invalidate(pages);
            }
        }
    }

    /// Of pages that `ideal` made local to several GPUs, only one copy moves; the others' lines leave with the
    /// translations.
    fn drop_decreed(&mut self, processors: ProcessorMask, pages: PageRun) {
        let gpus = || processors.iter().filter_map(ProcessorId::gpu_index);
        let decreed = |gpu: &usize| {
            let entry = self.gpus[*gpu].entry(pages.first.0);
            entry.is_valid() && entry.target() == MemoryId::gpu(*gpu) && entry.is_writable() && !entry.is_broadcast()
        };
        if gpus().filter(decreed).nth(1).is_some() {
            gpus().for_each(|gpu| self.drop_lines(MemoryId::gpu(gpu), pages));
        }
    }

    /// Writes entries. Translations that a change makes wrong are shot down; returns whether there were any.
    pub(super) fn map(
        &mut self,
        processors: ProcessorMask,
        pages: PageRun,
        target: Option<MemoryId>,
        permission: Permission,
        mode: MappingMode,
    ) -> bool {
        let mut stale = false;
        let (writable, broadcast) = (permission == Permission::ReadWrite, mode == MappingMode::Broadcast);
        for processor in processors.iter() {
            let Some(gpu) = processor.gpu_index() else {
                self.map_on_host(pages, target.unwrap_or(HOST_MEMORY), writable);
                continue;
            };
            let target = target.unwrap_or(processor.memory());
            if target != processor.memory() {
                self.say(Happening::MappedRemotely { pages, by: processor, at: target });
            }
            let entry = Entry::new(target, writable, broadcast);
            for page in pages.iter() {
                stale |= self.gpus[gpu].map(page, entry);
                self.note_translation(page, target);
            }
        }
        stale
    }

    fn map_on_host(&mut self, pages: PageRun, memory: MemoryId, writable: bool) {
        if let Some(cpu) = &mut self.cpu {
            cpu.map(pages, memory, writable);
        }
    }

    /// A copy is given up that was the source of none; nothing is written back.
    pub(super) fn release(&mut self, memory: MemoryId, pages: PageRun) {
        self.say(Happening::Discarded { pages, memory });
        self.drop_lines(memory, pages);
        if memory.on_host() {
            self.host_frames.iter_mut().for_each(|frames| frames.give_up(pages));
        }
    }

    pub(super) fn drop_lines(&mut self, memory: MemoryId, pages: PageRun) {
        if let Some(gpu) = memory.gpu_index() {
            let (first, count) = self.lines(pages);
            self.gpus[gpu].drop_lines(first, count);
        }
    }

    /// The pages' dirty lines become clean in the second-level cache; how many there were. A source releases its frames
    /// with a copy, unless it is replicated: then none of their lines stay.
    pub(super) fn clean(&mut self, gpu: usize, pages: PageRun, for_copy: Option<Cause>) -> u64 {
        let (first, count) = self.lines(pages);
        let (now, gpu) = (self.clock.now(), &mut self.gpus[gpu]);
        let dirty = match for_copy {
            Some(cause) if !cause.keeps_source() => gpu.give_up_lines(now, first, count),
            _ => gpu.clean_lines(now, first, count),
        };
        self.accesses.dram_writes += dirty;
        dirty
    }

    /// Memory is given back: its translations and lines go, and nothing is written back.
    pub(super) fn forget(&mut self, run: PageRun, manager: &Manager) {
        for gpu in 0..self.gpus.len() {
            let memory = MemoryId::gpu(gpu);
            for page in run.iter().filter(|page| manager.page(*page).resident.contains(memory)) {
                self.say(Happening::Discarded { pages: PageRun::one(page), memory });
            }
            self.drop_lines(memory, run);
            self.gpus[gpu].invalidate(run);
            if self.is_system(run) {
                self.gpus[gpu].forget_huge(run);
            }
        }
        self.withdraw(ProcessorMask::only(HOST), run, false);
        self.counters.clear(run);
        self.reports.clear(run);
        self.host_frames.iter_mut().for_each(|frames| frames.free(run));
        self.system.iter_mut().for_each(|system| system.free(run));
    }

    /// First line and count of lines of a run of pages.
    pub(in crate::machine) fn lines(&self, pages: PageRun) -> (u64, u64) {
        let PageId(first) = pages.first;
        (u64::from(first) << self.page_line_shift, u64::from(pages.count) << self.page_line_shift)
    }
}
