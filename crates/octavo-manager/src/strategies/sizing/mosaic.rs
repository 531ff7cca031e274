//! `mosaic`: base pages become large pages where they lie, and large pages that lost too many base pages are emptied.

use octavo_registry::{Entry, OptionError, typed};
use octavo_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Coalescing, LargeEntry, PageSizing};
use crate::contract::geometry::Geometry;
use crate::contract::plan::Compaction;

/// Most base pages of a large page: entries of a page-table page.
const MOST_PAGES: u64 = 512;

/// Options of `mosaic`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// Bytes of a large page: a power of two, 2 to 512 times `page_size` and at most 2MiB; default 2MiB (Mosaic, MICRO
    /// 2017, table 1).
    large_page: Bytes,
    /// Base pages, 1 to 512 and at most those of a large page. A large page with fewer allocated base pages than this
    /// is splintered and emptied; default 256 (ours: the publication gives no number).
    threshold: u32,
    /// The cost of moving base pages to free a large frame: `worst-case` (the GPU stops), `bulk-copy` (inside the
    /// memory), `ideal` (nothing), or `none`, which never moves any; default `worst-case` (Mosaic, MICRO 2017: CAC,
    /// CAC-BC, ideal CAC, no CAC).
    compaction: Model,
}

/// How pages are compacted.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Model {
    WorstCase,
    BulkCopy,
    Ideal,
    None,
}

impl Default for Options {
    fn default() -> Self {
        Self { large_page: Bytes(2 << 20), threshold: 256, compaction: Model::WorstCase }
    }
}

pub(super) static ENTRY: Entry<Box<dyn PageSizing>, Geometry> = Entry {
    name: "mosaic",
    summary: "base pages that fill a large frame in order become a large page in place; compaction frees large frames",
    source: "Mosaic (MICRO 2017): in-place coalescer, contiguity-aware compaction",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, geometry| {
        let options: Options = typed::parse(options)?;
        Ok(Box::new(Mosaic { coalescing: options.coalescing(geometry.page_size)? }))
    },
};

impl Options {
    fn coalescing(&self, base: Bytes) -> Result<Coalescing, OptionError> {
        let Self { large_page: Bytes(large), threshold, compaction } = *self;
        let pages = large / base.0;
        let fits = large.is_power_of_two() && (2..=MOST_PAGES).contains(&pages) && large <= 2 << 20;
        if !fits {
            let message = format!(
                "expected a power of two, 2 to {MOST_PAGES} times the page size {base} and at most 2MiB, found {}",
                self.large_page
            );
            return Err(OptionError::new("large_page", message));
        }
        if threshold == 0 || u64::from(threshold) > pages {
            let message = format!(
                "expected 1 to {pages}, the base pages of a large page of {}, found {threshold}",
                self.large_page
            );
            return Err(OptionError::new("threshold", message));
        }
        let compaction = match compaction {
            Model::WorstCase => Some(Compaction::WorstCase),
            Model::BulkCopy => Some(Compaction::BulkCopy),
            Model::Ideal => Some(Compaction::Ideal),
            Model::None => None,
        };
        Ok(Coalescing { pages: pages as u32, threshold, compaction, entry: LargeEntry::FirstPage, device_only: false })
    }
}

struct Mosaic {
    coalescing: Coalescing,
}

impl PageSizing for Mosaic {
    fn coalescing(&self) -> Option<Coalescing> {
        Some(self.coalescing)
    }
}
