//! The rest of a refused plan: the state before it, and the steps that were done.

use std::collections::BTreeMap;

use crate::contract::by_memory::ByMemory;
use crate::contract::ids::{MemoryId, PageId, PageRun, ProcessorId};
use crate::contract::masks::MemoryMask;
use crate::contract::page::Mode;
use crate::contract::plan::{MappingMode, Plan, Step};
use crate::contract::refusal::Prefix;
use crate::memories::frames::Frames;
use crate::pages::Pages;
use crate::pages::state::PageState;
use crate::transaction::flight::Flight;

/// A page of a refused plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeptPage {
    pub before: PageState,
    /// The state after the steps that were done.
    pub now: PageState,
    /// The memory that it was copied from and should have left.
    pub owed: Option<MemoryId>,
}

/// All that a refused plan leaves behind.
pub(crate) struct Kept {
    pub pages: BTreeMap<PageId, KeptPage>,
    /// Blocks that became large pages.
    pub coalesced: Vec<(ProcessorId, PageRun)>,
    /// Whether pages were moved to other frames of their memory.
    pub compacted: bool,
}

impl Kept {
    /// The rest of a plan that is still in the pages' states.
    pub fn of(flight: &Flight, plan: &Plan, done: Prefix, pages: &Pages) -> Self {
        let page = |&(page, before): &(PageId, PageState)| (page, KeptPage { before, now: before, owed: None });
        let mut kept = Self { pages: flight.undo.iter().map(page).collect(), coalesced: Vec::new(), compacted: false };
        for (page, source) in flight.owed.iter().flat_map(|&(run, source)| run.iter().map(move |page| (page, source))) {
            kept.pages.get_mut(&page).expect("it is held").owed = Some(source);
        }
        done.of(&plan.steps).for_each(|step| kept.redo(&step));
        for (&page, kept) in &mut kept.pages {
            kept.decree(pages.mode(page));
        }
        kept
    }

    /// The increase of each memory's used frames over the state before the plan.
    pub fn frames(&self, memories: &Frames) -> ByMemory<i32> {
        let mut frames = ByMemory::default();
        let counted = |state: &PageState| state.holders().iter().filter(|&memory| memories.counts(memory));
        for KeptPage { before, now, .. } in self.pages.values() {
            counted(now).for_each(|memory| frames[memory] += 1);
            counted(before).for_each(|memory| frames[memory] -= 1);
        }
        frames
    }

    /// Whether `page` takes up a frame of `memory`.
    pub fn fills(&self, memory: MemoryId, page: PageId) -> bool {
        self.pages.get(&page).is_some_and(|kept| kept.now.holders().contains(memory))
    }

    /// Repeats a step on the pages that the plan holds; other pages are only named by it.
    fn redo(&mut self, step: &Step) {
        if let Some(pages) = step.changed() {
            let held = pages.iter().filter_map(|page| self.pages.get_mut(&page).map(|kept| kept.redo(step)));
            return held.for_each(drop);
        }
        match *step {
            Step::Coalesce { processor, block } => self.coalesced.push((processor, block)),
            Step::Compact { .. } => self.compacted = true,
            // A splinter is repeated: whether it was done does not matter.
            _ => {}
        }
    }
}

impl KeptPage {
    fn redo(&mut self, step: &Step) {
        let state = &mut self.now;
        match *step {
            Step::Invalidate { processors, .. } => {
                state.mapped = state.mapped.difference(processors);
                state.writable = state.writable.difference(processors);
            }
            Step::Protect { processors, .. } => state.writable = state.writable.difference(processors),
            Step::Populate { memory, .. } => {
                (state.resident, state.owner) = (MemoryMask::only(memory), memory);
            }
            Step::Copy { from, to, cause, .. } => {
                state.arrive(to, cause);
                if !cause.keeps_source() {
                    self.owed = Some(from);
                }
            }
            Step::Release { memory, .. } => {
                self.owed = self.owed.filter(|&owed| owed != memory);
                state.give_up(memory);
            }
            Step::Map { processors, target, permission, mode, .. } => {
                state.grant(processors, permission);
                state.mode = match (mode, target) {
                    (MappingMode::Broadcast, _) => Mode::Broadcast,
                    (MappingMode::Direct, None) => Mode::Everywhere,
                    (MappingMode::Direct, Some(_)) if state.mode == Mode::Broadcast => Mode::Plain,
                    (MappingMode::Direct, Some(_)) => state.mode,
                };
            }
            _ => {}
        }
    }

    /// A page on its way into the `ideal` bound or out of it takes up no room once it has changed hands.
    fn decree(&mut self, planned: Mode) {
        let Self { before, now, .. } = self;
        if planned != Mode::Everywhere && before.mode != Mode::Everywhere {
            return;
        }
        let as_before = now.mode == Mode::Plain && now.resident == before.resident;
        let on_host = now.owner.on_host() && now.resident == MemoryMask::only(now.owner);
        now.mode = if as_before || on_host { Mode::Plain } else { Mode::Everywhere };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::ids::HOST_MEMORY;
    use crate::contract::masks::ProcessorMask;
    use crate::contract::plan::{Cause, Compaction, Permission};

    fn at(owner: MemoryId, mode: Mode) -> PageState {
        let (mapped, writable) = (ProcessorMask::EMPTY, ProcessorMask::EMPTY);
        PageState { owner, mode, resident: MemoryMask::only(owner), mapped, writable }
    }

    #[test]
    fn a_mapping_ends_broadcasting_and_leaves_every_other_mode() {
        let gpu = MemoryId::gpu(0);
        let pages = PageRun::one(PageId(3));
        let map = Step::Map {
            processors: ProcessorMask::only(ProcessorId::gpu(1)),
            pages,
            target: Some(gpu),
            permission: Permission::ReadWrite,
            mode: MappingMode::Direct,
        };
        for (before, after) in
            [(Mode::Broadcast, Mode::Plain), (Mode::Plain, Mode::Plain), (Mode::Everywhere, Mode::Everywhere)]
        {
            let state = at(gpu, before);
            let mut kept = KeptPage { before: state, now: state, owed: None };
            kept.redo(&map);
            assert_eq!(kept.now.mode, after);
            assert!(kept.now.writable.contains(ProcessorId::gpu(1)));
        }
    }

    #[test]
    fn a_page_of_the_ideal_bound_is_in_it_where_it_has_changed_hands() {
        let (gpu, other) = (MemoryId::gpu(0), MemoryId::gpu(1));
        let (plain, ideal) = (|memory| at(memory, Mode::Plain), |memory| at(memory, Mode::Everywhere));
        for (before, planned, now, mode) in [
            (plain(HOST_MEMORY), Mode::Everywhere, plain(HOST_MEMORY), Mode::Plain),
            (plain(HOST_MEMORY), Mode::Everywhere, plain(gpu), Mode::Everywhere),
            (plain(gpu), Mode::Everywhere, plain(gpu), Mode::Plain),
            (plain(gpu), Mode::Everywhere, plain(other), Mode::Everywhere),
            (ideal(gpu), Mode::Plain, ideal(gpu), Mode::Everywhere),
            (ideal(gpu), Mode::Plain, plain(HOST_MEMORY), Mode::Plain),
            (ideal(gpu), Mode::Plain, plain(other), Mode::Everywhere),
            (plain(gpu), Mode::Plain, at(other, Mode::Spare), Mode::Spare),
            (plain(gpu), Mode::Plain, plain(other), Mode::Plain),
        ] {
            let mut kept = KeptPage { before, now, owed: None };
            kept.decree(planned);
            assert_eq!(kept.now.mode, mode, "{before:?} to {planned:?}, now {now:?}");
        }
    }

    #[test]
    fn what_was_done_to_blocks_and_frames_is_remembered() {
        let mut kept = Kept { pages: BTreeMap::new(), coalesced: Vec::new(), compacted: false };
        let (processor, block) = (ProcessorId::gpu(0), PageRun { first: PageId(4), count: 4 });
        kept.redo(&Step::Coalesce { processor, block });
        assert_eq!((kept.coalesced.as_slice(), kept.compacted), (&[(processor, block)][..], false));
        kept.redo(&Step::Compact { processor, pages: 1, model: Compaction::Ideal });
        assert!(kept.compacted);
    }

    #[test]
    fn a_page_that_was_copied_has_yet_to_leave_its_source_unless_it_stays_there() {
        let (gpu, pages) = (MemoryId::gpu(0), PageRun::one(PageId(3)));
        let owed = |cause| {
            let state = at(HOST_MEMORY, Mode::Plain);
            let mut kept = KeptPage { before: state, now: state, owed: None };
            kept.redo(&Step::Copy { pages, from: HOST_MEMORY, to: gpu, cause });
            kept.owed
        };
        assert_eq!([Cause::Migration, Cause::Duplication].map(owed), [Some(HOST_MEMORY), None]);
    }
}
