//! `on-touch`: a far fault always migrates the page to the faulting GPU.

use octavo_registry::{Entry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Placement;
use crate::contract::event::Fault;
use crate::contract::geometry::Geometry;
use crate::contract::page::PageView;
use crate::strategies::context::Context;
use crate::strategies::decision::Decision;

/// `on-touch` has no options.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {}

pub(super) static ENTRY: Entry<Box<dyn Placement>, Geometry> = Entry {
    name: "on-touch",
    summary: "migrates a page to the processor that faults on it",
    source: "GRIT (HPCA 2024), section 2: on-touch migration",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, _| {
        typed::parse::<Options>(options)?;
        Ok(Box::new(OnTouch))
    },
};

struct OnTouch;

impl Placement for OnTouch {
    fn on_fault(&mut self, _fault: &Fault, _page: &PageView, _context: &mut Context<'_>) -> Decision {
        Decision::Migrate
    }

    fn may_prefetch(&self, _page: &PageView) -> bool {
        true
    }
}
