//! What a run writes down for its tables, besides totals.

mod samples;
mod timeline;

use std::borrow::Cow;
use std::ops::Range;

use octavo_manager::{AttributeChange, Cause, HOST_MEMORY, MemoryId, PageId, PageRun, ProcessorId};
use octavo_program::{Buffer, Workload, pages_of};

use self::samples::Samples;
use self::timeline::{EventKind, Timeline};
use crate::fabric::links::{LinkUse, Traffic};
use crate::machine::happening::{Happening, Listen};
use crate::observe::phases::{PhaseLog, Phases};
use crate::observe::table::{Column, Table};

/// Names of the kinds of rows in the `events` table, by code.
#[must_use]
pub fn event_kinds() -> Vec<&'static str> {
    EventKind::names()
}

/// Address space summed up in one row of the `page_groups` table.
pub(crate) const GROUP_BYTES: u64 = 64 << 10;

/// Counts of one group of pages. Copies are counted in pages, by [`EventKind`].
#[derive(Clone, Copy, Default)]
struct GroupCounts {
    kinds: [u64; EventKind::COUNTED],
    remote_lines: u64,
    gpus: u32,
}

pub(crate) struct Recorder {
    page_bytes: u64,
    interval: Option<u64>,
    groups: Vec<GroupCounts>,
    kernels: Vec<(Cow<'static, str>, u64, u64)>,
    samples: Samples,
    timeline: Option<Timeline>,
    phases: PhaseLog,
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
            timeline: events.then(Timeline::default),
            phases: PhaseLog::default(),
        }
    }

    fn kernel(&mut self, name: Cow<'static, str>, began: u64, ended: u64) {
        self.kernels.push((name, began, ended));
    }

    fn fault(&mut self, time: u64, write: bool, gpu: ProcessorId, page: u32) {
        self.request(time, if write { EventKind::WriteFault } else { EventKind::ReadFault }, gpu, page);
    }

    fn notification(&mut self, time: u64, gpu: ProcessorId, page: u32) {
        self.request(time, EventKind::Counter, gpu, page);
    }

    fn request(&mut self, time: u64, kind: EventKind, gpu: ProcessorId, page: u32) {
        self.count(page, 1, kind, gpu.memory());
        self.event(time, kind, PageRun { first: PageId(page), count: 1 }, gpu.memory(), HOST_MEMORY);
    }

    fn copy(&mut self, time: u64, pages: PageRun, from: MemoryId, to: MemoryId, cause: Cause) {
        let kind = EventKind::of(cause);
        self.count(pages.first.0, pages.count, kind, to);
        self.event(time, kind, pages, from, to);
    }

    /// A page got its place at no cost.
    fn placed(&mut self, time: u64, pages: PageRun, from: MemoryId, to: MemoryId) {
        self.event(time, EventKind::Placed, pages, from, to);
    }

    /// `by` maps pages that `at` holds.
    fn remote_map(&mut self, time: u64, pages: PageRun, by: ProcessorId, at: MemoryId) {
        self.event(time, EventKind::RemoteMap, pages, by.memory(), at);
    }

    /// A copy is given up.
    fn discard(&mut self, time: u64, pages: PageRun, memory: MemoryId) {
        self.event(time, EventKind::Discard, pages, memory, memory);
    }

    #[inline]
    fn remote_lines(&mut self, page: u32, lines: u32) {
        let group = self.group(page);
        self.groups[group].remote_lines += u64::from(lines);
    }

    /// What the placement keeps about a page changes.
    fn attribute(&mut self, time: u64, change: &AttributeChange) {
        if let Some(timeline) = &mut self.timeline {
            timeline.attribute(time, change);
        }
    }

    /// A processor is told by its memory.
    fn event(&mut self, time: u64, kind: EventKind, pages: PageRun, from: MemoryId, to: MemoryId) {
        if let Some(timeline) = &mut self.timeline {
            timeline.push(time, kind, pages, from, to);
        }
    }

    #[inline]
    fn group(&self, page: u32) -> usize {
        (u64::from(page) * self.page_bytes / GROUP_BYTES) as usize
    }

    /// Counts pages in the groups they begin in; a page larger than a group counts in its first.
    fn count(&mut self, page: u32, pages: u32, kind: EventKind, memory: MemoryId) {
        for page in page..page + pages {
            let group = self.group(page);
            self.groups[group].kinds[kind as usize] += 1;
            if memory.gpu_index().is_some() {
                self.groups[group].gpus |= 1 << memory.0;
            }
        }
    }

    /// How long each kind of phase of a whole program took.
    pub fn phases(&self) -> Option<Phases> {
        self.phases.summed_up().map(|(sums, _)| sums)
    }

    /// The tables of the run.
    pub fn tables(self, workload: &dyn Workload, links: &[LinkUse]) -> Vec<Table> {
        let buffers = workload.buffers();
        let mut tables =
            vec![self.allocations(buffers), self.page_groups(buffers), link_table(links), kernel_table(&self.kernels)];
        tables.extend(self.phases.summed_up().map(|(_, table)| table));
        if self.interval.is_some() {
            tables.extend(self.samples.tables());
        }
        if let Some(timeline) = self.timeline {
            tables.push(timeline.table(self.page_bytes, "time_ps"));
        }
        tables
    }

    /// The tables of a run without time, in which line accesses stand for it.
    pub fn tables_without_time(self, workload: &dyn Workload) -> Vec<Table> {
        let buffers = workload.buffers();
        let mut tables = vec![self.allocations(buffers), self.page_groups(buffers), lines_table(&self.kernels)];
        tables.extend(self.timeline.map(|timeline| timeline.table(self.page_bytes, "lines")));
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

impl Listen for Recorder {
    #[inline(always)]
    fn hear(&mut self, now: u64, what: Happening<'_>) {
        match what {
            Happening::RemoteLines { page, lines } => self.remote_lines(page, lines),
            Happening::FaultArrives { gpu, page, write } => self.fault(now, write, gpu, page),
            Happening::Notified { gpu, page } => self.notification(now, gpu, page),
            Happening::Copied { pages, from, to, cause } => self.copy(now, pages, from, to, cause),
            Happening::Placed { pages, from, to } => self.placed(now, pages, from, to),
            Happening::MappedRemotely { pages, by, at } => self.remote_map(now, pages, by, at),
            Happening::Discarded { pages, memory } => self.discard(now, pages, memory),
            Happening::Attribute(change) => self.attribute(now, change),
            Happening::Kernel { name, began, ended } => self.kernel(name.clone(), began, ended),
            Happening::Phase { action, phase, name, began, ended } => {
                self.phases.push(action, phase, name, began, ended);
            }
            Happening::Sample { accesses, manager, links } => {
                self.samples.push(now, accesses, manager, &links.usage());
            }
            _ => {}
        }
    }

    fn interval(&self) -> Option<u64> {
        self.interval
    }

    fn wants_attributes(&self) -> bool {
        self.timeline.is_some()
    }
}

/// Groups of each buffer; one that several have parts of counts to the first.
fn groups_of(buffers: &[Buffer]) -> impl Iterator<Item = Range<usize>> {
    pages_of(buffers, GROUP_BYTES).map(|groups| groups.start as usize..groups.end as usize)
}

fn count_columns(counts: &[GroupCounts]) -> Vec<Column> {
    let kinds = EventKind::COUNTED_NAMES.into_iter().enumerate();
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

/// Kernels that began and ended after so many line accesses.
fn lines_table(kernels: &[(Cow<'static, str>, u64, u64)]) -> Table {
    Table::new(
        "kernels",
        vec![
            Column::text("kernel", kernels.iter().map(|kernel| kernel.0.to_string()).collect()),
            Column::u64("lines", kernels.iter().map(|(_, began, ended)| ended - began).collect()),
        ],
    )
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
