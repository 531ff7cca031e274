//! Guards, which step in when processors compete for a page (thrashing).

mod contract;
mod none;
mod stock_driver;
#[cfg(test)]
pub(crate) mod strict;

use octavo_registry::Registry;

pub use self::contract::{Hint, ThrashingGuard};
use crate::contract::geometry::Geometry;

/// Every guard, by name.
pub static GUARDS: Registry<Box<dyn ThrashingGuard>, Geometry> =
    Registry::new("guard", &[&none::ENTRY, &stock_driver::ENTRY]);
