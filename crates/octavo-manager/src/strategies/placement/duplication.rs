//! `duplication`: readers get replicas, a writer becomes the only holder.

use octavo_registry::{Entry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Placement;
use crate::contract::event::Fault;
use crate::contract::geometry::Geometry;
use crate::contract::page::PageView;
use crate::strategies::context::Context;
use crate::strategies::decision::Decision;

/// Options of `duplication`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// Whether the owner's in-flight accesses are drained when a second reader takes away its right to write; default
    /// false. GRIT does not say; a page that is only read needs no drain.
    downgrade_drain: bool,
}

pub(super) static ENTRY: Entry<Box<dyn Placement>, Geometry> = Entry {
    name: "duplication",
    summary: "gives readers replicas and collapses them when someone writes",
    source: "GRIT (HPCA 2024), section 2: page duplication",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, _| {
        let Options { downgrade_drain } = typed::parse(options)?;
        Ok(Box::new(Duplication { downgrade_drain }))
    },
};

struct Duplication {
    downgrade_drain: bool,
}

impl Placement for Duplication {
    fn on_fault(&mut self, _fault: &Fault, _page: &PageView, _context: &mut Context<'_>) -> Decision {
        Decision::Duplicate { drain: self.downgrade_drain }
    }
}
