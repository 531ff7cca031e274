//! `large`: all pages are large pages, for translation and for everything that is decided about them.

use octavo_registry::{Entry, OptionError, typed};
use octavo_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PageSizing;
use crate::contract::geometry::{Geometry, PAGE_SIZES};

/// Options of `large`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// Bytes of a page, 64KiB or 2MiB, a multiple of `page_size`; default 2MiB (Mosaic, MICRO 2017).
    large_page: Bytes,
}

impl Default for Options {
    fn default() -> Self {
        Self { large_page: Bytes(2 << 20) }
    }
}

pub(super) static ENTRY: Entry<Box<dyn PageSizing>, Geometry> = Entry {
    name: "large",
    summary: "large pages only: they migrate, are evicted and are translated as a whole",
    source: "Mosaic (MICRO 2017): GPU-MMU with 2 MiB pages",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, geometry| {
        let Options { large_page } = typed::parse(options)?;
        let base = geometry.page_size;
        if !PAGE_SIZES[1..].contains(&large_page.0) || !large_page.0.is_multiple_of(base.0) {
            let message = format!("expected 64KiB or 2MiB, and a multiple of the page size {base}, found {large_page}");
            return Err(OptionError::new("large_page", message));
        }
        Ok(Box::new(Large { large_page }))
    },
};

struct Large {
    large_page: Bytes,
}

impl PageSizing for Large {
    fn page_size(&self, _base: Bytes) -> Bytes {
        self.large_page
    }
}
