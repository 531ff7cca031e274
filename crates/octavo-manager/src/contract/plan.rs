//! Plans, which the driver of the manager carries out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::ids::{MemoryId, PageId, PageRun, ProcessorId};
use crate::contract::masks::ProcessorMask;

/// Number of a plan, for its acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlanId(pub u64);

/// Why something happens; every picosecond and byte is accounted to one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Cause {
    /// A page moves to the processor that faulted on it, or that a policy chose.
    Migration,
    /// A mapping to another processor's memory is made.
    RemoteMap,
    /// A replica is made (read-only, or subscribed to broadcast stores).
    Duplication,
    /// A write makes one processor the only holder of a page that had replicas.
    WriteCollapse,
    /// Memory was full.
    Eviction,
    /// A page is prefetched.
    Prefetch,
    /// The host gets a copy of a page that another GPU's memory keeps, so that it can be removed there.
    WriteBack,
    /// Another GPU's idle memory gets a copy of a page of the host, to be fetched from there.
    Staging,
}

impl Cause {
    /// Whether a copy for this reason leaves the source unchanged: another copy is made, and the page stays where it
    /// is.
    #[must_use]
    pub const fn keeps_source(self) -> bool {
        matches!(self, Self::Duplication | Self::WriteBack | Self::Staging)
    }
}

/// What a mapping allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Loads only; a store raises a protection fault.
    ReadOnly,
    /// Loads and stores.
    ReadWrite,
}

/// How a mapping is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MappingMode {
    /// From the target's memory; local if the target is the mapping processor itself.
    Direct,
    /// Loads from the target's memory: the local replica, or, for a processor without one, the owner's copy. Stores
    /// also go to every other processor that holds a replica.
    Broadcast,
}

/// The cost of moving base pages within a memory so that a large frame becomes free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compaction {
    /// The whole GPU stops, its pipelines are flushed, and the pages pass through the memory's bus.
    WorstCase,
    /// Pages are copied in bulk inside the memory.
    BulkCopy,
    /// Nothing.
    Ideal,
}

/// One thing to do. Steps are done in order; each is finished before the next starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Policy metadata in host memory is read and written (GRIT's PA-Table). Always the first step, if there is one.
    Consult {
        /// Reads and writes before any other step.
        accesses: u32,
        /// Those that run in parallel with the host's page-table walk: only the time beyond the walk is charged.
        beside_walk: u32,
    },
    /// In-flight accesses of these processors to these pages complete; with them, the compute units stop issuing
    /// until the drain is over and their first-level caches are discarded. Dirty lines of the pages are written back.
    /// Never the host, whose shoot-downs wait for its stores.
    Drain {
        /// The processors that drain their compute units.
        processors: ProcessorMask,
        /// Pages that are about to change hands.
        pages: PageRun,
    },
    /// Page-table entries are removed and translations shot down on these processors.
    Invalidate {
        /// The processors that lose translations.
        processors: ProcessorMask,
        /// The pages of these translations.
        pages: PageRun,
    },
    /// Page-table entries become read-only and translations are shot down on these processors.
    Protect {
        /// The processors whose translations change.
        processors: ProcessorMask,
        /// The pages of these translations.
        pages: PageRun,
    },
    /// Untouched pages get frames. Nothing is copied: they contain zeros.
    Populate {
        /// The memory of the frames.
        memory: MemoryId,
        /// Which pages.
        pages: PageRun,
        /// Whether the frames have to be cleared for that. Device memory is returned as it is.
        zeroed: bool,
    },
    /// Pages are copied between memories. Both hold them then: a source that loses its copy has a [`Step::Release`].
    Copy {
        /// Which pages.
        pages: PageRun,
        /// Source.
        from: MemoryId,
        /// Destination.
        to: MemoryId,
        /// Why.
        cause: Cause,
    },
    /// Frames are given up: another copy exists, or the contents are not needed. The only step that destroys data.
    Release {
        /// The memory of the frames.
        memory: MemoryId,
        /// The pages in these frames.
        pages: PageRun,
    },
    /// Page-table entries are written on these processors.
    Map {
        /// Processors that can access the pages from now on.
        processors: ProcessorMask,
        /// Which pages.
        pages: PageRun,
        /// The memory that serves them; ignored (each its own) for `target == None`.
        target: Option<MemoryId>,
        /// What is allowed.
        permission: Permission,
        /// How it is served.
        mode: MappingMode,
    },
    /// The base pages of a block become one large page: the large bit is set in the entry above theirs by one atomic
    /// write, then their entries are marked disabled. No data moves and no translation is flushed; translations of
    /// base pages stay valid until they are evicted. The block's pages are held by the plan.
    Coalesce {
        /// The processor whose page table changes.
        processor: ProcessorId,
        /// The aligned span of one large page.
        block: PageRun,
    },
    /// A large page becomes base pages again: the bits are cleared and its one large translation is flushed everywhere
    /// on the processor. Plans that change the block's pages while another splinter of it is unfinished bring one of
    /// their own, which then finds nothing to do. It is not undone when the plan fails, and the plan that
    /// wakes the failed one's faults repeats it. The step holds no page.
    Splinter {
        /// The processor whose page table changes.
        processor: ProcessorId,
        /// The aligned span of one large page.
        block: PageRun,
    },
    /// Base pages are moved to other frames of the same memory. Those with a number are invalidated before and mapped
    /// again after it; foreign ones are only counted.
    Compact {
        /// The processor near the memory.
        processor: ProcessorId,
        /// How many base pages move.
        pages: u32,
        /// What that costs.
        model: Compaction,
    },
    /// The access counters of the groups that contain these pages are cleared for every GPU.
    ClearCounters {
        /// Which pages.
        pages: PageRun,
    },
    /// Faults of `processor` on these pages are replayed.
    Wake {
        /// The processor whose faults are woken.
        processor: ProcessorId,
        /// The pages of these faults.
        pages: PageRun,
    },
}

/// The purpose of a plan, which decides who waits for whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PlanClass {
    /// Somebody waits for it: a fault, or a program for its memory.
    #[default]
    Demand,
    /// It prefetches pages. It begins when the demands that it was made with are met.
    Prefetch,
    /// No fault waits for it: the results of counters, reports, ends of kernels and deadlines.
    Background,
}

/// An ordered list of steps that carries out one decision.
///
/// Pages named in an unfinished plan are busy: later faults on them wait inside the manager until the plan is
/// acknowledged with [`complete`](crate::Manager::complete) or [`fail`](crate::Manager::fail). Steps that only wake
/// faults or clear counters name no page in this sense.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a plan that is not carried out and acknowledged leaves its pages busy for ever"]
pub struct Plan {
    /// Its number, unique and ascending.
    pub id: PlanId,
    /// What it is for.
    pub class: PlanClass,
    /// The account for the time of the waiting faults.
    pub cause: Cause,
    /// The number of steps that make room for the rest (evictions): the first ones, or those after [`Step::Consult`].
    /// Their time is accounted to [`Cause::Eviction`].
    pub room_steps: u32,
    /// What to do. Pages that leave to make room are held by none of the steps after those.
    pub steps: Vec<Step>,
}

impl Plan {
    /// Whether the step of that index is among those that make room.
    #[must_use]
    pub fn makes_room(&self, step: u32) -> bool {
        let first = u32::from(matches!(self.steps.first(), Some(Step::Consult { .. })));
        (first..first + self.room_steps).contains(&step)
    }

    /// The faults that its steps wake, as processor and page.
    pub fn wakes(&self) -> impl Iterator<Item = (ProcessorId, PageId)> + '_ {
        self.steps.iter().flat_map(Step::wakes)
    }
}

impl Step {
    /// The pages whose copies or mappings it changes; `None` if it changes neither.
    #[must_use]
    pub fn changed(&self) -> Option<PageRun> {
        match *self {
            Self::Invalidate { pages, .. }
            | Self::Protect { pages, .. }
            | Self::Populate { pages, .. }
            | Self::Copy { pages, .. }
            | Self::Release { pages, .. }
            | Self::Map { pages, .. } => Some(pages),
            Self::Consult { .. } | Self::Drain { .. } | Self::ClearCounters { .. } | Self::Wake { .. } => None,
            Self::Coalesce { .. } | Self::Splinter { .. } | Self::Compact { .. } => None,
        }
    }

    /// The faults that it wakes, as processor and page.
    pub fn wakes(&self) -> impl Iterator<Item = (ProcessorId, PageId)> + use<> {
        let woken = match *self {
            Self::Wake { processor, pages } => Some((processor, pages)),
            _ => None,
        };
        woken.into_iter().flat_map(|(processor, pages)| pages.iter().map(move |page| (processor, page)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_that_is_one_more_leaves_its_source_what_it_was() {
        use Cause::{Duplication, Eviction, Migration, Prefetch, RemoteMap, Staging, WriteBack, WriteCollapse};
        let all = [Migration, RemoteMap, Duplication, WriteCollapse, Eviction, Prefetch, WriteBack, Staging];
        let kept: Vec<Cause> = all.into_iter().filter(|cause| cause.keeps_source()).collect();
        assert_eq!(kept, [Duplication, WriteBack, Staging]);
    }
}
