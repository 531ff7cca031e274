//! `coherent`: memory of the operating system on a node that is cache-coherent: a page stays where it is touched first,
//! and comes to a GPU that has accessed its region often enough.

use octavo_registry::{Entry, OptionError, typed};
use octavo_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Placement, counters};
use crate::contract::event::{CounterNotification, CounterSpec, Fault, Needs};
use crate::contract::geometry::Geometry;
use crate::contract::ids::{HOST_MEMORY, MemoryId, PageId, PageRun};
use crate::contract::page::PageView;
use crate::strategies::context::Context;
use crate::strategies::decision::Decision;

/// Bytes of the smallest region that counters tell apart, and of the smallest pages that the driver moves for them.
const SUB_REGION: u64 = 64 << 10;
/// Bytes of the largest region that the driver counts.
const MOST_REGION: u64 = 2 << 20;

/// Options of `coherent`.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// Where a page is created unless a NUMA policy (`system.numa`) decides: with its first toucher (`toucher`, the
    /// default), on the `host`, or on the first `gpu`, as where there is only one memory.
    first_touch: FirstTouch,
    /// Whether pages of the host move to a GPU that accesses them often; default true (`grace-hopper.md`: on by default
    /// on such nodes, `uvm_perf_access_counter_migration_enable`).
    migration: bool,
    /// Remote lines of one GPU to one region after which pages move; default 256
    /// (`uvm_perf_access_counter_threshold`).
    threshold: u32,
    /// Bytes of a region that is counted, a power of two from 64KiB to 2MiB; default 64KiB. The driver gets reports of
    /// these sub-regions (nvidia-uvm 595, which makes the hardware count 2MiB), and other placements count the same, so
    /// both can decide side by side.
    region: Bytes,
    /// The pages that move then: the 64 KiB around the last counted access (`sub-region`, the default, nvidia-uvm 595)
    /// or the whole `region`.
    moves: Moves,
}

/// Where a page is created.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum FirstTouch {
    Toucher,
    Host,
    Gpu,
}

/// The pages that move because of a counter.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Moves {
    SubRegion,
    Region,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            first_touch: FirstTouch::Toucher,
            migration: true,
            threshold: 256,
            region: Bytes(SUB_REGION),
            moves: Moves::SubRegion,
        }
    }
}

pub(super) static ENTRY: Entry<Box<dyn Placement>, Geometry> = Entry {
    name: "coherent",
    summary: "leaves pages where they are touched first, and brings a GPU what it accesses often in the background",
    source: "nvidia-uvm 595.45.04, uvm_ats_faults.c: memory of the operating system on Grace Hopper",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, geometry| {
        let options: Options = typed::parse(options)?;
        counters::check_threshold("threshold", options.threshold)?;
        let Bytes(region) = options.region;
        if !region.is_power_of_two() || !(SUB_REGION..=MOST_REGION).contains(&region) {
            let message = format!("expected a power of two from 64KiB to 2MiB, found {}", options.region);
            return Err(OptionError::new("region", message));
        }
        Ok(Box::new(Coherent { options, page_bytes: geometry.page_size.0 }))
    },
};

struct Coherent {
    options: Options,
    page_bytes: u64,
}

impl Coherent {
    /// Pages of this many bytes, at least one.
    fn pages(&self, bytes: u64) -> u32 {
        (bytes / self.page_bytes).max(1) as u32
    }
}

impl Placement for Coherent {
    /// The driver ignores counters of pages smaller than 64 KiB (`service_notifications`).
    fn needs(&self) -> Needs {
        let Options { threshold, region, .. } = self.options;
        let spec = CounterSpec { threshold, group_pages: self.pages(region.0) };
        Needs {
            counters: (self.options.migration && self.page_bytes >= SUB_REGION).then_some(spec),
            ..Needs::default()
        }
    }

    fn on_fault(&mut self, _fault: &Fault, page: &PageView, _context: &mut Context<'_>) -> Decision {
        if page.populated() {
            return Decision::MapRemote;
        }
        match self.options.first_touch {
            FirstTouch::Toucher => Decision::Migrate,
            FirstTouch::Host => Decision::To(HOST_MEMORY),
            FirstTouch::Gpu => Decision::To(MemoryId::gpu(0)),
        }
    }

    fn on_counter(
        &mut self,
        notification: &CounterNotification,
        page: &PageView,
        _context: &mut Context<'_>,
    ) -> Option<PageRun> {
        let count = match self.options.moves {
            Moves::SubRegion => self.pages(SUB_REGION),
            Moves::Region => self.pages(self.options.region.0),
        };
        // Counters may be on for what another placement decides about.
        let comes = self.options.migration && page.on_host();
        comes.then_some(PageRun { first: PageId(notification.page.0 / count * count), count })
    }

    /// Pages that are somewhere stay there (`skip_mapped`).
    fn may_prefetch(&self, page: &PageView) -> bool {
        !page.populated()
    }
}
