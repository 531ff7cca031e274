//! Which sizes pages have.

mod base;
mod large;

use octavo_registry::Registry;
use octavo_units::Bytes;

use crate::Geometry;

/// Every page sizing, by name. What they are built for has base pages.
pub static SIZINGS: Registry<Box<dyn PageSizing>, Geometry> = Registry::new("sizing", &[&base::ENTRY, &large::ENTRY]);

/// Chooses the sizes of pages.
pub trait PageSizing: Send {
    /// Bytes of the pages that all decisions are taken on, in a memory system whose base pages have `base` bytes.
    fn page_size(&self, base: Bytes) -> Bytes {
        base
    }
}
