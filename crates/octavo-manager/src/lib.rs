//! The unified-memory manager: a pure state machine that decides where pages live. No clock, no I/O, no threads.
//!
//! Events go in ([`Event`]), plans come out ([`Plan`]). A call changes the manager's state at once; the plan says
//! what the driver of the manager (a simulated node, a live back-end) has to do to make it so, and is acknowledged
//! when done.
//!
//! What a memory system *is* is a composition of strategies chosen by name in a [`MemoryConfig`]: a [`Placement`]
//! decides what to do about a fault, a [`Prefetch`] what else to bring, an [`Eviction`] what to give up. The
//! mechanisms that carry decisions out know no strategy, and strategies know no steps.
#![forbid(unsafe_code)]
#![deny(clippy::disallowed_types, clippy::disallowed_methods)]

mod allocator;
mod background;
mod block;
mod check;
mod coalesce;
mod compact;
mod config;
mod context;
mod draft;
mod event;
mod eviction;
mod failure;
mod flight;
mod frames;
mod ids;
mod manager;
mod mechanism;
mod memory;
mod pages;
mod physical;
mod place;
mod placement;
mod plan;
mod prefetch;
mod random;
mod service;
mod sizing;
mod statistics;
mod transaction;
mod view;

pub use allocator::{ALLOCATORS, FrameAllocator, FrameRequest};
pub use block::BlockMap;
pub use check::Violation;
pub use config::{ConfigError, Geometry, MemoryConfig, Topology};
pub use context::Context;
pub use event::{AccessCount, Allocation, CounterNotification, CounterSpec, Event, Fault, Needs, ReportSpec};
pub use eviction::{EVICTIONS, Eviction, Residency};
pub use failure::{Failure, occasion};
pub use ids::{Access, HOST, MAX_PROCESSORS, PageId, PageRun, ProcessorId, ProcessorMask, SpaceId};
pub use manager::Manager;
pub use physical::fragmentation::Fragmentation;
pub use physical::store::FrameStore;
pub use physical::usage::{MemoryUse, OutOfMemory};
pub use placement::{Decision, Move, PLACEMENTS, Placement, Unsubscribe};
pub use plan::{Cause, Compaction, MappingMode, Permission, Plan, PlanId, Step};
pub use prefetch::{PREFETCHERS, Prefetch, Service};
pub use sizing::{Coalescing, PageSizing, SIZINGS};
pub use statistics::{PagesByScheme, SchemeChanges, Statistics};
pub use view::{GroupSize, Mode, PageView, Scheme};
