//! The calls that an eviction strategy receives, and its answers.

use crate::contract::failure::Failure;
use crate::contract::ids::{MemoryId, PageId};
use crate::pages::residency::Residency;

/// Chooses victims. A replica among them is dropped, a sole copy written to the host; the mechanism sees to that.
///
/// Uses are services: the driver does not see single accesses (`uvm-driver.md` section 6). Evictors that need those,
/// too, must [say so](Eviction::wants_accesses).
pub trait Eviction: Send {
    /// Pages below `pages` can exist from now on.
    fn grow(&mut self, pages: usize);

    /// `page` was brought into the memory `holder`, or a fault on it was served from there.
    fn used(&mut self, holder: MemoryId, page: PageId, memory: &Residency<'_>);

    /// Whether it is told about [accesses](Eviction::accessed); called once before there are pages.
    fn wants_accesses(&self) -> bool {
        false
    }

    /// `page`, which takes up a frame of the memory `holder`, was accessed this many `times` since the last call for
    /// it. Calls come in the order of last accesses, before anything that can make room, and only if the evictor
    /// [wants](Eviction::wants_accesses) them. Unless implemented otherwise, an access counts as a use.
    fn accessed(&mut self, holder: MemoryId, page: PageId, times: u32, memory: &Residency<'_>) {
        _ = times;
        self.used(holder, page, memory);
    }

    /// `page` is back in the memory `holder` because a plan failed. If [`Eviction::victims`] forgot it, it becomes the
    /// next victim. Called in the reverse order of the victims.
    fn restored(&mut self, holder: MemoryId, page: PageId);

    /// Fills `victims` with at least `wanted` pages in the memory `holder`, each [evictable](Residency::evictable) and
    /// listed once. They leave unless they are [restored](Eviction::restored). If there are not enough and `all` of
    /// them are needed, none leaves and nothing changes; otherwise all that there are leave.
    fn victims(&mut self, holder: MemoryId, wanted: u32, all: bool, memory: &Residency<'_>, victims: &mut Vec<PageId>);

    /// Whether anything ever leaves.
    fn evicts(&self) -> bool {
        true
    }

    /// Why it can no longer decide, if so. Until the run ends it may answer anything that the contract allows.
    fn failure(&self) -> Option<Box<Failure>> {
        None
    }

    /// Whether it would ever find `page` in the memory `holder`; for tests.
    fn knows(&self, holder: MemoryId, page: PageId) -> bool;

    /// Bytes of its state.
    fn bytes(&self) -> usize;
}
