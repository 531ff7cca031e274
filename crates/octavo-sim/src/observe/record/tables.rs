//! The tables made from the records.

use std::ops::Range;

use octavo_program::{Buffer, Workload, pages_of};

use super::kernels;
use super::samples::Samples;
use super::timeline::EventKind;
use super::{Capacity, GROUP_BYTES, GroupCounts, Recorder};
use crate::fabric::links::{LinkUse, Traffic};
use crate::observe::jobs::JobLog;
use crate::observe::table::{Column, Table};

impl Recorder {
    /// The tables of the run.
    pub fn tables(self, workload: &dyn Workload, links: &[LinkUse]) -> Vec<Table> {
        let buffers = workload.buffers();
        let mut tables = vec![
            self.allocations(buffers),
            self.page_groups(buffers),
            link_table(links),
            kernels::table(&self.kernels),
        ];
        let ends = self.samples.as_ref().map(Samples::ends).unwrap_or_default();
        let (traffic, over_time) = self.traffic.tables(&self.kernels, ends);
        tables.extend(self.stalls.map(|stalls| stalls.table(buffers)));
        tables.extend(traffic);
        let names = self.jobs.as_ref().map(JobLog::names);
        tables.extend(self.phases.table(names));
        tables.extend(self.samples.into_iter().flat_map(Samples::tables));
        tables.extend(over_time);
        if let Some(timeline) = self.timeline {
            tables.push(timeline.table(self.page_bytes, "time_ps"));
        }
        tables.extend(self.walks.map(|walks| walks.table()));
        if !self.capacity.is_empty() {
            tables.push(capacity_table(&self.capacity, self.page_bytes));
        }
        tables.extend(self.jobs.map(|log| log.table(["began_ps", "ended_ps"])));
        tables
    }

    /// The tables of a run without time, in which line accesses replace it.
    pub fn tables_without_time(self, workload: &dyn Workload) -> Vec<Table> {
        let buffers = workload.buffers();
        let mut tables = vec![self.allocations(buffers), self.page_groups(buffers), kernels::in_lines(&self.kernels)];
        tables.extend(self.timeline.map(|timeline| timeline.table(self.page_bytes, "lines")));
        tables.extend(self.jobs.map(|log| log.table(["began_lines", "ended_lines"])));
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

    pub(super) fn total(&self, groups: Range<usize>) -> GroupCounts {
        let mut total = GroupCounts::default();
        for group in &self.groups[groups] {
            for (sum, count) in total.kinds.iter_mut().zip(group.kinds) {
                *sum += count;
            }
            total.remote_lines += group.remote_lines;
            total.gpus = total.gpus.union(group.gpus);
        }
        total
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
    columns.push(Column::u64("gpus", counts.iter().map(|group| group.gpus.len() as u64).collect()));
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

/// Bytes of 0 stand for no limit.
fn capacity_table(capacity: &[Capacity], page_bytes: u64) -> Table {
    let bytes = |row: &Capacity| row.pages.map_or(0, |pages| u64::from(pages) * page_bytes);
    Table::new(
        "capacity",
        vec![
            Column::u64("time_ps", capacity.iter().map(|row| row.time).collect()),
            Column::u64("gpu", capacity.iter().map(|row| row.gpu as u64).collect()),
            Column::u64("bytes", capacity.iter().map(bytes).collect()),
        ],
    )
}
