//! The parts of a plan: each primitive adds a step *and* changes the state accordingly, so that the state always
//! matches the steps.

use crate::contract::ids::{HOST, MemoryId, PageRun, ProcessorId};
use crate::contract::masks::{MemoryMask, ProcessorMask};
use crate::contract::page::Mode;
use crate::contract::plan::{Cause, Compaction, MappingMode, Permission, Step};
use crate::pages::state::PageState;
use crate::transaction::Transaction;

impl Transaction<'_> {
    pub fn drain(&mut self, processors: ProcessorMask, pages: PageRun) {
        let processors = processors.without(HOST);
        if !processors.is_empty() {
            self.draft.steps.push(Step::Drain { processors, pages });
        }
    }

    pub fn invalidate(&mut self, processors: ProcessorMask, pages: PageRun) {
        if processors.is_empty() {
            return;
        }
        self.splinter(processors, pages);
        self.draft.steps.push(Step::Invalidate { processors, pages });
        self.change(pages, |state| {
            state.mapped = state.mapped.difference(processors);
            state.writable = state.writable.difference(processors);
        });
    }

    pub fn protect(&mut self, processors: ProcessorMask, pages: PageRun) {
        if processors.is_empty() {
            return;
        }
        self.splinter(processors, pages);
        self.draft.steps.push(Step::Protect { processors, pages });
        self.change(pages, |state| state.writable = state.writable.difference(processors));
    }

    /// Untouched pages get frames of `memory`.
    pub fn populate(&mut self, pages: PageRun, memory: MemoryId, zeroed: bool) {
        self.draft.steps.push(Step::Populate { memory, pages, zeroed });
        self.change(pages, |state| {
            state.resident = MemoryMask::only(memory);
            state.owner = memory;
        });
        self.gain(memory, pages);
        self.used(memory, pages);
        self.note_return(memory, pages);
        self.memory.statistics.populated += u64::from(pages.count);
    }

    /// Makes a replica.
    pub fn replicate(&mut self, pages: PageRun, from: MemoryId, to: MemoryId) {
        self.copy(pages, from, to, Cause::Duplication);
        self.used(to, pages);
        self.note_return(to, pages);
    }

    /// Copies pages, and gives the source up.
    pub fn relocate(&mut self, pages: PageRun, from: MemoryId, to: MemoryId, cause: Cause) {
        self.splinter(ProcessorMask::only(from.processor()), pages);
        self.copy(pages, from, to, cause);
        self.release(from, pages);
        self.used(to, pages);
        pages.iter().for_each(|page| self.memory.pages.clean(page));
        if cause != Cause::Eviction {
            self.note_return(to, pages);
        }
    }

    /// Pages come to a memory: if it is a GPU's, some may have left one that was full before.
    fn note_return(&mut self, memory: MemoryId, pages: PageRun) {
        if !memory.on_host() {
            let returning = pages.iter().filter(|&page| self.memory.pages.returns(page)).count();
            self.memory.statistics.thrashed += returning as u64;
        }
    }

    /// Copies pages.
    fn copy(&mut self, pages: PageRun, from: MemoryId, to: MemoryId, cause: Cause) {
        self.draft.steps.push(Step::Copy { pages, from, to, cause });
        self.change(pages, |state| state.arrive(to, cause));
        self.gain(to, pages);
    }

    /// Gives the host a copy of pages that a GPU keeps for others, which no processor maps.
    pub fn back(&mut self, pages: PageRun, from: MemoryId, host: MemoryId) {
        self.copy(pages, from, host, Cause::WriteBack);
        self.memory.statistics.written_back += u64::from(pages.count);
    }

    /// Gives a GPU's idle memory a copy of pages that only the host has and that are not mapped.
    pub fn stage(&mut self, pages: PageRun, host: MemoryId, lender: MemoryId) {
        self.copy(pages, host, lender, Cause::Staging);
        self.memory.statistics.staged += u64::from(pages.count);
    }

    /// Gives up a copy; if it was the owner's, another holder becomes the owner, a GPU rather than the host.
    pub fn release(&mut self, memory: MemoryId, pages: PageRun) {
        self.splinter(ProcessorMask::only(memory.processor()), pages);
        self.draft.steps.push(Step::Release { memory, pages });
        self.change(pages, |state| state.give_up(memory));
        self.lose(memory, pages);
    }

    /// Gives up the copies of these holders.
    pub fn release_all(&mut self, holders: MemoryMask, pages: PageRun) {
        holders.iter().for_each(|holder| self.release(holder, pages));
    }

    /// Maps pages to a memory, or to each processor's own if there is none.
    pub fn map(&mut self, processors: ProcessorMask, pages: PageRun, target: Option<MemoryId>, rights: Permission) {
        let state = self.state(pages.first);
        let unlike = match rights {
            Permission::ReadWrite => processors.difference(state.writable),
            Permission::ReadOnly => processors.difference(state.mapped.difference(state.writable)),
        };
        self.splinter_unlike(unlike, pages);
        let mode = match state.mode {
            Mode::Broadcast => MappingMode::Broadcast,
            Mode::Plain | Mode::Everywhere | Mode::Spare => MappingMode::Direct,
        };
        self.draft.steps.push(Step::Map { processors, pages, target, permission: rights, mode });
        self.change(pages, |state| state.grant(processors, rights));
    }

    /// Moves base pages, whose translations are gone, to other frames of the same memory.
    pub fn compact(&mut self, processor: ProcessorId, moves: &[(u32, u32)], model: Compaction) {
        moves.iter().for_each(|&(from, to)| self.relocate_frame(processor, from, to));
        self.draft.steps.push(Step::Compact { processor, pages: moves.len() as u32, model });
    }

    /// Pages with one copy belong to the `ideal` bound from now on, and take up no room.
    pub fn exempt(&mut self, pages: PageRun) {
        self.lose(self.state(pages.first).owner, pages);
        self.set_mode(pages, Mode::Everywhere);
        self.memory.statistics.pages_without_room += u64::from(pages.count);
    }

    /// Pages with one copy no longer belong to it, and take up room again.
    pub fn admit(&mut self, pages: PageRun) {
        self.set_mode(pages, Mode::Plain);
        self.gain(self.state(pages.first).owner, pages);
    }

    pub fn set_mode(&mut self, pages: PageRun, mode: Mode) {
        if mode != Mode::Plain {
            self.splinter(self.state(pages.first).resident.processors(), pages);
        }
        self.change(pages, |state| state.mode = mode);
    }

    /// The pages were serviced from `memory`, which counts as a use.
    pub fn used(&mut self, memory: MemoryId, pages: PageRun) {
        let stays = self.memory.pages.kind(pages.first).stays() || self.memory.system_wide(pages.first);
        let kept = self.memory.pages.mode(pages.first) == Mode::Spare;
        if memory.on_host() || stays || kept || !self.counted(memory, pages) {
            return;
        }
        self.memory.evictors.used(memory, pages.iter(), &self.memory.pages);
    }

    /// Changes the state of pages, saving it first if this plan has not touched them yet.
    fn change(&mut self, run: PageRun, edit: impl Fn(&mut PageState)) {
        for page in run.iter() {
            let before = self.memory.pages.state(page);
            self.save(page, &before);
            let mut after = before;
            edit(&mut after);
            self.memory.pages.change_state(page, &before, &after);
        }
        if self.memory.physical.is_some() {
            self.touch(self.state(run.first).resident.processors(), run);
        }
    }

    fn gain(&mut self, memory: MemoryId, pages: PageRun) {
        if !self.counted(memory, pages) {
            return;
        }
        // Victims leave for the host before anything else: a host frame that the plan gives up may be free too late for
        // them.
        if memory.on_host() {
            return self.draft.flight.change.take(memory, pages.count);
        }
        if self.memory.physical.is_none() {
            return self.draft.flight.change.gain(memory, pages.count);
        }
        let processor = memory.processor();
        pages.iter().for_each(|page| self.take_frame(processor, page));
        self.touch(ProcessorMask::only(processor), pages);
    }

    fn lose(&mut self, memory: MemoryId, pages: PageRun) {
        if self.counted(memory, pages) {
            self.draft.flight.change.lose(memory, pages.count);
            if self.memory.physical.is_some() && !memory.on_host() {
                pages.iter().for_each(|page| self.leave_frame(memory.processor(), page));
            }
        }
    }

    /// Whether the pages take up room that is counted; pages of the `ideal` bound take up none.
    fn counted(&self, memory: MemoryId, pages: PageRun) -> bool {
        self.memory.frames.counts(memory) && self.state(pages.first).mode != Mode::Everywhere
    }
}
