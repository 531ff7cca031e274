//! `when-full`: one prefetcher until something has left the memory to make room, another one from then on.

use octavo_registry::{Entry, OptionError, Options, is_place, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Prefetch, Service};
use crate::contract::block::BlockMap;
use crate::contract::geometry::Geometry;
use crate::contract::ids::PageRun;

const NAME: &str = "when-full";

/// Options of `when-full`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Two {
    /// The prefetcher, with its default options, until something has left (default `tree-neighborhood`, as
    /// `-hardware_prefetch 1`, which is shipped).
    before: String,
    /// The one from the next service on (default `none`, as `-hwprefetch_oversub 0`; 1 is shipped, the same as before).
    after: String,
}

impl Default for Two {
    fn default() -> Self {
        Self { before: "tree-neighborhood".to_owned(), after: "none".to_owned() }
    }
}

type Built = Result<Box<dyn Prefetch>, OptionError>;

/// Its entry. `build` is [`built`] with the prefetchers that have names, which only the list of all of them knows.
pub(super) const fn entry(build: fn(&Options, &Geometry) -> Built) -> Entry<Box<dyn Prefetch>, Geometry> {
    Entry {
        name: NAME,
        summary: "one prefetcher until something has left the memory, another from then on",
        source: "UVMSmart (ISCA 2019), -hwprefetch_oversub: update_hardware_prefetcher_oversubscribed",
        schema: typed::schema::<Two>,
        resolve: typed::resolve::<Two>,
        build,
    }
}

/// Checks options and builds; `named` builds a prefetcher by its name.
pub(super) fn built(options: &Options, named: impl Fn(&str) -> Built) -> Built {
    let Two { before, after } = typed::parse(options)?;
    Ok(Box::new(WhenFull { before: one("before", &before, &named)?, after: one("after", &after, &named)? }))
}

/// A prefetcher that looks at the faults of one block alone. A prefetcher from outside would bring code that no digest
/// covers.
fn one(key: &str, name: &str, named: impl Fn(&str) -> Built) -> Built {
    let fits = name != NAME && !is_place(name);
    let built = fits.then(|| named(name)).transpose().map_err(|error| OptionError::new(key, error.message))?;
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
