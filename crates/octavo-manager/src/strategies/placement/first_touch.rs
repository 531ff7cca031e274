//! `first-touch`: a page stays with the first GPU that touches it; the others map it remotely.

use octavo_registry::{Entry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Placement;
use crate::contract::event::Fault;
use crate::contract::geometry::Geometry;
use crate::contract::page::PageView;
use crate::strategies::context::Context;
use crate::strategies::decision::Decision;

/// `first-touch` has no options.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {}

pub(super) static ENTRY: Entry<Box<dyn Placement>, Geometry> = Entry {
    name: "first-touch",
    summary: "pins a page where it is touched first, others access it remotely",
    source: "GRIT (HPCA 2024), section 6: first-touch",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, _| {
        typed::parse::<Options>(options)?;
        Ok(Box::new(FirstTouch))
    },
};

struct FirstTouch;

impl Placement for FirstTouch {
    /// A page that was evicted is on the host again, and its next touch counts as the first.
    fn on_fault(&mut self, _fault: &Fault, page: &PageView, _context: &mut Context<'_>) -> Decision {
        if page.cold() { Decision::Migrate } else { Decision::MapRemote }
    }
}
