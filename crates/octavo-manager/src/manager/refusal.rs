//! A plan is refused: the part of it that is done stays done.

use std::collections::BTreeSet;

use octavo_units::Time;

use crate::contract::event::Fault;
use crate::contract::ids::{MemoryId, PageId, PageRun, ProcessorId};
use crate::contract::plan::{Plan, PlanId, Step};
use crate::contract::refusal::{Prefix, Refusal, Why};
use crate::manager::Manager;
use crate::mechanism::repair::repair;
use crate::memories::frameless::Frameless;
use crate::memories::usage::OutOfMemory;
use crate::transaction::Transaction;
use crate::transaction::commit::keep;
use crate::transaction::draft::Draft;
use crate::transaction::flight::Flight;
use crate::transaction::remainder::Kept;

impl Manager {
    /// A plan could not be carried out to its end. Finished steps stay done, and all other pages are where they were. A
    /// further plan cleans up the half-done steps, and wakes the plan's faults and those that waited for its pages. It
    /// is appended first, and its number is returned if there is such a plan. The accesses are tried again; if they
    /// fault again, each is served alone.
    ///
    /// A memory that has [no frame left](Why::NoMemory) holds no more from now on than it does then; for the host's
    /// memory that is the end, and so is an allocation that is [broken](Why::Broken).
    pub fn fail(&mut self, now: Time, plan: &Plan, refusal: Refusal, plans: &mut Vec<Plan>) -> Option<PlanId> {
        self.begin(now);
        let (slot, flight) = self.unfinished.flights.take(plan.id);
        self.memory.statistics.failed_plans += 1;
        let kept = Kept::of(&flight, plan, refusal.done, &self.memory.pages);
        let unplaced = self.unplaced(&kept);
        keep(&mut self.memory, slot, &flight, &kept);
        self.memory.pages.spare_mut().end(slot);
        self.believe(plan, refusal);
        self.postpone_touched(&flight);
        let mut draft = self.unfinished.open();
        self.end_what_began(&flight, &kept, &mut draft);
        self.place_again(&unplaced, refusal.why, &mut draft, plans);
        self.wake_faults(plan, refusal.done, &flight, &mut draft);
        let made = plans.len();
        self.unfinished.commit(&mut self.memory, draft, plans);
        let end = plans.get(made).map(|plan| plan.id);
        self.unfinished.flights.close(slot, flight);
        self.retry_starved(plans);
        self.coalesce_postponed(plans);
        self.settle();
        end
    }

    /// Facts about memories in the refusal.
    fn believe(&mut self, plan: &Plan, refusal: Refusal) {
        if refusal.why != Why::NoMemory {
            return;
        }
        let (memory, pages) = match plan.steps.get(refusal.done.steps as usize) {
            Some(&Step::Copy { to, pages, .. }) => (to, pages),
            Some(&Step::Populate { memory, pages, .. }) => (memory, pages),
            _ => return,
        };
        if memory.on_host() {
            self.run_out(memory, pages.first);
        } else {
            let held = self.memory.frames.held(memory);
            self.memory.frames.set_capacity(memory, held.min(self.memory.frames.capacity(memory)));
        }
    }

    /// Adds the remaining steps for pages and frames.
    fn end_what_began(&mut self, flight: &Flight, kept: &Kept, draft: &mut Draft) {
        // It is unknown whether they were before it failed.
        draft.flight.journal.splintered.extend_from_slice(&flight.journal.splintered);
        self.keep_large(kept, draft);
        repair(&mut Transaction { memory: &mut self.memory, draft }, kept);
        if let Some(counters) = flight.counters {
            draft.steps.push(Step::ClearCounters { pages: counters });
            draft.flight.counters = Some(counters);
        }
    }

    /// Blocks that became large pages stay so if they still can be.
    fn keep_large(&mut self, kept: &Kept, draft: &mut Draft) {
        let Some(physical) = &mut self.memory.physical else { return };
        for &(processor, run) in &kept.coalesced {
            let block = physical.block_of(run.first);
            let store = physical.store_mut(processor);
            match store.home(block).filter(|_| store.full_home(block)) {
                Some(home) => store.set_coalesced(home, true),
                None => draft.flight.journal.splintered.push((processor, block)),
            }
        }
    }

    /// Its faults that were not woken, and those that waited for its pages, happen again.
    fn wake_faults(&mut self, plan: &Plan, done: Prefix, flight: &Flight, draft: &mut Draft) {
        let woken: BTreeSet<(ProcessorId, PageId)> = done.of(&plan.steps).flat_map(|step| step.wakes()).collect();
        let place = |fault: &Fault| (fault.processor, fault.page);
        for &fault in flight.faults.iter().filter(|fault| !woken.contains(&place(fault))) {
            draft.wake(fault);
            self.refused.insert(place(&fault));
        }
        flight.waiting.iter().for_each(|pending| draft.wake(pending.fault));
    }

    /// Runs of pages that should have got frames for good and did not, and their address spaces.
    fn unplaced(&mut self, kept: &Kept) -> Vec<(PageRun, MemoryId)> {
        let mut runs: Vec<(PageRun, MemoryId)> = Vec::new();
        for (&page, kept) in &kept.pages {
            if kept.now.populated() || !self.memory.pages.kind(page).stays() {
                continue;
            }
            let home = self.memory.pages.state(page).owner;
            self.memory.frames.stays_no_more(home);
            match runs.last_mut() {
                Some((run, last)) if *last == home && run.first.0 + run.count == page.0 => run.count += 1,
                _ => runs.push((PageRun::one(page), home)),
            }
        }
        runs
    }

    fn place_again(&mut self, unplaced: &[(PageRun, MemoryId)], why: Why, draft: &mut Draft, plans: &mut Vec<Plan>) {
        for &(run, home) in unplaced {
            match why {
                Why::Gone => {}
                Why::Broken => self.run_out(home, run.first),
                Why::Again | Why::NoMemory => {
                    self.give_or_await_frames(Frameless { run, memory: home, compacts: false }, draft, plans);
                }
            }
        }
    }

    /// There is no memory for a page.
    pub(super) fn run_out(&mut self, memory: MemoryId, page: PageId) {
        let space = self.memory.pages.space(page);
        self.out_of_memory.get_or_insert(OutOfMemory { memory, page, space });
    }
}
