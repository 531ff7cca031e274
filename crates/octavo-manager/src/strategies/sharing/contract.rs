//! The calls that a sharing strategy receives, and its answers.

use crate::contract::failure::Failure;
use crate::contract::ids::{MemoryId, SpaceId};
use crate::memories::frames::Frames;
use crate::pages::tenants::Tenants;

/// Decides whose pages leave a full memory. The [`Eviction`](crate::Eviction) of that address space, which knows no
/// others, decides which of its pages.
pub trait Sharing: Send {
    /// Whether it tells address spaces apart; called once. If not, all pages leave in one order, no method is called
    /// again, and the strategy costs nothing.
    fn tells_apart(&self) -> bool {
        true
    }

    /// Appends the address spaces that give up pages, in order, each once. Pages leave until [as many as
    /// wanted](Shortage::wanted) have left. When no space may give up any more, the request for room waits.
    fn yields(&mut self, shortage: &Shortage<'_>, yields: &mut Vec<Yield>);

    /// Why it can no longer decide, if so. Until the run ends it may answer anything that the contract allows.
    fn failure(&self) -> Option<Box<Failure>> {
        None
    }
}

/// An address space that gives up pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Yield {
    /// Which.
    pub space: SpaceId,
    /// At most this many pages, even if its evictor would choose more at once.
    pub most: u32,
}

/// Whether the answer to a shortage spares pages of an address space that could leave.
pub(crate) fn keeps(shortage: &Shortage<'_>, yields: &[Yield]) -> bool {
    let given = |space| yields.iter().find(|yielded| yielded.space == space).map_or(0, |yielded| yielded.most);
    shortage.spaces().any(|space| given(space) < shortage.held(space))
}

/// A memory has to give up frames.
pub struct Shortage<'a> {
    /// Which.
    pub memory: MemoryId,
    /// The number of pages that have to leave.
    pub wanted: u32,
    /// The address space that needs room; `None` if no address space caused it: the memory shrinks, memory that stays
    /// occupies it, or some of it should be free.
    pub asking: Option<SpaceId>,
    /// Frames that hold pages for other GPUs, of which the host has no copy yet.
    pub(crate) awaiting: u32,
    /// Frames whose pages are never evicted.
    pub(crate) staying: u32,
    pub(crate) tenants: &'a Tenants,
    pub(crate) frames: &'a Frames,
}

impl Shortage<'_> {
    /// Frames of the memory for pages that can be made to leave.
    #[must_use]
    pub fn room(&self) -> u32 {
        self.frames.capacity(self.memory).saturating_sub(self.staying + self.awaiting)
    }

    /// All address spaces seen so far, in order of their numbers.
    pub fn spaces(&self) -> impl Iterator<Item = SpaceId> + '_ {
        self.tenants.spaces()
    }

    /// Whether an address space has memory now and runs where this memory is near.
    #[must_use]
    pub fn at_home(&self, space: SpaceId) -> bool {
        self.tenants.at_home(space, self.memory)
    }

    /// Pages of an address space in the memory that can be made to leave, except for those that are leaving.
    #[must_use]
    pub fn held(&self, space: SpaceId) -> u32 {
        self.tenants.held(space, self.memory)
    }

    /// Name of an address space; empty if it has none.
    #[must_use]
    pub fn name(&self, space: SpaceId) -> &str {
        self.tenants.name(space)
    }
}
