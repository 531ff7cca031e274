//! Where pages that leave a GPU's memory go, and which pages leave ahead of need.

mod contract;
pub(crate) mod host;
mod reserve;
mod spare_memory;

use octavo_registry::Registry;

pub use self::contract::{Demotion, Occupancy};
use crate::contract::geometry::Geometry;

/// Every demotion strategy, by name.
pub static DEMOTIONS: Registry<Box<dyn Demotion>, Geometry> =
    Registry::new("demotion", &[&host::ENTRY, &reserve::ENTRY, &spare_memory::ENTRY]);
