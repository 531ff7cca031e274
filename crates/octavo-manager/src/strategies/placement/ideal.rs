//! `ideal`: only the first cold read of a page by any processor costs time; the upper bound of what placement can
//! reach.

use octavo_registry::{Entry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Placement;
use crate::contract::event::{Fault, Needs};
use crate::contract::geometry::Geometry;
use crate::contract::ids::HOST;
use crate::contract::page::PageView;
use crate::strategies::context::Context;
use crate::strategies::decision::Decision;

/// `ideal` has no options.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {}

pub(super) static ENTRY: Entry<Box<dyn Placement>, Geometry> = Entry {
    name: "ideal",
    summary: "upper bound: a page costs one cold read and is local everywhere from then on",
    source: "GRIT (HPCA 2024), section 3: ideal",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, _| {
        typed::parse::<Options>(options)?;
        Ok(Box::new(Ideal))
    },
};

struct Ideal;

impl Placement for Ideal {
    fn needs(&self) -> Needs {
        Needs { free_store_faults: true, ..Needs::default() }
    }

    fn on_fault(&mut self, fault: &Fault, _page: &PageView, _context: &mut Context<'_>) -> Decision {
        if fault.processor == HOST { Decision::MapRemote } else { Decision::Everywhere }
    }
}
