//! The calls that a guard receives, and its answers.

use octavo_units::Time;

use crate::contract::block::BlockMap;
use crate::contract::counts::NamedCounts;
use crate::contract::event::Fault;
use crate::contract::failure::Failure;
use crate::contract::ids::{MemoryId, PageId, PageRun};
use crate::contract::masks::ProcessorMask;
use crate::contract::page::PageView;
use crate::strategies::context::Context;

/// The decision about a fault on a page that processors compete for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// The guard does not interfere: advice and the placement decide.
    Pass,
    /// The fault waits until then, which is later than now. Then the guard decides about it again.
    Throttle(Time),
    /// The page comes to lie in a memory; the faulting processor maps it there, and so do these as far
    /// as they can. If the faulting processor cannot map that memory, the page comes to it instead.
    Pin {
        /// Where.
        at: MemoryId,
        /// The processors that get a mapping in addition to the faulting one.
        mappers: ProcessorMask,
    },
}

/// Watches managed pages move. Its answers go before advice and placement. Prefetchers, counters and reports never move
/// a page that it [keeps](ThrashingGuard::keeps).
///
/// It is asked about each fault on a managed page that has one copy and is not advised to be mostly read; if the fault
/// waited for another plan or was throttled, when it is served. It cannot move or map pages itself. Knowledge from a
/// plan is kept if the plan fails.
pub trait ThrashingGuard: Send {
    /// Whether it ever has an opinion; asked once. If not, it is asked nothing else and costs nothing.
    fn watches(&self) -> bool {
        true
    }

    /// A fault that is about to be decided.
    fn on_fault(&mut self, fault: &Fault, page: &PageView, context: &mut Context<'_>) -> Hint;

    /// A plan moves pages of one block to `to` because of a fault, a counter, a report or a prefetcher.
    fn moved(&mut self, pages: PageRun, to: MemoryId, context: &mut Context<'_>);

    /// A plan moves pages because their program said so, or gives them replicas or takes these away. This overrides
    /// everything that the guard knows about them.
    fn overruled(&mut self, pages: PageRun);

    /// These pages are no longer part of an allocation.
    fn freed(&mut self, pages: PageRun);

    /// Whether processors compete for the page, so that it moves only for faults that this guard lets pass.
    fn keeps(&self, page: PageId) -> bool;

    /// Those of some pages of one block that it [keeps](ThrashingGuard::keeps), numbered from the block's first,
    /// `block`. Called with the allocation's part of the block at each service that could bring more of it.
    fn contested(&self, block: PageId, pages: PageRun) -> BlockMap {
        kept(self, block, pages)
    }

    /// The time when it must be asked without any event; `None` for never. Looked at after each call.
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// Its [deadline](ThrashingGuard::deadline) has come; the next one is later. The mappings of `unpinned` pages by
    /// processors that have no copy are removed, except for those that advice asks for. Pages of unfinished plans are
    /// passed over: list them again later.
    fn on_deadline(&mut self, _context: &mut Context<'_>, _unpinned: &mut Vec<PageId>) {}

    /// Its counts, by name, for summaries.
    fn counters(&self) -> NamedCounts {
        NamedCounts::default()
    }

    /// Why it can no longer decide, if so. Until the run ends it may answer anything that the contract allows.
    fn failure(&self) -> Option<Box<Failure>> {
        None
    }

    /// Bytes of its state.
    fn bytes(&self) -> usize {
        0
    }
}

/// Pages that a guard keeps, asked one by one.
pub(super) fn kept(guard: &(impl ThrashingGuard + ?Sized), block: PageId, pages: PageRun) -> BlockMap {
    let mut kept = BlockMap::EMPTY;
    for page in pages.iter().filter(|&page| guard.keeps(page)) {
        kept.insert(page.0 - block.0);
    }
    kept
}
