//! The interval tables: what happened, and where pages were, from one sample to the next.

use octavo_manager::{Manager, Statistics};

use crate::fabric::links::LinkUse;
use crate::gpu::counts::Accesses;
use crate::observe::table::{Column, Table};

/// Columns of the `intervals` table besides the time.
const NAMES: [&str; 14] = [
    "lines",
    "faults",
    "remote_gpu_lines",
    "remote_host_lines",
    "translations",
    "l1_tlb_hits",
    "l2_tlb_hits",
    "walks",
    "migrations",
    "duplications",
    "collapses",
    "remote_maps",
    "prefetched",
    "evictions",
];

fn totals(accesses: &Accesses, manager: &Statistics) -> [u64; NAMES.len()] {
    [
        accesses.load_lines + accesses.store_lines,
        accesses.faults,
        accesses.remote_gpu_lines,
        accesses.remote_host_lines,
        accesses.translations,
        accesses.l1_tlb_hits,
        accesses.l2_tlb_hits,
        accesses.walks,
        manager.migrations,
        manager.duplications,
        manager.collapses,
        manager.remote_maps,
        manager.prefetched,
        manager.evictions_written + manager.evictions_dropped,
    ]
}

/// Samples so far.
#[derive(Default)]
pub(super) struct Samples {
    time: Vec<u64>,
    counts: [Vec<u64>; NAMES.len()],
    links: LinkSamples,
    memory: MemorySamples,
    /// Totals at the last sample.
    last: [u64; NAMES.len()],
}

/// One row for each sample and link.
#[derive(Default)]
struct LinkSamples {
    time: Vec<u64>,
    link: Vec<String>,
    bytes: Vec<u64>,
    busy: Vec<u64>,
    /// Bytes and time at the last sample.
    last: Vec<(u64, u64)>,
}

/// One row for each sample and processor.
#[derive(Default)]
struct MemorySamples {
    time: Vec<u64>,
    processor: Vec<String>,
    bytes: Vec<u64>,
}

impl Samples {
    pub fn push(&mut self, time: u64, accesses: &Accesses, manager: &Manager, links: &[LinkUse]) {
        let totals = totals(accesses, &manager.statistics());
        self.time.push(time);
        for ((column, now), last) in self.counts.iter_mut().zip(totals).zip(self.last) {
            column.push(now - last);
        }
        self.last = totals;
        self.links.push(time, links);
        self.memory.push(time, manager);
    }

    pub fn tables(self) -> [Table; 3] {
        let mut columns = vec![Column::u64("time_ps", self.time)];
        columns.extend(NAMES.into_iter().zip(self.counts).map(|(name, counts)| Column::u64(name, counts)));
        [Table::new("intervals", columns), self.links.table(), self.memory.table()]
    }
}

impl LinkSamples {
    fn push(&mut self, time: u64, links: &[LinkUse]) {
        self.last.resize(links.len(), (0, 0));
        for (link, last) in links.iter().zip(&mut self.last) {
            let bytes = link.bytes.iter().sum::<u64>();
            self.time.push(time);
            self.link.push(link.name.clone());
            self.bytes.push(bytes - last.0);
            self.busy.push(link.busy - last.1);
            *last = (bytes, link.busy);
        }
    }

    fn table(self) -> Table {
        let columns = vec![
            Column::u64("time_ps", self.time),
            Column::text("link", self.link),
            Column::u64("bytes", self.bytes),
            Column::u64("busy_ps", self.busy),
        ];
        Table::new("link_intervals", columns)
    }
}

impl MemorySamples {
    fn push(&mut self, time: u64, manager: &Manager) {
        let geometry = manager.geometry();
        for memory in manager.memories() {
            self.time.push(time);
            self.processor.push(memory.to_string());
            self.bytes.push(manager.pages_held(memory) * geometry.page_size.0);
        }
    }

    fn table(self) -> Table {
        let columns = vec![
            Column::u64("time_ps", self.time),
            Column::text("processor", self.processor),
            Column::u64("bytes", self.bytes),
        ];
        Table::new("memory_intervals", columns)
    }
}
