//! Plans are opened, committed, finished and taken back.

use crate::contract::event::Fault;
use crate::contract::ids::PageRun;
use crate::contract::masks::MemoryMask;
use crate::contract::page::Mode;
use crate::contract::plan::{Cause, Plan, PlanClass, Step};
use crate::strategies::context::Charges;
use crate::transaction::coalesce::coalesce_touched;
use crate::transaction::draft::{Draft, splinters};
use crate::transaction::flight::{Flight, Flights};
use crate::transaction::neighbours::join_neighbours;
use crate::transaction::remainder::Kept;
use crate::transaction::state::Memory;
use crate::transaction::watch::watch;

/// The most plans whose step vectors are kept for reuse.
const SPARE_PLANS: usize = 1024;

/// The plans that are not acknowledged yet.
#[derive(Default)]
pub(crate) struct Unfinished {
    pub flights: Flights,
    /// Step vectors, kept for their capacity.
    spare: Vec<Vec<Step>>,
}

impl Unfinished {
    /// A plan that no fault waits for.
    pub fn open_for(&mut self, class: PlanClass) -> Draft {
        Draft { class, ..self.open() }
    }

    /// A plan that an access waits for.
    pub fn open(&mut self) -> Draft {
        let (slot, flight) = self.flights.open();
        let mut spare = || self.spare.pop().unwrap_or_default();
        let (room, steps) = (spare(), spare());
        Draft {
            slot,
            flight,
            room,
            steps,
            charges: Charges::default(),
            may_compact: false,
            class: PlanClass::default(),
            by_program: false,
            detour: None,
            cause: None,
        }
    }

    /// Closes a draft: it becomes a plan, unless there is nothing to do.
    pub fn commit(&mut self, memory: &mut Memory, mut draft: Draft, plans: &mut Vec<Plan>) {
        coalesce_touched(memory, &mut draft);
        if draft.is_empty() {
            // No executor sees this change, so it needs no acknowledgement.
            draft.flight.undo.iter().for_each(|(page, _)| memory.pages.set_slot(*page, None));
            self.flights.close(draft.slot, draft.flight);
            self.recycle(draft.room);
            self.recycle(draft.steps);
            return;
        }
        watch(memory, &draft);
        let Draft { slot, flight, room: mut all, mut steps, charges, class, cause, .. } = draft;
        let makes_room = !all.is_empty();
        if let Some(physical) = &mut memory.physical {
            all.splice(..0, splinters(physical, &flight));
            physical.begin(slot, &flight.journal);
        }
        let room_steps = if makes_room { all.len() as u32 } else { 0 };
        join_neighbours(&mut steps);
        wake(&flight.faults, &mut steps);
        all.append(&mut steps);
        self.recycle(steps);
        if charges != Charges::default() {
            all.insert(0, Step::Consult { accesses: charges.metadata, beside_walk: charges.overlapped });
        }
        memory.frames.begin(&flight.change);
        let id = self.flights.launch(slot, flight);
        plans.push(Plan { id, class, cause: cause.unwrap_or(Cause::Migration), room_steps, steps: all });
    }

    /// Keeps a vector of steps for the next draft.
    pub fn recycle(&mut self, mut steps: Vec<Step>) {
        if self.spare.len() < SPARE_PLANS {
            steps.clear();
            self.spare.push(steps);
        }
    }
}

/// The plan in `slot` was carried out: its pages are free again, and so are the frames that it gave up.
pub(crate) fn finish(memory: &mut Memory, slot: u32, flight: &Flight) {
    for (page, _) in &flight.undo {
        memory.pages.set_slot(*page, None);
    }
    memory.frames.complete(&flight.change);
    if let Some(physical) = &mut memory.physical {
        physical.complete(slot, &flight.journal);
    }
}

/// The plan in `slot` was refused: pages and frames are as they were before, except for the done part.
pub(crate) fn keep(memory: &mut Memory, slot: u32, flight: &Flight, kept: &Kept) {
    let frames = kept.frames(&memory.frames);
    memory.frames.refuse(&flight.change, &frames);
    if let Some(physical) = &mut memory.physical {
        physical.refuse(slot, &flight.journal, kept, &memory.pages);
    }
    // In the reverse order of the victims.
    for (page, _) in flight.undo.iter().rev() {
        memory.pages.split(PageRun::one(*page));
        let (planned, now) = (memory.pages.state(*page), kept.pages[page].now);
        memory.pages.change_state(*page, &planned, &now);
        memory.pages.set_slot(*page, None);
        if matches!(now.mode, Mode::Everywhere | Mode::Spare) || memory.system_wide(*page) {
            continue;
        }
        // The evictor may have forgotten a page that took up no room meanwhile, even where the page stayed.
        let stayed = if planned.mode == Mode::Everywhere { MemoryMask::EMPTY } else { planned.resident };
        let back = now.resident.difference(stayed).gpus();
        back.iter().for_each(|holder| memory.evictors.restored(holder, *page, &memory.pages));
    }
}

/// One wake-up for neighbouring pages of a processor.
fn wake(faults: &[Fault], steps: &mut Vec<Step>) {
    let neighbours =
        |one: &Fault, next: &Fault| one.processor == next.processor && next.page.0 == one.page.0.wrapping_add(1);
    for run in faults.chunk_by(neighbours) {
        let pages = PageRun { first: run[0].page, count: run.len() as u32 };
        steps.push(Step::Wake { processor: run[0].processor, pages });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::ids::{Access, PageId, ProcessorId};

    #[test]
    fn neighbours_wake_together_if_they_are_of_one_processor() {
        let fault = |gpu, page| Fault { processor: ProcessorId::gpu(gpu), page: PageId(page), access: Access::Write };
        let mut steps = Vec::new();
        wake(&[fault(0, 3), fault(0, 4), fault(1, 5), fault(1, 7)], &mut steps);
        let woken = |gpu, first, count| Step::Wake {
            processor: ProcessorId::gpu(gpu),
            pages: PageRun { first: PageId(first), count },
        };
        assert_eq!(steps, [woken(0, 3, 2), woken(1, 5, 1), woken(1, 7, 1)]);
    }
}
