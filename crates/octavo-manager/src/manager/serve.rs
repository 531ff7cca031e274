//! From a fault to its plan: lets the fault wait, or asks the placement strategy, has a mechanism carry out the
//! decision, and asks the prefetcher what else to bring.

use crate::contract::block::BlockMap;
use crate::contract::event::Fault;
use crate::contract::ids::{Access, MemoryId, PageId};
use crate::contract::masks::{MemoryMask, ProcessorMask};
use crate::contract::plan::{Cause, Plan, PlanClass};
use crate::manager::Manager;
use crate::mechanism::room::NoRoom;
use crate::mechanism::{self, migrate};
use crate::pages::Pages;
use crate::pages::deciders::Decider;
use crate::strategies::config::PrefetchPlan;
use crate::strategies::context::{Charges, Context};
use crate::strategies::decision::Decision;
use crate::strategies::guard::Hint;
use crate::strategies::placement::Placement;
use crate::strategies::prefetch::Service;
use crate::transaction::Transaction;
use crate::transaction::draft::Draft;
use crate::transaction::flight::{Lack, Pending};
use crate::transaction::state::Memory;

impl Manager {
    /// Serves faults in order: each by a plan of its own, or all faults of one processor on one block together if the
    /// prefetcher wants that.
    pub(super) fn serve(&mut self, faults: &[Pending], plans: &mut Vec<Plan>) {
        if !self.policies.any_serves_blocks() {
            return faults.chunks(1).for_each(|fault| self.serve_together(fault, plans));
        }
        let part = |pages: &Pages, pending: &Pending| pages.extent(pending.fault.page);
        let mut rest = faults;
        while let Some(first) = rest.first() {
            let pages = &self.memory.pages;
            let same = rest.iter().take_while(|next| part(pages, next) == part(pages, first)).count();
            let page = first.fault.page;
            if self.policies.serves_blocks(pages.kind(page), pages.space(page)) {
                self.serve_block(&rest[..same], plans);
            } else {
                rest[..same].chunks(1).for_each(|fault| self.serve_together(fault, plans));
            }
            rest = &rest[same..];
        }
    }

    /// Faults on one block of one allocation: one service for each processor, in the order of their first faults. A
    /// batch sorted by page mixes the processors.
    fn serve_block(&mut self, faults: &[Pending], plans: &mut Vec<Plan>) {
        let mut served = ProcessorMask::EMPTY;
        let mut service = std::mem::take(&mut self.scratch.service);
        for first in faults {
            let processor = first.fault.processor;
            if !served.contains(processor) {
                served = served.with(processor);
                service.clear();
                service.extend(faults.iter().filter(|pending| pending.fault.processor == processor));
                self.serve_together(&service, plans);
            }
        }
        self.scratch.service = service;
    }

    fn serve_together(&mut self, faults: &[Pending], plans: &mut Vec<Plan>) {
        let was_full = self.memory.was_full;
        let mut draft = self.unfinished.open();
        let detour = self.detour(faults, &mut draft);
        draft.detour = detour;
        let mut migrated = BlockMap::EMPTY;
        let alone = self.refused_before(faults);
        if self.prefetch_plan == PrefetchPlan::AtOnce && !alone {
            self.serve_at_once(faults, was_full, draft, plans);
            return self.note_failure(Some(&faults[0].fault));
        }
        for &pending in faults {
            if self.serve_one(pending, &mut draft, plans) {
                let page = pending.fault.page;
                migrated.insert(page.0 - self.memory.pages.block(page).first.0);
            }
        }
        let pages = &self.memory.pages;
        let page = faults[0].fault.page;
        let brings_more = !migrated.is_empty() && !alone && {
            let prefetch = self.policies.brings(pages.kind(page), || pages.space(page));
            self.policies.prefetcher(prefetch).serves_blocks()
        };
        if brings_more && self.prefetch_plan == PrefetchPlan::Own {
            // The faults' plan gets its room first. It does not depend on the prefetched pages.
            self.unfinished.commit(&mut self.memory, draft, plans);
            draft = Draft { detour, ..self.unfinished.open_for(PlanClass::Prefetch) };
        }
        if brings_more {
            self.bring_more(&faults[0].fault, (migrated, was_full), &mut draft);
            let own = draft.class == PlanClass::Prefetch && !draft.is_empty();
            self.memory.statistics.prefetch_plans += u64::from(own);
        }
        self.unfinished.commit(&mut self.memory, draft, plans);
        self.note_failure(Some(&faults[0].fault));
    }

    /// Whether a plan for one of these faults was refused: the pages that would have come with it may have been the
    /// reason.
    fn refused_before(&mut self, faults: &[Pending]) -> bool {
        if self.refused.is_empty() {
            return false;
        }
        let again = |pending: &&Pending| self.refused.remove(&(pending.fault.processor, pending.fault.page));
        faults.iter().filter(again).count() > 0
    }

    /// Adds the steps for one fault to `draft`, or lets it wait. Whether its page moved to the processor.
    pub(super) fn serve_one(&mut self, pending: Pending, draft: &mut Draft, plans: &mut Vec<Plan>) -> bool {
        let fault = pending.fault;
        let pages = &self.memory.pages;
        assert!(fault.processor.index() < pages.geometry().processors(), "{} is not in the node", fault.processor);
        assert!(pages.allocated(fault.page), "fault on page {}, which is not allocated", fault.page.0);
        if let Some(slot) = pages.slot(fault.page) {
            self.wait(slot, pending, draft);
            return false;
        }
        let before = pages.state(fault.page);
        if before.satisfies(&fault) {
            self.memory.statistics.stale_faults += 1;
            draft.charge(pending.decided.map(|(_, charges)| charges).unwrap_or_default());
            draft.wake(fault);
            return false;
        }
        if pages.kind(fault.page).stays() && !before.populated() {
            self.starved[fault.processor.index()].push_back(pending);
            return false;
        }
        assert!(
            !pages.kind(fault.page).stays(),
            "{} touches page {}, which it cannot map",
            fault.processor,
            fault.page.0
        );
        let Some((decision, charges)) = self.decision(pending, draft) else { return false };
        draft.may_compact = !pending.compacted;
        let mut tx = Transaction { memory: &mut self.memory, draft };
        let served = mechanism::serve(&mut tx, &fault, decision);
        draft.may_compact = false;
        let pending = Pending { decided: Some((decision, charges)), ..pending };
        match served {
            Ok(cause) => {
                draft.cause.get_or_insert(cause);
                draft.charge(charges);
                draft.wake(fault);
                let after = self.memory.pages.state(fault.page);
                let here = |owner: MemoryId| owner.processor() == fault.processor;
                let elsewhere = !before.populated() || !here(before.owner);
                elsewhere && here(after.owner) && !after.replicated()
            }
            Err(NoRoom::LargeFrame(memory)) => {
                !self.wait_for_compaction(pending, memory.processor(), draft, plans)
                    && self.serve_one(Pending { compacted: true, ..pending }, draft, plans)
            }
            Err(NoRoom::Frames(memory)) => {
                self.starve(pending, memory);
                false
            }
        }
    }

    /// The decision about a fault; `None` if it has to wait.
    pub(super) fn decision(&mut self, pending: Pending, draft: &mut Draft) -> Option<(Decision, Charges)> {
        if pending.decided.is_some() {
            return pending.decided;
        }
        match self.hint(&pending.fault) {
            (Hint::Throttle(until), charges) => {
                draft.charge(charges);
                self.throttle(pending, until);
                None
            }
            (hint, charges) => Some(self.decide(&pending.fault, hint, charges)),
        }
    }

    fn starve(&mut self, pending: Pending, memory: MemoryId) {
        let fault = pending.fault;
        self.memory.statistics.faults_without_room += 1;
        let wait = pending.lacks.map_or(self.memory.statistics.faults_without_room, |lack| lack.wait);
        let lacks = Some(Lack { memory, wait });
        self.starved[fault.processor.index()].push_back(Pending { lacks, ..pending });
        self.run_out_unless_frames_come(memory, fault.page);
    }

    /// There is no memory for a page, unless something eventually leaves `memory`.
    pub(super) fn run_out_unless_frames_come(&mut self, memory: MemoryId, page: PageId) {
        if !self.something_leaves(memory) && !self.memory.frames.any_released(memory) {
            self.run_out(memory, page);
        }
    }

    /// Whether `memory` holds anything that is ever evicted, or that it keeps for others; the host's hold nothing that
    /// is.
    fn something_leaves(&self, memory: MemoryId) -> bool {
        let frames = &self.memory.frames;
        let evicts = self.memory.evictors.evicts() && self.memory.staying(memory) < frames.capacity(memory);
        !memory.on_host() && (evicts || self.memory.pages.spare().pages(memory) > 0)
    }

    fn wait(&mut self, slot: u32, pending: Pending, draft: &mut Draft) {
        self.memory.statistics.faults_on_busy_pages += 1;
        if slot == draft.slot {
            draft.flight.waiting.push(pending);
        } else {
            self.unfinished.flights.wait(slot, pending);
        }
    }

    fn decide(&mut self, fault: &Fault, hint: Hint, mut charges: Charges) -> (Decision, Charges) {
        let view = self.memory.pages.view(fault.page);
        let statistics = &mut self.memory.statistics;
        let protection = fault.access == Access::Write && view.mapped.contains(fault.processor);
        statistics.protection_faults += u64::from(protection);
        statistics.far_faults += u64::from(!protection);
        statistics.cold_faults += u64::from(self.memory.pages.touch(fault));
        if let Hint::Pin { at, mappers } = hint {
            return (Decision::Pin { memory: at, mappers }, charges);
        }
        if let Some(decision) = self.advised(fault) {
            return (decision, charges);
        }
        let decider = self.memory.pages.decider(fault.page).expect("nobody faults on pages that stay");
        let (decision, own) =
            self.ask_placement(decider, |placement, context| placement.on_fault(fault, &view, context));
        charges.add(own);
        (decision, charges)
    }

    /// Calls a placement strategy; returns its answer and the metadata accesses that it charged.
    pub(super) fn ask_placement<T>(
        &mut self,
        decider: Decider,
        ask: impl FnOnce(&mut dyn Placement, &mut Context<'_>) -> T,
    ) -> (T, Charges) {
        let mut charges = Charges::default();
        let Memory { now, pages, frames, was_full, reach, fast, .. } = &mut self.memory;
        let mut context = Context {
            now: *now,
            decider: Some(decider),
            pages,
            frames,
            was_full: *was_full,
            reach,
            fast,
            charges: &mut charges,
        };
        let answer = ask(self.policies.placement(decider), &mut context);
        (answer, charges)
    }

    /// Asks the prefetcher, and brings those pages of the block that can and may come.
    fn bring_more(&mut self, fault: &Fault, migrated: (BlockMap, MemoryMask), draft: &mut Draft) {
        let list = self.what_else(fault, migrated);
        let mut tx = Transaction { memory: &mut self.memory, draft };
        migrate::move_all(&mut tx, &list, fault.processor.memory(), Cause::Prefetch);
        self.scratch.pages = list;
    }

    /// Asks the prefetcher: the pages of the block that can and may come with those that migrate, ascending.
    pub(super) fn what_else(&mut self, fault: &Fault, (migrated, was_full): (BlockMap, MemoryMask)) -> Vec<PageId> {
        let mut list = std::mem::take(&mut self.scratch.pages);
        list.clear();
        let pages = &self.memory.pages;
        let (block, extent) = (pages.block(fault.page), pages.extent(fault.page));
        let contested = self.memory.contested(block.first, extent);
        let faulted = migrated.without(&contested);
        if faulted.is_empty() || self.needs_of(fault.page).free_faults {
            return list; // What faults at no cost brings nothing that has one.
        }
        let resident = pages.resident_near(fault.processor, fault.page).union(&migrated);
        let was_full = was_full.contains(fault.processor.memory());
        let service = Service { destination: fault.processor, block, extent, faulted, resident, contested, was_full };
        let prefetch = self.policies.brings(pages.kind(fault.page), || pages.space(fault.page));
        let decider = pages.decider(fault.page).expect("nobody faults on pages that stay");
        let (placement, prefetch) = self.policies.both(decider, prefetch);
        let wanted = prefetch.pages(&service).without(&resident);
        let here = fault.processor.memory();
        let pages = wanted.iter().map(|index| PageId(block.first.0 + index));
        list.extend(pages.filter(|&page| {
            let view = self.memory.pages.view(page);
            let preferred = self.memory.pages.advised().of(page).preferred;
            let wanted_here = preferred.is_none_or(|memory| memory.processor() == fault.processor);
            wanted_here && migrate::may_come(&view, here) && placement.may_prefetch(&view) && !self.memory.keeps(page)
        }));
        list
    }

    /// Gives frames to memory that stays, and serves the faults that waited for room, while there is some.
    pub(super) fn retry_starved(&mut self, plans: &mut Vec<Plan>) {
        self.retry_frameless(plans);
        for index in 0..self.starved.len() {
            while let Some(pending) = self.starved[index].pop_front() {
                let others = self.starved[index].len();
                self.serve(&[pending], plans);
                if self.starved[index].len() > others {
                    self.starved[index].rotate_right(1);
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use octavo_registry::Choice;

    use super::*;
    use crate::contract::event::Event;
    use crate::contract::ids::PageRun;
    use crate::contract::topology::Topology;
    use crate::strategies::config::MemoryConfig;
    use crate::strategies::guard::strict::Strict;

    #[test]
    fn pages_that_are_fought_over_bring_nothing_and_are_not_brought() {
        let config = MemoryConfig { prefetch: Choice::named("sequential-local"), ..MemoryConfig::default() };
        let mut manager = Manager::new(&config, &Topology::unlimited(1)).unwrap();
        manager.happens(Event::Allocate(PageRun { first: PageId(0), count: 1024 }.into()));
        manager.memory.guard = Some(Box::new(Strict(vec![PageId(515), PageId(530)])));
        let mut beside = |demanded: &[u32]| {
            let mut faulted = BlockMap::EMPTY;
            demanded.iter().for_each(|page| faulted.insert(page - 512));
            manager.what_else(&Fault::load(0, demanded[0]), (faulted, MemoryMask::EMPTY))
        };
        assert_eq!(beside(&[515]), []);
        let rest = [528, 529].into_iter().chain(531..535).chain(536..544);
        assert_eq!(beside(&[515, 535]), rest.map(PageId).collect::<Vec<_>>(), "64 KiB around page 535");
    }
}
