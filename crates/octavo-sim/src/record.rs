//! What a run writes down for its tables, besides totals.

use std::borrow::Cow;
use std::ops::Range;

use octavo_manager::{Cause, PageRun, ProcessorId};
use octavo_workload::{Buffer, Workload, pages_of};

use crate::links::{LinkUse, Traffic};
use crate::table::{Column, Table, Values};

/// Address space summed up in one row of the `page_groups` table.
const GROUP_BYTES: u64 = 64 << 10;

/// Kinds of rows in the `events` table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum EventKind {
    ReadFault,
    WriteFault,
    Counter,
    Migration,
    Duplication,
    WriteCollapse,
    Eviction,
    Prefetch,
}

impl EventKind {
    const NAMES: [&str; 8] =
        ["read_fault", "write_fault", "counter", "migration", "duplication", "write_collapse", "eviction", "prefetch"];

    const fn of(cause: Cause) -> Self {
        match cause {
            Cause::Migration | Cause::RemoteMap => Self::Migration,
            Cause::Duplication => Self::Duplication,
            Cause::WriteCollapse => Self::WriteCollapse,
            Cause::Eviction => Self::Eviction,
            Cause::Prefetch => Self::Prefetch,
        }
    }
}

/// Counts of one group of pages. Copies are counted in pages, by [`EventKind`].
#[derive(Clone, Copy, Default)]
struct GroupCounts {
    kinds: [u64; EventKind::NAMES.len()],
    remote_lines: u64,
    gpus: u32,
}

/// One row of the `events` table.
#[derive(Clone, Copy)]
struct EventRow {
    time: u64,
    kind: EventKind,
    page: u32,
    pages: u32,
    from: u8,
    to: u8,
}

pub(crate) struct Recorder {
    page_bytes: u64,
    interval: Option<u64>,
    groups: Vec<GroupCounts>,
    kernels: Vec<(Cow<'static, str>, u64, u64)>,
    samples: Samples,
    events: Option<Vec<EventRow>>,
}

#[derive(Default)]
struct Samples {
    time: Vec<u64>,
    lines: Vec<u64>,
    faults: Vec<u64>,
    /// One row for each sample and link.
    link_time: Vec<u64>,
    link: Vec<String>,
    link_bytes: Vec<u64>,
    link_busy: Vec<u64>,
    /// Totals at the last sample.
    last: (u64, u64),
    last_links: Vec<(u64, u64)>,
}

impl Recorder {
    /// `interval` of zero: no samples.
    pub fn new(workload: &dyn Workload, page_bytes: u64, interval: u64, events: bool) -> Self {
        let groups = workload.address_end().div_ceil(GROUP_BYTES) as usize;
        Self {
            page_bytes,
            interval: (interval > 0).then_some(interval),
            groups: vec![GroupCounts::default(); groups],
            kernels: Vec::new(),
            samples: Samples::default(),
            events: events.then(Vec::new),
        }
    }

    pub fn interval(&self) -> Option<u64> {
        self.interval
    }

    pub fn kernel(&mut self, name: Cow<'static, str>, began: u64, ended: u64) {
        self.kernels.push((name, began, ended));
    }

    pub fn fault(&mut self, time: u64, kind: EventKind, gpu: u8, page: u32) {
        let gpu = ProcessorId::gpu(gpu as usize);
        self.count(page, 1, kind, gpu);
        self.event(EventRow { time, kind, page, pages: 1, from: gpu.0, to: 0 });
    }

    pub fn notification(&mut self, time: u64, gpu: ProcessorId, page: u32) {
        self.count(page, 1, EventKind::Counter, gpu);
        self.event(EventRow { time, kind: EventKind::Counter, page, pages: 1, from: gpu.0, to: 0 });
    }

    pub fn copy(&mut self, time: u64, pages: PageRun, from: ProcessorId, to: ProcessorId, cause: Cause) {
        let kind = EventKind::of(cause);
        self.count(pages.first.0, pages.count, kind, to);
        self.event(EventRow { time, kind, page: pages.first.0, pages: pages.count, from: from.0, to: to.0 });
    }

    #[inline]
    pub fn remote_lines(&mut self, page: u32, lines: u32) {
        let group = self.group(page);
        self.groups[group].remote_lines += u64::from(lines);
    }

    /// A row of the interval tables: what happened since the last one.
    pub fn sample(&mut self, time: u64, lines: u64, faults: u64, links: &[LinkUse]) {
        let samples = &mut self.samples;
        samples.time.push(time);
        samples.lines.push(lines - samples.last.0);
        samples.faults.push(faults - samples.last.1);
        samples.last = (lines, faults);
        samples.last_links.resize(links.len(), (0, 0));
        for (link, last) in links.iter().zip(&mut samples.last_links) {
            let bytes = link.bytes.iter().sum::<u64>();
            samples.link_time.push(time);
            samples.link.push(link.name.clone());
            samples.link_bytes.push(bytes - last.0);
            samples.link_busy.push(link.busy - last.1);
            *last = (bytes, link.busy);
        }
    }

    fn event(&mut self, row: EventRow) {
        if let Some(events) = &mut self.events {
            events.push(row);
        }
    }

    #[inline]
    fn group(&self, page: u32) -> usize {
        (u64::from(page) * self.page_bytes / GROUP_BYTES) as usize
    }

    /// Counts pages in the groups they begin in; a page larger than a group counts in its first.
    fn count(&mut self, page: u32, pages: u32, kind: EventKind, processor: ProcessorId) {
        for page in page..page + pages {
            let group = self.group(page);
            self.groups[group].kinds[kind as usize] += 1;
            if processor.gpu_index().is_some() {
                self.groups[group].gpus |= 1 << processor.0;
            }
        }
    }

    /// The tables of the run.
    pub fn tables(self, workload: &dyn Workload, links: &[LinkUse]) -> Vec<Table> {
        let buffers = workload.buffers();
        let mut tables =
            vec![self.allocations(buffers), self.page_groups(buffers), link_table(links), kernel_table(&self.kernels)];
        if self.interval.is_some() {
            tables.extend(self.samples.tables());
        }
        if let Some(events) = self.events {
            tables.push(event_table(&events, self.page_bytes));
        }
        tables
    }

    fn allocations(&self, buffers: &[Buffer]) -> Table {
        let totals: Vec<GroupCounts> = groups_of(buffers).map(|groups| self.total(groups)).collect();
        let mut columns = vec![
            Column::text("allocation", buffers.iter().map(|buffer| buffer.name.clone()).collect()),
            Column::u64("address", buffers.iter().map(|buffer| buffer.base).collect()),
            Column::u64("bytes", buffers.iter().map(|buffer| buffer.bytes).collect()),
        ];
        columns.extend(count_columns(&totals));
        Table::new("allocations", columns)
    }

    fn page_groups(&self, buffers: &[Buffer]) -> Table {
        let (mut names, mut addresses, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        for (buffer, groups) in buffers.iter().zip(groups_of(buffers)) {
            for group in groups {
                names.push(buffer.name.clone());
                addresses.push(group as u64 * GROUP_BYTES);
                counts.push(self.groups[group]);
            }
        }
        let mut columns = vec![Column::text("allocation", names), Column::u64("address", addresses)];
        columns.extend(count_columns(&counts));
        Table::new("page_groups", columns)
    }

    fn total(&self, groups: Range<usize>) -> GroupCounts {
        let mut total = GroupCounts::default();
        for group in &self.groups[groups] {
            for (sum, count) in total.kinds.iter_mut().zip(group.kinds) {
                *sum += count;
            }
            total.remote_lines += group.remote_lines;
            total.gpus |= group.gpus;
        }
        total
    }
}

/// Groups of each buffer; one that several have parts of counts to the first.
fn groups_of(buffers: &[Buffer]) -> impl Iterator<Item = Range<usize>> {
    pages_of(buffers, GROUP_BYTES).map(|groups| groups.start as usize..groups.end as usize)
}

fn count_columns(counts: &[GroupCounts]) -> Vec<Column> {
    let kinds = EventKind::NAMES.into_iter().enumerate();
    let mut columns: Vec<Column> =
        kinds.map(|(kind, name)| Column::u64(name, counts.iter().map(|group| group.kinds[kind]).collect())).collect();
    columns.push(Column::u64("remote_lines", counts.iter().map(|group| group.remote_lines).collect()));
    columns.push(Column::u64("gpus", counts.iter().map(|group| u64::from(group.gpus.count_ones())).collect()));
    columns
}

fn link_table(links: &[LinkUse]) -> Table {
    let mut columns = vec![
        Column::text("link", links.iter().map(|link| link.name.clone()).collect()),
        Column::u64("busy_ps", links.iter().map(|link| link.busy).collect()),
    ];
    for (kind, name) in Traffic::NAMES.into_iter().enumerate() {
        columns.push(Column::u64(name, links.iter().map(|link| link.bytes[kind]).collect()));
    }
    Table::new("links", columns)
}

fn kernel_table(kernels: &[(Cow<'static, str>, u64, u64)]) -> Table {
    Table::new(
        "kernels",
        vec![
            Column::text("kernel", kernels.iter().map(|kernel| kernel.0.to_string()).collect()),
            Column::u64("began_ps", kernels.iter().map(|kernel| kernel.1).collect()),
            Column::u64("ended_ps", kernels.iter().map(|kernel| kernel.2).collect()),
        ],
    )
}

fn event_table(events: &[EventRow], page_bytes: u64) -> Table {
    let column = |name, value: fn(&EventRow) -> u64| Column::u64(name, events.iter().map(value).collect());
    let kinds =
        Values::Category { codes: events.iter().map(|row| row.kind as u8).collect(), names: EventKind::NAMES.to_vec() };
    let addresses = events.iter().map(|row| u64::from(row.page) * page_bytes).collect();
    Table::new(
        "events",
        vec![
            column("time_ps", |row| row.time),
            Column { name: "kind", values: kinds },
            Column::u64("address", addresses),
            column("pages", |row| u64::from(row.pages)),
            column("from", |row| u64::from(row.from)),
            column("to", |row| u64::from(row.to)),
        ],
    )
}

impl Samples {
    fn tables(self) -> [Table; 2] {
        let totals = vec![
            Column::u64("time_ps", self.time),
            Column::u64("lines", self.lines),
            Column::u64("faults", self.faults),
        ];
        let links = vec![
            Column::u64("time_ps", self.link_time),
            Column::text("link", self.link),
            Column::u64("bytes", self.link_bytes),
            Column::u64("busy_ps", self.link_busy),
        ];
        [Table::new("intervals", totals), Table::new("link_intervals", links)]
    }
}
