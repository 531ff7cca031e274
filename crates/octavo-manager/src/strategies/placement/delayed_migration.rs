//! `delayed-migration`: a page stays on the host, and is read from there, until its 64 KiB were accessed often enough.
//! A written page moves at once.

use std::collections::BTreeMap;

use octavo_registry::{Entry, OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Placement;
use super::counters::{self, CounterMoves};
use crate::contract::event::{Accessed, CounterNotification, CounterSpec, Fault, KernelEnd, Needs};
use crate::contract::geometry::Geometry;
use crate::contract::ids::{Access, HOST, PageId, PageRun, ProcessorId};
use crate::contract::page::PageView;
use crate::strategies::context::Context;
use crate::strategies::decision::{Decision, Unsubscribe};

/// Accesses that a counter can hold (UVMSmart: 27 bits); when one reaches that, all are halved.
const MOST: u32 = (1 << 27) - 1;

/// When pages are first read from the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum When {
    /// Always (`-enable_dma 2`).
    #[default]
    Always,
    /// From the first eviction from the GPU's memory on (`-enable_dma 3`).
    Full,
    /// Always, but sooner the emptier the memory is; once something has left, later the more often a block has left
    /// (`-enable_dma 1`).
    Adaptive,
    /// Like `full`, if faults of a kernel on an allocation do not come in the order of their addresses
    /// (`-enable_smart_runtime`, `update_memory_management_policy`).
    Irregular,
}

/// Options of `delayed-migration`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// When pages are first read from the host: `always` (default), `full` (once memory was full), `adaptive` (by how
    /// full memory is, and how often a block has left) or `irregular` (once memory was full, if faults come out of
    /// order).
    when: When,
    /// Accesses to 64 KiB from which its pages move, at least 1; default 8 (`-migrate_threshold`).
    threshold: u32,
    /// Factor of the threshold once memory was full, with `adaptive`, at least 1; default 2 (`-multiply_dma_penalty`).
    penalty: u32,
    /// The pages that move when the threshold is reached without a fault: the touched page (the default) or its 64 KiB.
    moves: CounterMoves,
}

impl Default for Options {
    fn default() -> Self {
        Self { when: When::default(), threshold: 8, penalty: 2, moves: CounterMoves::Page }
    }
}

pub(super) static ENTRY: Entry<Box<dyn Placement>, Geometry> = Entry {
    name: "delayed-migration",
    summary: "reads pages from the host until they were accessed a few times, then migrates them",
    source: "UVMSmart (IPDPS 2020, DATE 2021), -enable_dma and -enable_smart_runtime",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, geometry| {
        let options: Options = typed::parse(options)?;
        counters::check_threshold("threshold", options.threshold)?;
        if options.penalty == 0 {
            return Err(OptionError::new("penalty", "expected at least 1, found 0".to_owned()));
        }
        let spec = counters::spec(options.threshold, geometry);
        Ok(Box::new(DelayedMigration { options, spec, counts: Vec::new(), order: Order::default() }))
    },
};

struct DelayedMigration {
    options: Options,
    spec: CounterSpec,
    /// Accesses to each group of 64 KiB, wherever it lies, since it was allocated.
    counts: Vec<u32>,
    order: Order,
}

/// Whether faults come in the order of addresses.
#[derive(Default)]
struct Order {
    /// By the first page of an allocation: the group of a kernel's last fault.
    last: BTreeMap<PageId, u32>,
    /// Whether one came before the one before it.
    broken: bool,
}

impl Order {
    fn note(&mut self, allocation: PageId, group: u32) {
        let last = self.last.insert(allocation, group);
        self.broken |= last.is_some_and(|last| last > group);
    }
}

impl DelayedMigration {
    fn group(&self, page: PageId) -> u32 {
        page.0 / self.spec.group_pages
    }

    /// Whether a page with this many accesses should move to a GPU.
    fn moves(&self, page: PageId, gpu: ProcessorId, accesses: u32, context: &Context<'_>) -> bool {
        let full = context.was_full(gpu.memory());
        let threshold = u64::from(self.options.threshold);
        let threshold = match self.options.when {
            When::Always => threshold,
            When::Full if full => threshold,
            When::Irregular if full && self.order.broken => threshold,
            When::Full | When::Irregular => 0,
            When::Adaptive if full => {
                threshold * u64::from(self.options.penalty) * (1 + u64::from(context.departures(page)))
            }
            When::Adaptive => {
                let (held, capacity) = (context.held(gpu.memory()), context.capacity(gpu.memory()).max(1));
                1 + threshold * u64::from(held) / u64::from(capacity)
            }
        };
        u64::from(accesses) >= threshold
    }

    fn note_order(&mut self, page: PageId, context: &Context<'_>) {
        let allocations = context.allocations();
        let index = allocations.partition_point(|run| run.first <= page);
        if let Some(run) = allocations[..index].last() {
            self.order.note(run.first, self.group(page));
        }
    }
}

impl Placement for DelayedMigration {
    fn needs(&self) -> Needs {
        Needs { counters: Some(self.spec), accesses: true, ..Needs::default() }
    }

    fn on_allocate(&mut self, pages: PageRun, _context: &mut Context<'_>) {
        let end = (pages.first.0 + pages.count).div_ceil(self.spec.group_pages) as usize;
        self.counts.resize(end.max(self.counts.len()), 0);
    }

    /// Groups that other allocations share restart, too.
    fn on_free(&mut self, pages: PageRun, _context: &mut Context<'_>) {
        let last = PageId(pages.first.0 + pages.count - 1);
        let (first, last) = (self.group(pages.first) as usize, self.group(last) as usize);
        self.counts[first..=last].fill(0);
        self.order.last.remove(&pages.first);
    }

    fn on_access(&mut self, accessed: &Accessed) {
        let group = self.group(accessed.page) as usize;
        let count = &mut self.counts[group];
        *count = count.saturating_add(accessed.times).min(MOST);
        if *count == MOST {
            self.counts.iter_mut().for_each(|count| *count /= 2);
        }
    }

    /// The access that a fault counts, though it has not been reported yet.
    fn on_fault(&mut self, fault: &Fault, page: &PageView, context: &mut Context<'_>) -> Decision {
        if fault.processor == HOST {
            return Decision::Migrate;
        }
        if self.options.when == When::Irregular {
            self.note_order(fault.page, context);
        }
        let accesses = self.counts[self.group(fault.page) as usize] + 1;
        let stays = fault.access == Access::Read && page.populated();
        if stays && !self.moves(fault.page, fault.processor, accesses, context) {
            return Decision::ReadRemote;
        }
        Decision::Migrate
    }

    fn on_counter(
        &mut self,
        notification: &CounterNotification,
        _page: &PageView,
        context: &mut Context<'_>,
    ) -> Option<PageRun> {
        let CounterNotification { processor, page } = *notification;
        let accesses = self.counts[self.group(page) as usize];
        let moves = self.moves(page, processor, accesses, context);
        moves.then(|| counters::run(page, self.options.moves, context))
    }

    fn on_kernel_end(&mut self, _end: &KernelEnd, _context: &mut Context<'_>, _given_up: &mut Vec<Unsubscribe>) {
        self.order.last.clear();
    }

    fn bytes(&self) -> usize {
        self.counts.capacity() * size_of::<u32>() + self.order.last.len() * size_of::<(PageId, u32)>()
    }
}
