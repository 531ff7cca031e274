//! Which frame a page gets.

mod chunks;
mod cocoa;
mod contract;
mod free_list;
#[cfg(test)]
mod tests;

use octavo_registry::Registry;

pub use self::contract::{FrameAllocator, FrameRequest};
use crate::contract::counts::NamedCounts;
use crate::contract::geometry::Geometry;

/// Every frame allocator, by name.
pub static ALLOCATORS: Registry<Box<dyn FrameAllocator>, Geometry> =
    Registry::new("allocator", &[&free_list::ENTRY, &cocoa::ENTRY, &chunks::ENTRY]);

/// The counts of registered allocators, in the order of summaries, whichever of them is chosen.
pub(crate) fn counters() -> NamedCounts {
    cocoa::Counts::default().named()
}
