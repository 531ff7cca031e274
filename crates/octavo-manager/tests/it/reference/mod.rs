//! The unified-memory manager once more, slow and obvious: maps from pages to everything known about them, and
//! text-book code written from the design pages, never from the manager's.
//!
//! It knows decisions, not plans: each call changes pages, and the changed pages are busy until the harness says that
//! the plan that names them was acknowledged.

pub mod decide;
pub mod fights;
pub mod flight;
pub mod gps;
pub mod griffin;
pub mod groups;
mod guard;
pub mod kinds;
pub mod leaves;
pub mod leaving;
pub mod lfu;
pub mod lots;
pub mod lru;
pub mod model;
pub mod pa;
pub mod page;
pub mod prefetch;
pub mod room;
pub mod rules;
pub mod serve;
mod sharing;
pub mod sizes;
pub mod tiers;
pub mod tree;

pub use model::Model;
pub use rules::{Eviction, Grit, Placement, Prefetch, Rules};
