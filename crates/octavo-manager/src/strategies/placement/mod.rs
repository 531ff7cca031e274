//! Placements, which decide where a page goes when a processor touches it.

mod access_counter;
mod coherent;
mod contract;
mod counters;
mod delayed_migration;
mod duplication;
mod fault_and_count;
mod first_touch;
mod gps;
mod griffin;
pub(crate) mod grit;
mod ideal;
mod interleaved;
mod on_touch;

use octavo_registry::Registry;

pub use self::contract::Placement;
use crate::contract::counts::NamedCounts;
use crate::contract::geometry::Geometry;
use crate::pages::attributes::Attribute;
use crate::pages::census::Census;

/// Every placement strategy, by name.
pub static PLACEMENTS: Registry<Box<dyn Placement>, Geometry> = Registry::new(
    "placement",
    &[
        &on_touch::ENTRY,
        &first_touch::ENTRY,
        &access_counter::ENTRY,
        &duplication::ENTRY,
        &grit::ENTRY,
        &griffin::ENTRY,
        &gps::ENTRY,
        &ideal::ENTRY,
        &interleaved::ENTRY,
        &coherent::ENTRY,
        &fault_and_count::ENTRY,
        &delayed_migration::ENTRY,
    ],
);

/// Attributes of all registered placements whose values have names, in the order in which results list them.
pub static ATTRIBUTES: [&Attribute; 1] = [&grit::bits::SCHEME];

/// The counts of registered placements, in the order of summaries, whichever of them is chosen.
pub(crate) fn counters(census: &Census<'_>) -> NamedCounts {
    grit::counts::Counts::default().named(census)
}
