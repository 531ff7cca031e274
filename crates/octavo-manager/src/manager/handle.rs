//! Events and acknowledgements in, plans out.

use octavo_units::Time;

use crate::contract::event::{Event, Fault};
use crate::contract::plan::{Plan, PlanId};
use crate::manager::Manager;
use crate::transaction::commit::finish;
use crate::transaction::flight::Pending;

impl Manager {
    /// Reacts to `event`; the resulting plans are appended to `plans`.
    pub fn handle(&mut self, now: Time, event: Event<'_>, plans: &mut Vec<Plan>) {
        self.begin(now);
        match event {
            Event::Allocate(allocation) => self.allocate(&allocation, plans),
            Event::Free(run) => self.free(run, plans),
            Event::Advise { pages, advice } => self.advise(pages, advice, plans),
            Event::SetAside { pages, to } => self.set_aside(pages, to, plans),
            Event::Prefetch { pages, to } => self.prefetch(pages, to, plans),
            Event::Discard(pages) => self.discard(pages, plans),
            Event::Faults(faults) => self.faults(faults, plans),
            Event::Vanished(fault) => self.vanished(&fault, plans),
            Event::Counter(notification) => self.counter(&notification, plans),
            Event::Report(counts) => self.report(counts, plans),
            Event::KernelEnd(end) => self.kernel_end(&end, plans),
            Event::Synchronise(space) => self.synchronise(space, plans),
            Event::Capacity { memory, pages } => self.resize(memory, pages, plans),
            Event::Tick => self.tick(plans),
        }
        self.settle();
    }

    /// Plan `id` was carried out. Faults that waited for its pages are served.
    pub fn complete(&mut self, now: Time, id: PlanId, plans: &mut Vec<Plan>) {
        self.begin(now);
        let (slot, mut flight) = self.unfinished.flights.take(id);
        finish(&mut self.memory, slot, &flight);
        self.memory.pages.spare_mut().end(slot);
        let waiting = std::mem::take(&mut flight.waiting);
        self.unfinished.flights.close(slot, flight);
        self.retry_starved(plans);
        self.serve(&waiting, plans);
        self.coalesce_postponed(plans);
        self.settle();
    }

    /// Takes a plan back for its memory. Optional; saves an allocation for each plan.
    pub fn recycle(&mut self, plan: Plan) {
        self.unfinished.recycle(plan.steps);
    }

    fn faults(&mut self, faults: &[Fault], plans: &mut Vec<Plan>) {
        let mut batch = std::mem::take(&mut self.scratch.batch);
        batch.clear();
        batch.extend(faults.iter().map(|&fault| Pending::new(fault)));
        let again = batch.iter().any(|pending| self.refused.contains(&(pending.fault.processor, pending.fault.page)));
        self.choose_lanes(&batch);
        self.serve(&batch, plans);
        self.detours.clear();
        if !again {
            self.bring_ahead(&batch, plans);
        }
        self.scratch.batch = batch;
    }

    /// Begins every call from outside.
    pub(super) fn begin(&mut self, now: Time) {
        self.memory.now = self.memory.now.max(now);
        if let Some(held) = self.memory.pages.held_mut() {
            held.now = self.memory.now;
        }
    }

    /// Ends every call from outside.
    pub(super) fn settle(&mut self) {
        self.note_failure(None);
    }
}
