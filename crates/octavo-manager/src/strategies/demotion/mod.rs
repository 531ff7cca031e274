//! Where what leaves a GPU's memory goes, and what leaves ahead of need.

pub(crate) mod host;
mod reserve;

use octavo_registry::Registry;

use crate::contract::geometry::Geometry;
use crate::contract::ids::{HOST_MEMORY, MemoryId};
use crate::memories::frames::{Change, Frames};

/// Every demotion strategy, by name.
pub static DEMOTIONS: Registry<Box<dyn Demotion>, Geometry> =
    Registry::new("demotion", &[&host::ENTRY, &reserve::ENTRY]);

/// Decides where sole copies go that leave a GPU's memory, and how many frames are kept free for what comes. Which pages
/// leave, [`Eviction`](crate::Eviction) decides.
pub trait Demotion: Send {
    /// The memory that copies leaving `from` go to. They go to the host instead as far as it has no
    /// [spare](Occupancy::spare) frame: nothing leaves a memory for what another gives up. One of the host's memories
    /// stands for all of them.
    fn destination(&mut self, _from: MemoryId, _memories: &Occupancy<'_>) -> MemoryId {
        HOST_MEMORY
    }

    /// Frames of each GPU's memory that should be free. When fewer are, and will be once plans under way are done,
    /// victims leave ahead of need, by plans of their own; but never more than half of a memory is kept free.
    fn reserve(&self) -> u32 {
        0
    }
}

/// How full memories are.
pub struct Occupancy<'a> {
    pub(crate) frames: &'a Frames,
    pub(crate) change: &'a Change,
}

impl Occupancy<'_> {
    /// Frames of a memory that are free now, beside those that plans under way will take or give up.
    #[must_use]
    pub fn spare(&self, memory: MemoryId) -> u32 {
        self.frames.spare(memory, self.change)
    }

    /// Frames that a memory has.
    #[must_use]
    pub fn capacity(&self, memory: MemoryId) -> u32 {
        self.frames.capacity(memory)
    }
}
