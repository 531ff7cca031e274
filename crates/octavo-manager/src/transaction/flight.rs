//! Plans that are not acknowledged yet.

use std::collections::VecDeque;

use crate::contract::event::Fault;
use crate::contract::ids::{MemoryId, PageId, PageRun};
use crate::contract::plan::PlanId;
use crate::memories::frames::Change;
use crate::pages::state::PageState;
use crate::strategies::context::Charges;
use crate::strategies::decision::Decision;
use crate::transaction::journal::Journal;

/// A fault that waits inside the manager: for a busy page, or for room.
#[derive(Clone, Copy)]
pub(crate) struct Pending {
    pub fault: Fault,
    /// The decision from before it had to wait for room, so that no strategy is asked twice about one fault.
    pub decided: Option<(Decision, Charges)>,
    /// The missing room, if it had to wait for it.
    pub lacks: Option<Lack>,
    /// Whether memory was compacted for it; that happens once.
    pub compacted: bool,
}

/// Room that a fault waits for.
#[derive(Clone, Copy)]
pub(crate) struct Lack {
    /// The memory without room at the last attempt.
    pub memory: MemoryId,
    /// A number that no other wait has.
    pub wait: u64,
}

impl Pending {
    pub fn new(fault: Fault) -> Self {
        Self { fault, decided: None, lacks: None, compacted: false }
    }
}

/// The data for finishing a plan or taking it back.
#[derive(Default)]
pub(crate) struct Flight {
    /// Faults that the plan wakes.
    pub faults: Vec<Fault>,
    /// Later faults on its pages.
    pub waiting: Vec<Pending>,
    /// Its pages as they were before.
    pub undo: Vec<(PageId, PageState)>,
    /// Frames gained and given up.
    pub change: Change,
    /// Counters to clear if it fails, so that they can fire again.
    pub counters: Option<PageRun>,
    /// Copies that a refused plan left behind and that it gives up.
    pub owed: Vec<(PageRun, MemoryId)>,
    /// Its changes to frames and sizes of pages.
    pub journal: Journal,
}

impl Flight {
    fn reset(&mut self) {
        self.faults.clear();
        self.waiting.clear();
        self.undo.clear();
        self.change.clear();
        self.counters = None;
        self.owed.clear();
        self.journal.reset();
    }
}

const FINISHED: u32 = u32::MAX;

/// The unfinished plans. Slots are reused, with their vectors; numbers are not.
#[derive(Default)]
pub(crate) struct Flights {
    slots: Vec<Flight>,
    free: Vec<u32>,
    /// Slot of each plan numbered `first + index`.
    window: VecDeque<u32>,
    first: u64,
}

impl Flights {
    /// A slot for the next plan, and an empty flight to be put there with [`Flights::launch`].
    pub fn open(&mut self) -> (u32, Flight) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Flight::default());
            (self.slots.len() - 1) as u32
        });
        (slot, std::mem::take(&mut self.slots[slot as usize]))
    }

    pub fn launch(&mut self, slot: u32, flight: Flight) -> PlanId {
        self.slots[slot as usize] = flight;
        self.window.push_back(slot);
        PlanId(self.first + self.window.len() as u64 - 1)
    }

    /// Gives a slot back, of a plan that turned out to be empty or that was [taken](Flights::take).
    pub fn close(&mut self, slot: u32, mut flight: Flight) {
        flight.reset();
        self.slots[slot as usize] = flight;
        self.free.push(slot);
    }

    /// The plan numbered `id`, which is unfinished no longer.
    pub fn take(&mut self, id: PlanId) -> (u32, Flight) {
        let index = id.0.checked_sub(self.first).map(|index| index as usize);
        let entry = index.and_then(|index| self.window.get_mut(index)).filter(|slot| **slot != FINISHED);
        let slot = std::mem::replace(entry.expect("an acknowledged plan is unfinished"), FINISHED);
        while self.window.front() == Some(&FINISHED) {
            self.window.pop_front();
            self.first += 1;
        }
        (slot, std::mem::take(&mut self.slots[slot as usize]))
    }

    pub fn wait(&mut self, slot: u32, pending: Pending) {
        self.slots[slot as usize].waiting.push(pending);
    }

    /// Faults that wait for a plan and are not `wanted` are forgotten.
    pub fn keep_waiting(&mut self, wanted: impl Fn(&Pending) -> bool) {
        self.slots.iter_mut().for_each(|flight| flight.waiting.retain(&wanted));
    }

    /// The unfinished plans with their slots, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Flight)> {
        let slots = self.window.iter().copied().filter(|&slot| slot != FINISHED);
        slots.map(|slot| (slot, &self.slots[slot as usize]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_used_again_once_its_plan_has_ended() {
        let mut flights = Flights::default();
        let [(first, flight), (second, _)] = [flights.open(), flights.open()];
        let plan = flights.launch(first, flight);
        let (slot, flight) = flights.take(plan);
        flights.close(slot, flight);
        assert_eq!((slot, flights.open().0), (first, first));
        assert_ne!(first, second, "that of an unfinished plan is not");
    }
}
