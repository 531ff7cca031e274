//! A log of each job, repetition by repetition.

use std::ops::Range;

use octavo_program::Application;
use schemars::JsonSchema;
use serde::Serialize;

use crate::bound::Recorded;
use crate::machine::jobs::Running;
use crate::observe::phases::Phases;
use crate::observe::record::groups::GroupCounts;
use crate::observe::record::timeline::EventKind;
use crate::observe::table::{Column, TEXT_BYTES, Table};

/// The events of a job's pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct JobCounts {
    /// Faults that the driver saw.
    pub faults: u64,
    /// Notifications of access counters that the driver saw.
    pub counters: u64,
    /// Pages that moved.
    pub migrations: u64,
    /// Pages that got another copy.
    pub duplications: u64,
    /// Pages that lost all copies but one, to a store.
    pub write_collapses: u64,
    /// Pages that were written to the host because a GPU had no room.
    pub evictions: u64,
    /// Pages that were brought ahead of need.
    pub prefetches: u64,
    /// Lines of 64 bytes that came from or went to another processor's memory.
    pub remote_lines: u64,
}

/// A job of a run. Times are picoseconds of simulated time.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JobSummary {
    /// Its name.
    pub name: String,
    /// The GPUs that it ran on.
    pub gpus: Vec<u32>,
    /// Its compute units on each of them.
    pub units: Vec<u32>,
    /// The time when it should begin.
    pub start_ps: u64,
    /// The end of its first repetition; `None` if it never ran.
    pub first_end_ps: Option<u64>,
    /// Its duration until then; `None` if it never ran.
    pub time_ps: Option<u64>,
    /// How often it ended.
    pub repetitions: u32,
    /// The events of its pages, including the repetition that the end of the run cut off.
    #[serde(flatten)]
    pub counts: JobCounts,
    /// The durations of its whole program's phases in all repetitions; `None` if only its launches ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phases: Option<Phases>,
}

/// The repetitions of all jobs, in the order in which they ended.
pub(crate) struct JobLog {
    names: Vec<String>,
    /// By job: the groups of pages that are its own.
    groups: Vec<Range<usize>>,
    /// By job: the beginning of the present repetition, and the counts then.
    open: Vec<Option<(u64, JobCounts)>>,
    /// By job: the counts at the end of its last repetition.
    counted: Vec<JobCounts>,
    /// By job: repetitions that have ended.
    ended: Vec<u64>,
    rows: Vec<Row>,
}

struct Row {
    job: usize,
    repetition: u64,
    began: u64,
    ended: u64,
    complete: bool,
    counts: JobCounts,
}

impl JobCounts {
    /// The counts of groups of pages.
    pub(super) fn of(counts: &GroupCounts) -> Self {
        let kind = |kind: EventKind| counts.kinds[kind as usize];
        Self {
            faults: kind(EventKind::ReadFault) + kind(EventKind::WriteFault),
            counters: kind(EventKind::Counter),
            migrations: kind(EventKind::Migration),
            duplications: kind(EventKind::Duplication),
            write_collapses: kind(EventKind::WriteCollapse),
            evictions: kind(EventKind::Eviction),
            prefetches: kind(EventKind::Prefetch),
            remote_lines: counts.remote_lines,
        }
    }

    fn each(&mut self, other: &Self, change: impl Fn(&mut u64, u64)) {
        change(&mut self.faults, other.faults);
        change(&mut self.counters, other.counters);
        change(&mut self.migrations, other.migrations);
        change(&mut self.duplications, other.duplications);
        change(&mut self.write_collapses, other.write_collapses);
        change(&mut self.evictions, other.evictions);
        change(&mut self.prefetches, other.prefetches);
        change(&mut self.remote_lines, other.remote_lines);
    }
}

impl JobLog {
    /// A log of named programs; `groups` are the page groups of each.
    pub fn new(programs: &[Application], groups: Vec<Range<usize>>) -> Self {
        let names: Vec<String> = programs.iter().map(|program| program.name.clone()).collect();
        let (open, counted, ended) =
            (vec![None; names.len()], vec![JobCounts::default(); names.len()], vec![0; names.len()]);
        Self { open, counted, ended, rows: Vec::new(), groups, names }
    }

    /// The names of the jobs.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The groups of pages that are a job's own.
    pub fn groups(&self, job: usize) -> Range<usize> {
        self.groups[job].clone()
    }

    /// A repetition begins, before which so much was counted.
    pub fn begin(&mut self, job: usize, now: u64, counted: JobCounts) {
        self.settle(job, counted);
        self.open[job] = Some((now, counted));
    }

    /// Events since the end of the last repetition concern the pages that it left.
    pub fn settle(&mut self, job: usize, counted: JobCounts) {
        let before = std::mem::replace(&mut self.counted[job], counted);
        if let Some(row) = self.rows.iter_mut().rfind(|row| row.job == job) {
            row.counts.each(&counted, |sum, count| *sum += count);
            row.counts.each(&before, |sum, count| *sum -= count);
        }
    }

    /// A repetition ends, `complete` or cut off, up to which so much was counted.
    pub fn end(&mut self, job: usize, now: u64, counted: JobCounts, complete: bool) {
        let Some((began, before)) = self.open[job].take() else { return };
        self.counted[job] = counted;
        let mut counts = counted;
        counts.each(&before, |count, before| *count -= before);
        let repetition = self.ended[job] + 1;
        self.ended[job] = repetition;
        self.rows.push(Row { job, repetition, began, ended: now, complete, counts });
    }

    /// The name, and the numbers of its row.
    pub fn recorded(&self) -> Recorded {
        Recorded::stay(self.rows.len(), size_of::<Row>(), size_of::<Row>() + TEXT_BYTES)
    }

    /// The jobs with a repetition in progress.
    pub fn under_way(&self) -> Vec<usize> {
        (0..self.open.len()).filter(|&job| self.open[job].is_some()).collect()
    }

    /// The events of a job's pages in all repetitions.
    pub fn counts(&self, job: usize) -> JobCounts {
        let mut counts = JobCounts::default();
        self.rows_of(job).for_each(|row| counts.each(&row.counts, |sum, count| *sum += count));
        counts
    }

    /// The whole log of a job that has ended `repetitions` times; `phases` belong to its program.
    pub fn summary(&self, job: usize, state: &Running, repetitions: u32, phases: Option<Phases>) -> JobSummary {
        let (gpus, units) = state.lot.listed();
        let first = self.rows_of(job).find(|row| row.complete);
        JobSummary {
            name: self.names[job].clone(),
            gpus,
            units,
            start_ps: state.start,
            first_end_ps: state.finished,
            time_ps: first.map(|row| row.ended - row.began),
            repetitions,
            counts: self.counts(job),
            phases,
        }
    }

    fn rows_of(&self, job: usize) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.job == job)
    }

    /// A row for each repetition; `when` names the columns of its beginning and its end.
    pub fn table(&self, when: [&'static str; 2]) -> Table {
        let column = |name, value: fn(&Row) -> u64| Column::u64(name, self.rows.iter().map(value).collect());
        Table::new(
            "jobs",
            vec![
                Column::text("job", self.rows.iter().map(|row| self.names[row.job].clone()).collect()),
                column("repetition", |row| row.repetition),
                column(when[0], |row| row.began),
                column(when[1], |row| row.ended),
                column("complete", |row| row.complete.into()),
                column("faults", |row| row.counts.faults),
                column("counters", |row| row.counts.counters),
                column("migrations", |row| row.counts.migrations),
                column("duplications", |row| row.counts.duplications),
                column("write_collapses", |row| row.counts.write_collapses),
                column("evictions", |row| row.counts.evictions),
                column("prefetches", |row| row.counts.prefetches),
                column("remote_lines", |row| row.counts.remote_lines),
            ],
        )
    }
}
