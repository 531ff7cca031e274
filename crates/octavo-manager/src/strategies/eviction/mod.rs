//! Which pages leave a full memory.

mod contract;
mod keep;
mod leaf_order;
mod lfu_block;
mod lru_block;
mod lru_page;
mod queue;
mod random_page;
mod recency;
mod sequential_local;
#[cfg(test)]
mod tests;
mod tree_neighborhood;
mod whole_block;

use octavo_registry::Registry;

pub use self::contract::Eviction;
use crate::contract::geometry::Geometry;

/// Every eviction strategy, by name.
pub static EVICTIONS: Registry<Box<dyn Eviction>, Geometry> = Registry::new(
    "eviction",
    &[
        &lru_page::ENTRY,
        &lru_block::ENTRY,
        &lfu_block::ENTRY,
        &tree_neighborhood::ENTRY,
        &sequential_local::ENTRY,
        &random_page::ENTRY,
        &keep::ENTRY,
    ],
);
