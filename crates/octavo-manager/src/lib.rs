//! The unified-memory manager: a pure state machine that decides where pages live. No clock (time is an argument), no I/O,
//! no threads.
//!
//! Events go in ([`Event`]), plans come out ([`Plan`]). A call changes the manager's state at once. The plan says what
//! the caller (a simulated node, a live back-end) has to do so that memories and page tables follow, and is
//! acknowledged when it is done.
//!
//! A memory system is a composition of strategies, chosen by name in a [`MemoryConfig`]. A [`Placement`] decides about
//! faults, a [`Prefetch`] chooses further pages to bring, an [`Eviction`] chooses pages to give up. The mechanisms that
//! carry decisions out know no strategy, and strategies know no steps.
#![forbid(unsafe_code)]
#![deny(clippy::disallowed_types, clippy::disallowed_methods)]

mod contract;
mod manager;
mod mechanism;
mod memories;
mod pages;
mod random;
mod strategies;
mod transaction;

pub use contract::block::BlockMap;
pub use contract::counts::{NamedCounts, Statistics};
pub use contract::error::ConfigError;
pub use contract::event::{
    AccessCount, Accessed, Allocation, CounterNotification, CounterSpec, Event, Fault, KernelEnd, Needs, ReportSpec,
    UnderWay,
};
pub use contract::failure::{Failure, occasion};
pub use contract::geometry::Geometry;
pub use contract::ids::{
    Access, HOST, HOST_MEMORY, MAX_GPUS, MAX_MEMORIES, MAX_PROCESSORS, MemoryId, PageId, PageRun, ProcessorId, SpaceId,
    Tier,
};
pub use contract::kind::{Advice, Kind, Spread};
pub use contract::masks::{MemoryMask, ProcessorMask};
pub use contract::page::{Mode, PageView};
pub use contract::plan::{Cause, Compaction, MappingMode, Permission, Plan, PlanClass, PlanId, Step};
pub use contract::refusal::{Prefix, Refusal, Why};
pub use contract::topology::{FastLinks, MemorySpec, Reach, SystemTable, Topology};
pub use manager::Manager;
pub use manager::check::Violation;
pub use memories::fragmentation::Fragmentation;
pub use memories::store::FrameStore;
pub use memories::usage::{MemoryUse, OutOfMemory, Starving, Wait};
pub use pages::attributes::{Attribute, AttributeChange};
pub use pages::census::Census;
pub use pages::residency::Residency;
pub use random::Random;
pub use strategies::allocator::{ALLOCATORS, FrameAllocator, FrameRequest};
pub use strategies::config::{MemoryConfig, PrefetchPlan};
pub use strategies::context::Context;
pub use strategies::decision::{Decision, Move, Unsubscribe};
pub use strategies::demotion::{DEMOTIONS, Demotion, Occupancy};
pub use strategies::eviction::{EVICTIONS, Eviction};
pub use strategies::guard::{GUARDS, Hint, ThrashingGuard};
pub use strategies::host_frames::HostFrames;
pub use strategies::numa::{Numa, NumaConfig, NumaPolicy};
pub use strategies::outstanding::OutstandingAccesses;
pub use strategies::padding::Padding;
pub use strategies::placement::grit::bits::{GroupSize, SCHEME, Scheme};
pub use strategies::placement::{ATTRIBUTES, PLACEMENTS, Placement};
pub use strategies::prefetch::{FaultBatch, PREFETCHERS, Path, Prefetch, Service};
pub use strategies::sharing::{SHARINGS, Sharing, Shortage, Yield};
pub use strategies::sizing::{Coalescing, LargeEntry, PageSizing, SIZINGS};
pub use strategies::space::SpaceConfig;
pub use strategies::synchronisation::Synchronisation;
pub use strategies::system::{Huge, SystemConfig};
