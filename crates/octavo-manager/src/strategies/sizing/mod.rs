//! Which sizes pages have.

mod base;
mod contract;
mod large;
mod mosaic;
mod whole_blocks;

use octavo_registry::Registry;

pub use self::contract::{Coalescing, LargeEntry, PageSizing};
use crate::contract::geometry::Geometry;

/// Every page sizing, by name.
pub static SIZINGS: Registry<Box<dyn PageSizing>, Geometry> =
    Registry::new("sizing", &[&base::ENTRY, &large::ENTRY, &mosaic::ENTRY, &whole_blocks::ENTRY]);

#[cfg(test)]
mod tests {
    use octavo_registry::{Choice, OptionError};
    use octavo_units::Bytes;

    use super::*;

    fn coalescing(name: &str, options: &str, page: u64) -> Result<Option<Coalescing>, OptionError> {
        let choice = Choice { name: name.to_owned(), options: serde_json::from_str(options).unwrap() };
        SIZINGS.build(&choice, &Geometry { gpus: 1, page_size: Bytes(page) }).map(|sizing| sizing.coalescing())
    }

    #[test]
    fn a_large_page_may_need_all_of_its_pages_and_no_more() {
        let of = |threshold: u32| {
            let options = format!(r#"{{"large_page": "16KiB", "threshold": {threshold}}}"#);
            coalescing("mosaic", &options, 4 << 10)
        };
        assert_eq!(of(4).unwrap().unwrap().threshold, 4);
        assert!(of(0).is_err() && of(5).is_err());
    }

    #[test]
    fn a_block_of_one_page_is_large_already() {
        let pages = |page| coalescing("whole-blocks", "{}", page).unwrap().map(|coalescing| coalescing.pages);
        assert_eq!([4 << 10, 64 << 10, 2 << 20].map(pages), [Some(512), Some(32), None]);
    }
}
