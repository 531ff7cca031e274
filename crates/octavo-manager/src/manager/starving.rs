//! Who waits for room, when nothing goes on any more.

use crate::contract::ids::{PageId, PageRun, SpaceId};
use crate::manager::Manager;
use crate::memories::usage::{OutOfMemory, Starving};

impl Manager {
    /// Who waits for room first, of memory that stays and of faults, if no plan is unfinished: it waits until something
    /// else happens, and for ever if nothing can. `None` if nobody waits, or if a plan may still make room.
    #[must_use]
    pub fn starving(&self) -> Option<Starving> {
        if self.unfinished.flights.iter().next().is_some() {
            return None;
        }
        let unplaced = self.frameless.front().map(|&(run, memory)| (run.first, memory));
        let faults = self.starved.iter().flatten().filter_map(|waiting| Some((waiting.fault.page, waiting.lacks?)));
        let (page, memory) = unplaced.into_iter().chain(faults).next()?;
        let spare = self.memory.pages.spare();
        Some(Starving {
            out: OutOfMemory { memory, page, space: self.memory.pages.space(page) },
            awaiting: spare.pages(memory) - spare.backed(memory),
        })
    }

    /// Whether some of these pages, which stay where they are to be, have yet to get a frame there.
    #[must_use]
    pub fn awaits_frames(&self, run: PageRun) -> bool {
        let apart =
            |other: PageRun| other.first.0 + other.count <= run.first.0 || run.first.0 + run.count <= other.first.0;
        self.frameless.iter().any(|&(waiting, _)| !apart(waiting))
    }

    /// The first page of an address space, of those that stay, that has yet to get a frame.
    #[must_use]
    pub fn first_without_frame(&self, space: SpaceId) -> Option<PageId> {
        let firsts = self.frameless.iter().map(|&(run, _)| run.first);
        firsts.filter(|&page| self.memory.pages.space(page) == space).min()
    }
}
