//! Sharings, which limit how much memory one address space takes from another.

mod contract;
mod free_for_all;
mod quota;

use octavo_registry::Registry;

pub(crate) use self::contract::keeps;
pub use self::contract::{Sharing, Shortage, Yield};
use crate::contract::geometry::Geometry;

/// Every sharing strategy, by name.
pub static SHARINGS: Registry<Box<dyn Sharing>, Geometry> =
    Registry::new("sharing", &[&free_for_all::ENTRY, &quota::ENTRY]);
