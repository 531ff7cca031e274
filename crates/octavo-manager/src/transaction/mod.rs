//! One plan under construction: every primitive adds a step *and* changes the state accordingly, so that the state is
//! what the steps make of it.

pub(crate) mod journal;
pub(crate) mod physical;

use crate::contract::ids::{HOST, PageId, PageRun, ProcessorId, ProcessorMask};
use crate::contract::page::Mode;
use crate::contract::plan::{Cause, MappingMode, Permission, Step};
use crate::draft::Draft;
use crate::mechanism::evict;
use crate::memory::Memory;
use crate::pages::residency::Residency;
use crate::pages::state::PageState;

/// Why a page cannot come to a memory now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRoom {
    /// No frame can be freed: every page there is busy.
    Frames(ProcessorId),
    /// The page should have a large frame, and memory can perhaps be compacted for it.
    LargeFrame(ProcessorId),
}

/// A draft and the state it changes. Runs given to its methods are uniform: their pages' states are alike.
pub(crate) struct Transaction<'a> {
    pub memory: &'a mut Memory,
    pub draft: &'a mut Draft,
}

impl Transaction<'_> {
    pub fn state(&self, page: PageId) -> PageState {
        self.memory.pages.state(page)
    }

    /// Does something for each run of neighbouring pages, ascending and next to each other in the list, that are alike.
    /// Pages that were claimed in the meantime are passed over.
    pub fn each_uniform_run(&mut self, pages: &[PageId], mut act: impl FnMut(&mut Self, PageRun)) {
        let mut rest = pages;
        while let Some(&first) = rest.first() {
            let run = self.uniform_run(rest);
            if self.memory.pages.slot(first).is_none() {
                act(self, run);
            }
            rest = &rest[run.count as usize..];
        }
    }

    /// The longest run at the head of `pages` whose pages are ascending neighbours and alike.
    fn uniform_run(&self, pages: &[PageId]) -> PageRun {
        let state = |page| (self.memory.pages.slot(page), self.state(page));
        let first = state(pages[0]);
        let alike = |(offset, &page): (usize, &PageId)| {
            page.0 == pages[0].0 + offset as u32 && (offset == 0 || state(page) == first)
        };
        PageRun { first: pages[0], count: pages.iter().enumerate().take_while(|&item| alike(item)).count() as u32 }
    }

    /// Frees frames until `pages` fit into `processor`'s memory. Nothing changes if they cannot.
    pub fn make_room(&mut self, processor: ProcessorId, pages: PageRun) -> Result<(), NoRoom> {
        if processor == HOST {
            return Ok(());
        }
        if self.draft.may_compact && self.wants_large_frame(processor, pages.first) {
            return Err(NoRoom::LargeFrame(processor));
        }
        let change = &self.draft.flight.change;
        match self.memory.frames.missing(processor, pages.count, change).ok_or(NoRoom::Frames(processor))? {
            0 => Ok(()),
            missing => self.evict(processor, missing, true),
        }
    }

    /// Evicts `count` pages from `processor`: all of them, or as many as can be found unless `all`.
    pub fn evict(&mut self, processor: ProcessorId, count: u32, all: bool) -> Result<(), NoRoom> {
        let mut victims = std::mem::take(&mut self.memory.victims);
        let residency = Residency { pages: &self.memory.pages };
        self.memory.eviction.victims(processor, count, all, &residency, &mut victims);
        let enough = victims.len() >= count as usize;
        std::mem::swap(&mut self.draft.steps, &mut self.draft.room);
        // In the order of the victims, so that a failure restores them in the reverse of it.
        self.each_uniform_run(&victims, |tx, run| evict::evict(tx, run, processor));
        std::mem::swap(&mut self.draft.steps, &mut self.draft.room);
        self.memory.victims = victims;
        if enough { Ok(()) } else { Err(NoRoom::Frames(processor)) }
    }

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

    /// Copies a page; the source's frame is given up, and its ownership with it, unless a replica is made.
    pub fn copy(&mut self, pages: PageRun, from: ProcessorId, to: ProcessorId, cause: Cause) {
        let moves = cause != Cause::Duplication;
        if moves {
            self.splinter(ProcessorMask::only(from), pages);
        }
        self.draft.steps.push(Step::Copy { pages, from, to, cause });
        self.change(pages, |state| {
            state.resident = state.resident.with(to);
            if moves {
                state.resident = state.resident.without(from);
                state.owner = to;
            }
        });
        self.gain(to, pages);
        if moves {
            self.lose(from, pages);
        }
        self.used(to, pages);
    }

    /// Gives up a copy; if it was the owner's, another holder becomes the owner, a GPU rather than the host.
    pub fn discard(&mut self, processor: ProcessorId, pages: PageRun) {
        self.splinter(ProcessorMask::only(processor), pages);
        self.draft.steps.push(Step::Discard { processor, pages });
        self.change(pages, |state| {
            state.resident = state.resident.without(processor);
            if state.owner == processor {
                state.owner = state.resident.without(HOST).first().unwrap_or(HOST);
            }
        });
        self.lose(processor, pages);
    }

    /// Maps pages to `target`'s memory, or to each processor's own if there is none.
    pub fn map(&mut self, processors: ProcessorMask, pages: PageRun, target: Option<ProcessorId>, rights: Permission) {
        let state = self.state(pages.first);
        let unlike = match rights {
            Permission::ReadWrite => processors.difference(state.writable),
            Permission::ReadOnly => processors.difference(state.mapped.difference(state.writable)),
        };
        self.splinter(unlike, pages);
        let mode = match state.mode {
            Mode::Broadcast => MappingMode::Broadcast,
            Mode::Plain | Mode::Everywhere => MappingMode::Direct,
        };
        self.draft.steps.push(Step::Map { processors, pages, target, permission: rights, mode });
        self.change(pages, |state| {
            state.mapped = state.mapped.union(processors);
            state.writable = match rights {
                Permission::ReadWrite => state.writable.union(processors),
                Permission::ReadOnly => state.writable.difference(processors),
            };
        });
    }

    /// Pages with one copy belong to the `ideal` bound from now on, and take up no room.
    pub fn exempt(&mut self, pages: PageRun) {
        self.lose(self.state(pages.first).owner, pages);
        self.set_mode(pages, Mode::Everywhere);
    }

    pub fn set_mode(&mut self, pages: PageRun, mode: Mode) {
        if mode != Mode::Plain {
            self.splinter(self.state(pages.first).resident, pages);
        }
        self.change(pages, |state| state.mode = mode);
    }

    /// The pages were serviced on `processor`, which counts as a use.
    pub fn used(&mut self, processor: ProcessorId, pages: PageRun) {
        if processor == HOST || !self.counted(pages) {
            return;
        }
        let residency = Residency { pages: &self.memory.pages };
        for page in pages.iter() {
            self.memory.eviction.used(processor, page, &residency);
        }
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
            self.touch(self.state(run.first).resident, run);
        }
    }

    /// The plan holds these pages though it may not change them.
    pub fn hold(&mut self, run: PageRun) {
        for page in run.iter() {
            let state = self.memory.pages.state(page);
            self.save(page, &state);
        }
    }

    fn save(&mut self, page: PageId, state: &PageState) {
        let known = self.memory.pages.slot(page);
        debug_assert!(known.is_none_or(|slot| slot == self.draft.slot), "page {} is in another plan", page.0);
        if known.is_none() {
            self.memory.pages.set_slot(page, Some(self.draft.slot));
            self.draft.flight.undo.push((page, *state));
        }
    }

    fn gain(&mut self, processor: ProcessorId, pages: PageRun) {
        if processor == HOST || !self.counted(pages) {
            return;
        }
        if self.memory.physical.is_none() {
            return self.draft.flight.change.gain(processor, pages.count);
        }
        pages.iter().for_each(|page| self.take_frame(processor, page));
        self.touch(ProcessorMask::only(processor), pages);
    }

    fn lose(&mut self, processor: ProcessorId, pages: PageRun) {
        if processor != HOST && self.counted(pages) {
            self.draft.flight.change.lose(processor, pages.count);
            if self.memory.physical.is_some() {
                pages.iter().for_each(|page| self.leave_frame(processor, page));
            }
        }
    }

    /// Whether the pages take up room; those of the `ideal` bound do not.
    fn counted(&self, pages: PageRun) -> bool {
        self.state(pages.first).mode != Mode::Everywhere
    }
}
