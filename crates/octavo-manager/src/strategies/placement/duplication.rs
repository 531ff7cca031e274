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
    /// Whether a load of a page on the host makes a replica and leaves the host its copy, so that the first store
    /// removes replicas; default false: the page moves. GRIT does not say.
    host_replicas: bool,
}

pub(super) static ENTRY: Entry<Box<dyn Placement>, Geometry> = Entry {
    name: "duplication",
    summary: "gives readers replicas and collapses them when someone writes",
    source: "GRIT (HPCA 2024), section 2: page duplication",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, _| Ok(Box::new(Duplication(typed::parse(options)?))),
};

struct Duplication(Options);

/// What a fault on a page that is duplicated asks for.
pub(super) fn decide(page: &PageView, downgrade_drain: bool, host_replicas: bool) -> Decision {
    let replicates = host_replicas && page.on_host() && !page.replicated();
    if replicates { Decision::Replicate } else { Decision::Duplicate { drain: downgrade_drain } }
}

impl Placement for Duplication {
    fn on_fault(&mut self, _fault: &Fault, page: &PageView, _context: &mut Context<'_>) -> Decision {
        decide(page, self.0.downgrade_drain, self.0.host_replicas)
    }
}
