//! Decisions of placement strategies. Mechanisms carry them out. Mechanisms carry it out.

use crate::contract::ids::{MemoryId, PageId};
use crate::contract::masks::{MemoryMask, ProcessorMask};

/// What to do about a fault. Mechanisms carry it out for a page in any state. A processor that cannot map a memory gets
/// the page instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The page moves to the faulting processor, which becomes its only holder and can write it.
    Migrate,
    /// The faulting processor maps the page where it is, for reading and writing. Read-only replicas are removed,
    /// except the owner's. A page that is nowhere is made at the faulting processor, as under all other decisions.
    MapRemote,
    /// A load maps the page where it is for the faulting processor, for reading alone: a store faults again. A store is
    /// as [`Decision::MapRemote`], and so is a load of a page that has replicas.
    ReadRemote,
    /// A load gives the faulting processor a read-only replica and takes everyone's right to write; a store makes it
    /// the only holder. A page on the host moves.
    Duplicate {
        /// Whether processors that lose the right to write, or their mapping, are drained first.
        drain: bool,
    },
    /// The same, without making the host an exception: a load of a page on the host leaves the host a replica too.
    /// Processors that lose the right to write are drained.
    Replicate,
    /// The page moves to that memory, and the faulting processor maps it there. If it has replicas, it moves to the
    /// faulting processor.
    To(MemoryId),
    /// The same, and others map it there as well, as far as they can.
    Pin {
        /// The new place of the page.
        memory: MemoryId,
        /// Processors that map it besides the faulting one.
        mappers: ProcessorMask,
    },
    /// The faulting processor gets a replica that it can write; stores go to all holders. A page on the host moves.
    Subscribe,
    /// The page is at home in a memory from its allocation on; the faulting processor maps it there.
    At(MemoryId),
    /// The page moves to the faulting GPU and is mapped on every GPU as if it were local.
    Everywhere,
}

/// A page that a strategy moves without a fault. Ignored if the page is busy, replicated, already there, or if there
/// is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// What.
    pub page: PageId,
    /// Where. The processor there maps it, for reading and writing, when it arrives.
    pub to: MemoryId,
}

/// Replicas of a page in broadcast mode that a strategy gives up. The owner's stays, and so does a busy page's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsubscribe {
    /// What.
    pub page: PageId,
    /// The memories concerned.
    pub memories: MemoryMask,
}
