//! The invariants of the architecture, for tests. Slow: looks at every page.

use crate::contract::ids::{HOST_MEMORY, MAX_MEMORIES, MemoryId, PageId, PageRun, ProcessorId};
use crate::contract::masks::{MemoryMask, ProcessorMask};
use crate::contract::page::Mode;
use crate::manager::Manager;
use crate::pages::state::PageState;
use crate::strategies::context::{Charges, Context};
use crate::transaction::state::Memory;

/// An invariant that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Violation(pub String);

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(Violation(what())) }
}

impl Manager {
    /// Checks every invariant:
    ///
    /// - Each page that was touched has a copy.
    /// - A page has one owner, or identical read-only replicas. Under broadcast stores, these may be writable. The
    ///   `ideal` bound is exempt.
    /// - Mappings lead to copies, in memories within reach.
    /// - Memories hold no more than fits.
    /// - No processor maps a page that is kept for others. A page that its keeper can remove has a copy on the host.
    /// - No frame holds two pages. The pages of a large page lie in order and are mapped alike.
    /// - A page is busy exactly if one unfinished plan holds it.
    /// - The state of strategies is consistent.
    ///
    /// # Errors
    /// The first violation found.
    pub fn check(&self) -> Result<(), Violation> {
        let mut resident = [0u32; MAX_MEMORIES];
        // Read once: reading them takes most of the time.
        let mut states = Vec::new();
        for (page, state) in self.memory.pages.states() {
            if self.memory.pages.allocated(page) {
                self.check_page(page, &state, &mut resident)?;
                states.push((page, state));
            } else {
                self.check_nothing(page, &state)?;
            }
        }
        self.check_frames(&resident)?;
        self.check_spare(&states)?;
        self.check_numbered_frames()?;
        self.check_busy()?;
        self.check_tenants(&states)?;
        self.check_placement()
    }

    fn check_page(&self, page: PageId, state: &PageState, resident: &mut [u32; MAX_MEMORIES]) -> Result<(), Violation> {
        check_state(state, self.geometry().gpus).map_err(|what| Violation(format!("page {}: {what}", page.0)))?;
        self.check_reach(page, state)?;
        if state.mode == Mode::Everywhere {
            return Ok(());
        }
        for holder in state.resident.iter() {
            resident[holder.index()] += 1;
            if state.mode == Mode::Spare {
                continue;
            }
            let stays = self.memory.pages.kind(page).stays() || self.memory.system_wide(page);
            let leaves = !holder.on_host() && !stays;
            ensure(!leaves || self.memory.evictors.knows(holder, page, &self.memory.pages), || {
                format!("page {} is on {holder} and could never be evicted", page.0)
            })?;
        }
        Ok(())
    }

    /// The `ideal` bound maps by decree, but not on the host.
    fn check_reach(&self, page: PageId, state: &PageState) -> Result<(), Violation> {
        let holders = state.resident.processors();
        let decreed =
            if state.mode == Mode::Everywhere { ProcessorMask::all_gpus(self.geometry().gpus) } else { holders };
        let strangers = state.mapped.difference(decreed.union(holders));
        let able = self.memory.reach.who_can_map(state.owner, strangers);
        ensure(able == strangers, || format!("page {} is mapped by {strangers:?}, of which {able:?} reach it", page.0))
    }

    fn check_nothing(&self, page: PageId, state: &PageState) -> Result<(), Violation> {
        let empty = state.resident.is_empty() && state.mapped.is_empty() && state.writable.is_empty();
        ensure(empty && self.memory.pages.slot(page).is_none(), || format!("page {} was freed and lives", page.0))
    }

    fn check_frames(&self, resident: &[u32; MAX_MEMORIES]) -> Result<(), Violation> {
        let quiet = self.unfinished.flights.iter().next().is_none();
        let memories = (0..MAX_MEMORIES).map(|index| MemoryId(index as u8));
        for memory in memories.filter(|&memory| self.memory.frames.counts(memory)) {
            let (held, capacity) = (self.memory.frames.held(memory), self.memory.frames.capacity(memory));
            let used = resident[memory.index()];
            ensure(used <= held && (!quiet || used == held), || {
                format!("{memory} holds {used} pages in {held} frames")
            })?;
            let evicted = capacity.max(self.memory.staying(memory));
            let limit = if quiet && self.memory.evictors.evicts() { evicted } else { self.memory.frames.limit(memory) };
            ensure(held <= limit, || format!("{memory} uses {held} frames of {capacity}"))?;
        }
        Ok(())
    }

    /// The list of pages that GPUs keep for others is right: a page that may be dropped has a copy on the host.
    fn check_spare(&self, states: &[(PageId, PageState)]) -> Result<(), Violation> {
        let span = self.geometry().block_pages();
        let states = states.iter().map(|&(page, state)| (page.0 / span, state));
        self.memory.pages.spare().agrees(states).map_err(Violation)
    }

    fn check_numbered_frames(&self) -> Result<(), Violation> {
        let Some(physical) = &self.memory.physical else { return Ok(()) };
        for processor in ProcessorMask::all_gpus(self.geometry().gpus).iter() {
            let store = physical.store(processor);
            store.check().map_err(|what| Violation(format!("{processor}: {what}")))?;
            let (used, held) = (store.in_use(), self.memory.frames.held(processor.memory()));
            ensure(used == held || !physical.allocator.numbers_end(), || {
                format!("{processor} uses {used} frames by their numbers, {held} by their count")
            })?;
            for page in (0..self.memory.pages.len() as u32).map(PageId) {
                let counted = self.memory.pages.allocated(page) && self.memory.pages.mode(page) != Mode::Everywhere;
                let resident = counted && self.memory.pages.resident(processor.memory(), page);
                ensure(store.place(page).is_some() == resident, || format!("page {} on {processor}", page.0))?;
            }
            let blocks = 0..self.memory.pages.len() as u32 / store.span;
            blocks.into_iter().try_for_each(|block| self.check_large_page(processor, physical.block(block)))?;
        }
        Ok(())
    }

    fn check_large_page(&self, processor: ProcessorId, block: PageRun) -> Result<(), Violation> {
        let pages: Vec<PageId> = block.iter().filter(|&page| self.coalesced(processor, page)).collect();
        let Some(&first) = pages.first() else { return Ok(()) };
        let base = self.frame(processor.memory(), first).map(|frame| frame - first.0 % block.count);
        let writable = self.memory.pages.state(first).writable.contains(processor);
        for page in block.iter().filter(|&page| self.memory.pages.allocated(page)) {
            let state = self.memory.pages.state(page);
            let own = state.resident.near(processor) && state.mapped.contains(processor);
            let alike = own && state.mode == Mode::Plain && state.writable.contains(processor) == writable;
            ensure(alike, || format!("page {} is not like the rest of its large page on {processor}", page.0))?;
            let frame = self.frame(processor.memory(), page).map(|frame| frame - page.0 % block.count);
            ensure(frame == base, || format!("page {} is not in its place on {processor}", page.0))?;
        }
        Ok(())
    }

    fn check_busy(&self) -> Result<(), Violation> {
        let mut held = 0;
        for (slot, flight) in self.unfinished.flights.iter() {
            for (page, _) in &flight.undo {
                let known = self.memory.pages.slot(*page);
                ensure(known == Some(slot), || format!("page {} is in a plan and not busy with it", page.0))?;
            }
            held += flight.undo.len();
        }
        let pages = 0..self.memory.pages.len() as u32;
        let busy = pages.filter(|&page| self.memory.pages.slot(PageId(page)).is_some()).count();
        ensure(busy == held, || format!("{busy} pages are busy, {held} are in plans"))
    }

    fn check_tenants(&self, states: &[(PageId, PageState)]) -> Result<(), Violation> {
        let Some(tenants) = self.memory.pages.tenants() else { return Ok(()) };
        let leaves = |page: PageId| !self.memory.pages.kind(page).stays() && !self.memory.system_wide(page);
        let mut found = vec![[0; MAX_MEMORIES]; tenants.spaces().count()];
        for (page, state) in states.iter().filter(|(page, _)| leaves(*page)) {
            let held = &mut found[usize::from(self.memory.pages.space(*page).0)];
            state.movable().iter().for_each(|memory| held[memory.index()] += 1);
        }
        for (space, found) in tenants.spaces().zip(found) {
            for memory in MemoryMask::all_gpus(self.geometry().gpus).iter() {
                let (found, known) = (found[memory.index()], tenants.held(space, memory));
                ensure(found == known, || format!("space {} has {found} pages on {memory}, not {known}", space.0))?;
            }
        }
        Ok(())
    }

    fn check_placement(&self) -> Result<(), Violation> {
        // The context is for reading only; strategies get copies of what they could write.
        let mut pages = self.memory.pages.clone();
        let Memory { now, frames, was_full, reach, fast, .. } = &self.memory;
        self.policies.placements().try_for_each(|(decider, placement)| {
            let (pages, charges) = (&mut pages, &mut Charges::default());
            let context =
                Context { now: *now, decider: Some(decider), pages, frames, was_full: *was_full, reach, fast, charges };
            placement.check(&context).map_err(Violation)
        })
    }
}

fn check_state(state: &PageState, gpus: usize) -> Result<(), &'static str> {
    let PageState { owner, mode, resident, mapped, writable } = *state;
    let held = |holds: bool, what: &'static str| if holds { Ok(()) } else { Err(what) };
    if !state.populated() {
        let none = ProcessorMask::EMPTY;
        let untouched = PageState { owner: HOST_MEMORY, mode: Mode::Plain, resident, mapped: none, writable: none };
        return held(*state == untouched, "not populated, and in use");
    }
    held(resident.contains(owner), "the owner has no copy")?;
    held(resident.difference(resident.gpus()).len() <= 1, "on two of the host's memories")?;
    held(writable.difference(mapped).is_empty(), "writable where it is not mapped")?;
    match mode {
        Mode::Plain if state.replicated() => {
            held(mapped.difference(resident.processors()).is_empty(), "replicated and mapped without a replica")?;
            held(writable.is_empty(), "replicated and writable")
        }
        Mode::Plain => Ok(()),
        Mode::Broadcast => {
            held(state.replicated(), "broadcasts to nobody")?;
            held(writable == mapped, "broadcast and mapped read-only")
        }
        Mode::Spare => {
            held(
                !owner.on_host() && resident.gpus() == MemoryMask::only(owner),
                "kept for others by no GPU or by two",
            )?;
            held(mapped.is_empty(), "kept for others and mapped")
        }
        Mode::Everywhere => {
            held(resident == MemoryMask::only(owner), "ideal and replicated")?;
            let all = ProcessorMask::all_gpus(gpus);
            held(all.difference(writable).is_empty(), "ideal and not mapped everywhere")
        }
    }
}
