//! A plan so far.

use crate::contract::event::Fault;
use crate::contract::ids::MemoryId;
use crate::contract::plan::{Cause, PlanClass, Step};
use crate::strategies::context::Charges;
use crate::transaction::flight::Flight;
use crate::transaction::physical::Physical;

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
    /// The purpose of the plan.
    pub class: PlanClass,
    /// Whether the program requested it, and not a fault, a counter or a strategy.
    pub by_program: bool,
    /// The GPU that pages of the host come by.
    pub detour: Option<MemoryId>,
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
        self.charges.add(charges);
    }
}

/// The steps that go before all others: large pages become base pages before any of these changes.
pub(crate) fn splinters<'a>(physical: &'a Physical, flight: &'a Flight) -> impl Iterator<Item = Step> + 'a {
    let splintered = flight.journal.splintered.iter();
    splintered.map(|&(processor, block)| Step::Splinter { processor, block: physical.block(block) })
}
