//! Plans under construction: opened, closed, taken back.

use crate::coalesce::splinters;
use crate::contract::event::Fault;
use crate::contract::ids::{HOST, PageRun, ProcessorMask};
use crate::contract::page::Mode;
use crate::contract::plan::{Cause, Plan, Step};
use crate::flight::Flight;
use crate::manager::Manager;
use crate::strategies::context::Charges;

/// Plans whose step vectors are kept for reuse, at most.
const SPARE_PLANS: usize = 1024;

/// The plan so far.
pub(crate) struct Draft {
    pub slot: u32,
    pub flight: Flight,
    /// Steps that make room, which go before all others. They can, since no other step holds a page that leaves.
    pub room: Vec<Step>,
    pub steps: Vec<Step>,
    pub charges: Charges,
    /// Whether a fault may have to wait until memory is compacted for its page.
    pub may_compact: bool,
    /// Why the first page changes.
    pub cause: Option<Cause>,
}

impl Draft {
    /// Whether there is nothing to carry out.
    pub fn is_empty(&self) -> bool {
        let changes = !self.room.is_empty() || !self.steps.is_empty() || !self.flight.journal.splintered.is_empty();
        !changes && self.flight.faults.is_empty()
    }

    pub fn wake(&mut self, fault: Fault) {
        self.flight.faults.push(fault);
    }

    pub fn charge(&mut self, charges: Charges) {
        self.charges.metadata += charges.metadata;
        self.charges.overlapped += charges.overlapped;
    }
}

impl Manager {
    pub(crate) fn open(&mut self) -> Draft {
        let (slot, flight) = self.flights.open();
        let mut spare = || self.scratch.steps.pop().unwrap_or_default();
        let (room, steps) = (spare(), spare());
        Draft { slot, flight, room, steps, charges: Charges::default(), may_compact: false, cause: None }
    }

    /// Closes a draft: it becomes a plan, unless there is nothing to do.
    pub(crate) fn commit(&mut self, mut draft: Draft, plans: &mut Vec<Plan>) {
        self.coalesce_touched(&mut draft);
        if draft.is_empty() {
            self.flights.close(draft.slot, draft.flight);
            self.recycle_steps(draft.room);
            self.recycle_steps(draft.steps);
            return;
        }
        let Draft { slot, flight, room: mut all, mut steps, charges, cause, .. } = draft;
        let makes_room = !all.is_empty();
        if let Some(physical) = &mut self.memory.physical {
            all.splice(..0, splinters(physical, &flight));
            physical.begin(slot, &flight.journal);
        }
        let room_steps = if makes_room { all.len() as u32 } else { 0 };
        wake(&flight.faults, &mut steps);
        all.append(&mut steps);
        self.recycle_steps(steps);
        self.memory.frames.begin(&flight.change);
        let id = self.flights.launch(slot, flight);
        plans.push(Plan {
            id,
            cause: cause.unwrap_or(Cause::Migration),
            metadata_accesses: charges.metadata,
            overlapped_accesses: charges.overlapped,
            room_steps,
            steps: all,
        });
    }

    pub(crate) fn roll_back(&mut self, slot: u32, flight: &Flight) {
        self.memory.frames.fail(&flight.change);
        if let Some(physical) = &mut self.memory.physical {
            physical.fail(slot, &flight.journal);
        }
        for (page, before) in flight.undo.iter().rev() {
            let now = self.memory.pages.state(*page);
            self.memory.pages.change_state(*page, &now, before);
            self.memory.pages.set_slot(*page, None);
            // What took up no room meanwhile may have been forgotten even where it stayed.
            let stayed = if now.mode == Mode::Everywhere { ProcessorMask::EMPTY } else { now.resident };
            let back = before.resident.difference(stayed).without(HOST);
            back.iter().for_each(|processor| self.memory.eviction.restored(processor, *page));
        }
    }

    pub(crate) fn recycle_steps(&mut self, mut steps: Vec<Step>) {
        if self.scratch.steps.len() < SPARE_PLANS {
            steps.clear();
            self.scratch.steps.push(steps);
        }
    }
}

/// One wake for neighbouring pages of a processor.
fn wake(faults: &[Fault], steps: &mut Vec<Step>) {
    let neighbours =
        |one: &Fault, next: &Fault| one.processor == next.processor && next.page.0 == one.page.0.wrapping_add(1);
    for run in faults.chunk_by(neighbours) {
        let pages = PageRun { first: run[0].page, count: run.len() as u32 };
        steps.push(Step::Wake { processor: run[0].processor, pages });
    }
}
