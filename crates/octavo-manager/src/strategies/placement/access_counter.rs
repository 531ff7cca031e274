//! `access-counter`: a page is mapped remotely until a GPU has accessed it often enough to deserve it.

use octavo_registry::{Entry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Placement;
use super::counters::{self, CounterMoves, HostPages};
use crate::contract::event::{CounterNotification, CounterSpec, Fault, Needs};
use crate::contract::geometry::Geometry;
use crate::contract::ids::PageRun;
use crate::contract::page::PageView;
use crate::strategies::context::Context;
use crate::strategies::decision::Decision;

/// Options of `access-counter`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// Remote lines of one GPU to one 64 KiB group after which pages migrate; default 256 (GRIT section 3;
    /// `uvm_perf_access_counter_threshold`).
    threshold: u32,
    /// The pages that move then: the touched page (the default) or its whole group. GRIT counts by group and speaks of
    /// migrating "the page".
    moves: CounterMoves,
    /// How a page on the host is served: mapped over the host link (the default) or migrated at its first touch. GRIT
    /// does not say; with `migrate` this scheme never loses on private pages, as published it does.
    host_pages: HostPages,
}

impl Default for Options {
    fn default() -> Self {
        Self { threshold: 256, moves: CounterMoves::Page, host_pages: HostPages::Map }
    }
}

pub(super) static ENTRY: Entry<Box<dyn Placement>, Geometry> = Entry {
    name: "access-counter",
    summary: "maps pages remotely and migrates those that a GPU accesses often",
    source: "GRIT (HPCA 2024), section 2: access-counter-based migration",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, geometry| {
        let options: Options = typed::parse(options)?;
        counters::check_threshold("threshold", options.threshold)?;
        Ok(Box::new(AccessCounter { spec: counters::spec(options.threshold, geometry), options }))
    },
};

struct AccessCounter {
    options: Options,
    spec: CounterSpec,
}

impl Placement for AccessCounter {
    fn needs(&self) -> Needs {
        Needs { counters: Some(self.spec), ..Needs::default() }
    }

    fn on_fault(&mut self, _fault: &Fault, page: &PageView, _context: &mut Context<'_>) -> Decision {
        let migrates = page.cold() && self.options.host_pages == HostPages::Migrate;
        if migrates { Decision::Migrate } else { Decision::MapRemote }
    }

    fn on_counter(
        &mut self,
        notification: &CounterNotification,
        _page: &PageView,
        context: &mut Context<'_>,
    ) -> Option<PageRun> {
        Some(counters::run(notification.page, self.options.moves, context))
    }
}
