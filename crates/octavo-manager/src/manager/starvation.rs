//! Requests that wait for room that no unfinished plan can make.

use crate::contract::ids::{MemoryId, PageId, PageRun, SpaceId};
use crate::manager::Manager;
use crate::memories::usage::{OutOfMemory, Starving, Wait};

impl Manager {
    /// The first one, among memory that stays and faults, that waits for room which no unfinished plan can make: it
    /// waits until something else happens, or forever if nothing can. `None` if none does.
    #[must_use]
    pub fn starving(&self) -> Option<Starving> {
        let unplaced = self.frameless.iter().map(|waiting| (waiting.run.first, waiting.memory));
        let faults = self.faults_without_room().map(|(page, memory, _)| (page, memory));
        let (page, memory) = unplaced.chain(faults).find(|&(_, memory)| !self.may_get_room(memory))?;
        let spare = self.memory.pages.spare();
        Some(Starving {
            out: OutOfMemory { memory, page, space: self.memory.pages.space(page) },
            awaiting: spare.pages(memory) - spare.backed(memory),
        })
    }

    /// Whether some of these pages still wait for frames that they should have from allocation on.
    #[must_use]
    pub fn awaits_frames(&self, run: PageRun) -> bool {
        let apart =
            |other: PageRun| other.first.0 + other.count <= run.first.0 || run.first.0 + run.count <= other.first.0;
        self.frameless.iter().any(|waiting| !apart(waiting.run))
    }

    /// The wait of a [starving](Self::starving) address space: its first page that stays and has no frame yet, or else
    /// its oldest fault.
    #[must_use]
    pub fn first_wait(&self, space: SpaceId) -> Option<Wait> {
        let own = |page: PageId| self.memory.pages.space(page) == space;
        let starves = |memory: MemoryId| !self.may_get_room(memory);
        let unplaced = self.frameless.iter().filter(|waiting| own(waiting.run.first) && starves(waiting.memory));
        let page = unplaced.map(|waiting| Wait::Page(waiting.run.first)).min();
        let faults = self.faults_without_room().filter(|&(page, memory, _)| own(page) && starves(memory));
        page.or_else(|| faults.map(|(.., wait)| Wait::Fault(wait)).min())
    }

    /// Faults that wait for room: the page, the memory, and the number of the wait.
    fn faults_without_room(&self) -> impl Iterator<Item = (PageId, MemoryId, u64)> + '_ {
        let starved = self.starved.iter().flatten();
        starved.filter_map(|waiting| waiting.lacks.map(|lack| (waiting.fault.page, lack.memory, lack.wait)))
    }

    /// Whether an unfinished plan or an access under way keeps anything in a memory, so that its end may make room.
    /// Pages that should leave for the host may go elsewhere, too.
    fn may_get_room(&self, memory: MemoryId) -> bool {
        let pages = &self.memory.pages;
        if pages.held().is_some_and(|held| held.next(memory).is_some()) {
            return true;
        }
        let physical = self.memory.physical.as_ref().filter(|_| !memory.on_host());
        if physical.is_some_and(|physical| physical.compacted_by(memory.processor()).is_some()) {
            return true;
        }
        self.unfinished
            .flights
            .iter()
            .flat_map(|(_, flight)| &flight.undo)
            .any(|(page, before)| memory.on_host() || before.resident.contains(memory) || pages.resident(memory, *page))
    }
}
