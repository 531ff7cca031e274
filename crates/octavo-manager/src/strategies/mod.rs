//! Strategies, each kind behind a trait with its list of implementations, and how a memory system is composed of them.

mod accesses;
pub(crate) mod advice;
pub(crate) mod allocator;
pub(crate) mod choice;
pub(crate) mod composition;
pub(crate) mod config;
pub(crate) mod context;
pub(crate) mod decision;
pub(crate) mod demotion;
pub(crate) mod eviction;
pub(crate) mod evictors;
pub(crate) mod guard;
pub(crate) mod host_frames;
mod needs;
pub(crate) mod numa;
pub(crate) mod outstanding;
pub(crate) mod padding;
pub(crate) mod placement;
pub(crate) mod policies;
pub(crate) mod prefetch;
pub(crate) mod rotation;
pub(crate) mod sharing;
pub(crate) mod sizing;
pub(crate) mod space;
pub(crate) mod synchronisation;
pub(crate) mod system;
