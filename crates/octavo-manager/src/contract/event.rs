//! Events for a memory manager.

use octavo_units::Time;

use crate::contract::ids::{Access, MemoryId, PageId, PageRun, ProcessorId, SpaceId};
use crate::contract::kind::{Advice, Kind, Spread};
use crate::contract::masks::ProcessorMask;

/// A GPU access that its page table could not serve: a *far fault* when the page is not mapped there, a *protection
/// fault* when it is mapped read-only and the access is a write. Faults of one GPU on one page that are outstanding
/// together are one fault, with the most demanding access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The processor that touched the page.
    pub processor: ProcessorId,
    /// The page.
    pub page: PageId,
    /// How.
    pub access: Access,
}

#[cfg(test)]
impl Fault {
    /// A GPU's load.
    pub(crate) fn load(gpu: usize, page: u32) -> Self {
        Self { processor: ProcessorId::gpu(gpu), page: PageId(page), access: Access::Read }
    }
}

/// A hardware access counter reached its threshold: `processor` fetched that many lines of `page`'s counter group
/// from another processor's memory since the group's counter was last cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterNotification {
    /// The processor with the remote accesses.
    pub processor: ProcessorId,
    /// The page whose access made the counter reach the threshold.
    pub page: PageId,
}

/// Accesses of one GPU to one page since the last report, for policies that ask for reports ([`Needs::reports`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessCount {
    /// The accessing processor.
    pub processor: ProcessorId,
    /// What.
    pub page: PageId,
    /// How many lines.
    pub lines: u32,
}

/// A GPU accessed a page that it maps. Evictors may ask for this ([`Eviction::wants_accesses`]), and it decides which
/// pages go home when the host [waits](Event::Synchronise).
///
/// [`Eviction::wants_accesses`]: crate::Eviction::wants_accesses
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accessed {
    /// The accessing processor.
    pub processor: ProcessorId,
    /// What.
    pub page: PageId,
    /// How often since the last report about the page; at least 1.
    pub times: u32,
    /// Whether it was written.
    pub stores: bool,
}

/// Accesses of one GPU to one page that it maps are in progress, for nodes whose [outstanding
/// accesses](crate::OutstandingAccesses) keep pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnderWay {
    /// The accessing processor.
    pub processor: ProcessorId,
    /// What.
    pub page: PageId,
    /// The time when the last of them will have come back.
    pub until: Time,
}

/// A kernel ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelEnd {
    /// The address space that launched it.
    pub space: SpaceId,
    /// Where it ran. They are idle, except for kernels of other spaces.
    pub gpus: ProcessorMask,
}

/// Pages that come into being.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Which pages.
    pub run: PageRun,
    /// The address space that owns them.
    pub space: SpaceId,
    /// The GPU whose memory the program requested: device memory lies there, and strategies that place explicitly use
    /// it.
    pub gpu: Option<ProcessorId>,
    /// The GPUs that the program runs on, over which spread memory is distributed; empty for all.
    pub gpus: ProcessorMask,
    /// The program's request.
    pub kind: Kind,
    /// Its distribution over several GPUs; only for device memory.
    pub spread: Spread,
    /// The program's hints about their use; only for managed memory.
    pub advice: Advice,
    /// Whether they lie on the host already, written before time zero; if not, they are untouched. Device and
    /// pinned memory needs no touch.
    pub populated: bool,
    /// Whether device memory waits until memory is compacted, as far as that can be, so that its blocks have large
    /// frames.
    pub compacts: bool,
}

impl From<PageRun> for Allocation {
    /// Managed pages of the only application, anywhere, without advice, which lie on the host.
    fn from(run: PageRun) -> Self {
        Self {
            run,
            space: SpaceId::default(),
            gpu: None,
            gpus: ProcessorMask::EMPTY,
            kind: Kind::default(),
            spread: Spread::default(),
            advice: Advice::default(),
            populated: true,
            compacts: false,
        }
    }
}

/// Something the manager has to react to.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// Memory was allocated.
    Allocate(Allocation),
    /// Memory was freed; its frames become free everywhere. Pages of an unfinished plan must not be freed.
    Free(PageRun),
    /// A program gives a hint about managed pages (`cudaMemAdvise`); earlier hints about them no longer hold.
    Advise {
        /// Which pages.
        pages: PageRun,
        /// What is said.
        advice: Advice,
    },
    /// Frames of a GPU's memory are set aside for pages that come there later, all of one address space, without gaps.
    /// If large frames are lacking, memory is compacted first, as far as that can be.
    SetAside {
        /// Which pages.
        pages: PageRun,
        /// Where.
        to: MemoryId,
    },
    /// A program wants pages in a memory (`cudaMemPrefetchAsync`). Pages in unfinished plans, pages that stay where
    /// they are, and pages without room are skipped.
    Prefetch {
        /// Which pages.
        pages: PageRun,
        /// Where.
        to: MemoryId,
    },
    /// A program no longer needs what is in managed pages (`cudaMemDiscardBatchAsync`): they are untouched again. Pages in
    /// unfinished plans are skipped, and so are those with accesses under way that keep them, those that stores are
    /// broadcast to, and those that a GPU keeps for others.
    Discard(PageRun),
    /// Faults in the order the driver services them.
    Faults(&'a [Fault]),
    /// A fault on a page that was believed to be mapped when it happened, while no unfinished plan held it: the mapping
    /// has vanished.
    Vanished(Fault),
    /// An access counter reached its threshold.
    Counter(CounterNotification),
    /// The periodic report, sorted by (page, processor), one entry for each page and GPU with accesses.
    Report(&'a [AccessCount]),
    /// A kernel ended.
    KernelEnd(KernelEnd),
    /// The host waits for the GPUs between two launches of an address space, which are idle, except for kernels of
    /// others.
    Synchronise(SpaceId),
    /// A GPU's memory now holds this many pages; pages beyond it are evicted.
    Capacity {
        /// Which memory; none of the host's.
        memory: MemoryId,
        /// Frames of one page each.
        pages: u32,
    },
    /// Nothing but time passed. Asks strategies whose deadline has come; see
    /// [`Manager::deadline`](crate::Manager::deadline).
    Tick,
}

/// The reports that a composition of strategies requests, asked once before anything happens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Count remote lines for each (GPU, group) and notify at this threshold.
    pub counters: Option<CounterSpec>,
    /// Report access counts periodically.
    pub reports: Option<ReportSpec>,
    /// Tell of [accesses](Accessed).
    pub accesses: bool,
    /// Faults by stores cost nothing, at once (the `ideal` bound: "writes have no NUMA cost").
    pub free_store_faults: bool,
    /// Faults cost no more than the walk that finds the page unmapped: pages have a place from their allocation on.
    pub free_faults: bool,
}

/// Hardware access counters as a policy wants them programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterSpec {
    /// Remote lines after which a notification is raised.
    pub threshold: u32,
    /// Pages that share a counter (64 KiB of address space as published; at least one page).
    pub group_pages: u32,
}

/// Periodic access reports as a policy wants them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportSpec {
    /// GPU clock cycles between reports.
    pub period_cycles: u64,
    /// Bytes each entry costs on the link to the host.
    pub entry_bytes: u32,
}
