//! `when-full`: one prefetcher until something has left the memory to make room, another one from then on.

use octavo_registry::{Choice, Entry, OptionError, is_place, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PREFETCHERS, Prefetch, Service};
use crate::contract::block::BlockMap;
use crate::contract::geometry::Geometry;
use crate::contract::ids::PageRun;

/// Options of `when-full`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// The prefetcher, with its default options, until something has left (default `tree-neighborhood`, as
    /// `-hardware_prefetch 1`, which is shipped).
    before: String,
    /// The one from the next service on (default `none`, as `-hwprefetch_oversub 0`; 1 is shipped, the same as before).
    after: String,
}

impl Default for Options {
    fn default() -> Self {
        Self { before: "tree-neighborhood".to_owned(), after: "none".to_owned() }
    }
}

pub(super) static ENTRY: Entry<Box<dyn Prefetch>, Geometry> = Entry {
    name: "when-full",
    summary: "one prefetcher until something has left the memory, another from then on",
    source: "UVMSmart (ISCA 2019), -hwprefetch_oversub: update_hardware_prefetcher_oversubscribed",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, geometry| {
        let Options { before, after } = typed::parse(options)?;
        Ok(Box::new(WhenFull { before: one("before", &before, geometry)?, after: one("after", &after, geometry)? }))
    },
};

/// A prefetcher that looks at the faults of one block alone. One from outside would bring code that no digest is of.
fn one(key: &str, name: &str, geometry: &Geometry) -> Result<Box<dyn Prefetch>, OptionError> {
    let fits = name != ENTRY.name && !is_place(name);
    let built = fits.then(|| PREFETCHERS.build(&Choice::named(name), geometry));
    let built = built.transpose().map_err(|error| OptionError::new(key, error.message))?;
    let expected = || format!("expected a built-in prefetcher of one block that has no others, found `{name}`");
    built.filter(|one| !one.looks_ahead()).ok_or_else(|| OptionError::new(key, expected()))
}

struct WhenFull {
    before: Box<dyn Prefetch>,
    after: Box<dyn Prefetch>,
}

impl Prefetch for WhenFull {
    fn serves_blocks(&self) -> bool {
        self.before.serves_blocks() || self.after.serves_blocks()
    }

    fn freed(&mut self, run: PageRun) {
        self.before.freed(run);
        self.after.freed(run);
    }

    fn pages(&mut self, service: &Service) -> BlockMap {
        if service.was_full { self.after.pages(service) } else { self.before.pages(service) }
    }

    fn bytes(&self) -> usize {
        self.before.bytes() + self.after.bytes()
    }
}
