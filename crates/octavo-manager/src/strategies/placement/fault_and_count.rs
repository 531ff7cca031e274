//! `fault-and-count`: managed memory on a node that is cache-coherent: a fault brings the page, and so do accesses from
//! afar that are counted, as after an eviction.

use octavo_registry::{Entry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Placement;
use super::counters::{self, CounterMoves};
use crate::contract::event::{CounterNotification, CounterSpec, Fault, Needs};
use crate::contract::geometry::Geometry;
use crate::contract::ids::PageRun;
use crate::contract::page::PageView;
use crate::strategies::context::Context;
use crate::strategies::decision::Decision;

/// Bytes of the smallest page that the driver moves for a counter.
const LEAST_PAGE: u64 = 64 << 10;

/// Options of `fault-and-count`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// Whether pages that a GPU accesses often from afar come to it; default true
    /// (`uvm_perf_access_counter_migration_enable`, which is on where GPUs use the host's page table). Pages smaller
    /// than 64 KiB stay anyway: the driver ignores counters of them (`service_notifications`).
    migration: bool,
    /// Remote lines of one GPU to 64 KiB after which they come; default 256 (`uvm_perf_access_counter_threshold`, one
    /// parameter for this memory and the operating system's).
    threshold: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { migration: true, threshold: 256 }
    }
}

pub(super) static ENTRY: Entry<Box<dyn Placement>, Geometry> = Entry {
    name: "fault-and-count",
    summary: "migrates a page to the processor that faults on it, and to a GPU that often accesses it remotely",
    source: "nvidia-uvm 595.45.04, uvm_va_block.c and uvm_gpu_access_counters.c: managed memory on Grace Hopper",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, geometry| {
        let Options { migration, threshold } = typed::parse(options)?;
        counters::check_threshold("threshold", threshold)?;
        // The driver drops what counters tell it of pages smaller than 64 KiB (`service_notifications`).
        let counts = migration && geometry.page_size.0 >= LEAST_PAGE;
        Ok(Box::new(FaultAndCount { spec: counts.then(|| counters::spec(threshold, geometry)) }))
    },
};

struct FaultAndCount {
    spec: Option<CounterSpec>,
}

impl Placement for FaultAndCount {
    fn needs(&self) -> Needs {
        Needs { counters: self.spec, ..Needs::default() }
    }

    fn on_fault(&mut self, _fault: &Fault, _page: &PageView, _context: &mut Context<'_>) -> Decision {
        Decision::Migrate
    }

    fn on_counter(
        &mut self,
        notification: &CounterNotification,
        page: &PageView,
        context: &mut Context<'_>,
    ) -> Option<PageRun> {
        let counted = self.spec.is_some() && page.on_host();
        counted.then(|| counters::run(notification.page, CounterMoves::Group, context))
    }

    fn may_prefetch(&self, _page: &PageView) -> bool {
        true
    }
}
