//! Records of a run for its tables, in addition to totals.

pub(super) mod groups;
mod kernels;
mod samples;
mod stalls;
mod tables;
pub(super) mod timeline;
mod traffic;
mod walks;

use octavo_driver::{Faults, Happening as Driver, Request};
use octavo_manager::{Access, AttributeChange, Cause, HOST_MEMORY, MemoryId, PageId, PageRun, ProcessorId};
use octavo_program::{Application, Workload};

pub(crate) use self::groups::GROUP_BYTES;
use self::groups::GroupCounts;
use self::kernels::Kernel;
pub(crate) use self::samples::MOST as MOST_INTERVALS;
use self::samples::Samples;
use self::stalls::StallLog;
use self::timeline::{EventKind, Timeline};
use self::traffic::TrafficLog;
use self::walks::Walks;
use crate::bound::Recorded;
use crate::machine::jobs::Running;
use crate::machine::occurrence::{Happening, Listen};
use crate::observe::jobs::{JobCounts, JobLog, JobSummary};
use crate::observe::phases::{PhaseLog, Phases};
use crate::rounds::Rounds;

/// Names of the kinds of rows in the `events` table, by code.
#[must_use]
pub fn event_kinds() -> Vec<&'static str> {
    EventKind::names()
}

pub(crate) struct Recorder {
    page_bytes: u64,
    groups: Vec<GroupCounts>,
    kernels: Vec<Kernel>,
    /// The time of wavefronts, where they are followed.
    stalls: Option<StallLog>,
    traffic: TrafficLog,
    samples: Option<Samples>,
    timeline: Option<Timeline>,
    /// Walks of GPUs, if they are wanted.
    walks: Option<Walks>,
    /// The driver discards faults that it has not taken: events are those that it takes.
    discards: bool,
    phases: PhaseLog,
    /// The jobs, if they have names.
    jobs: Option<JobLog>,
    /// The number of pages in each GPU over time, if that changes.
    capacity: Vec<Capacity>,
}

/// From a time on, a GPU holds this many pages, or all that come.
struct Capacity {
    time: u64,
    gpu: usize,
    pages: Option<u32>,
}

impl Recorder {
    /// `interval` of zero: no samples. Events are kept if it is said how many GPUs the node has.
    pub fn new(workload: &dyn Workload, page_bytes: u64, interval: u64, events: Option<usize>) -> Self {
        let groups = workload.address_end().div_ceil(GROUP_BYTES) as usize;
        Self {
            page_bytes,
            groups: vec![GroupCounts::default(); groups],
            kernels: Vec::new(),
            stalls: None,
            traffic: TrafficLog::default(),
            samples: (interval > 0).then(|| Samples::every(interval)),
            timeline: events.map(Timeline::new),
            walks: None,
            discards: false,
            phases: PhaseLog::default(),
            jobs: job_log(workload),
            capacity: Vec::new(),
        }
    }

    /// The memory of the GPUs will change; each holds this many pages at first.
    pub fn keep_capacity(&mut self, gpus: usize, pages: Option<u32>) {
        self.capacity.extend((0..gpus).map(|gpu| Capacity { time: 0, gpu, pages }));
    }

    /// The walks of GPUs are wanted, for pages below `pages`.
    pub fn keep_walks(&mut self, pages: usize) {
        self.walks = Some(Walks::new(pages));
    }

    /// The time of wavefronts is wanted.
    pub fn keep_stalls(&mut self, workload: &dyn Workload) {
        self.stalls = Some(StallLog::new(workload, self.page_bytes));
    }

    /// The driver discards faults that it has not taken.
    pub fn keep_taken(&mut self) {
        self.discards = true;
    }

    /// A batch is taken. Its faults were counted when they arrived.
    fn batch(&mut self, time: u64, requests: &[Request], faults: &Faults) {
        if self.discards {
            for fault in requests.iter().filter_map(|request| request.fault()).map(|id| &faults[id]) {
                self.fault_event(time, fault.access == Access::Write, fault.processor, fault.page);
            }
        }
    }

    fn fault_arrives(&mut self, time: u64, write: bool, gpu: ProcessorId, page: PageId) {
        self.count(page.0, 1, EventKind::of_fault(write), gpu.memory());
        if !self.discards {
            self.fault_event(time, write, gpu, page);
        }
    }

    fn fault_event(&mut self, time: u64, write: bool, gpu: ProcessorId, page: PageId) {
        self.event(time, EventKind::of_fault(write), PageRun::one(page), gpu.memory(), HOST_MEMORY);
    }

    fn kernel(&mut self, job: usize, kernel: Kernel) {
        if let Some(stalls) = &mut self.stalls {
            stalls.launch_ends(job, &kernel.name);
        }
        self.kernels.push(kernel);
    }

    fn notification(&mut self, time: u64, gpu: ProcessorId, page: u32) {
        self.count(page, 1, EventKind::Counter, gpu.memory());
        self.event(time, EventKind::Counter, PageRun::one(PageId(page)), gpu.memory(), HOST_MEMORY);
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

    /// The placement's attributes of a page change.
    fn attribute(&mut self, time: u64, change: &AttributeChange) {
        if let Some(timeline) = &mut self.timeline {
            timeline.attribute(time, change);
        }
        if let Some(walks) = &mut self.walks {
            walks.attribute(change);
        }
    }

    /// A processor is identified by its memory.
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
            if !memory.on_host() {
                self.groups[group].gpus = self.groups[group].gpus.with(memory);
            }
        }
    }

    /// The run ended at that time.
    pub fn end(&mut self, ended: u64) {
        let under_way = self.jobs.as_ref().map(JobLog::under_way).unwrap_or_default();
        under_way.into_iter().for_each(|job| self.job_ends(job, ended, false));
        for job in 0..self.jobs.as_ref().map_or(0, |log| log.names().len()) {
            let counts = self.counts_of(job);
            if let (Some(log), Some(counts)) = (&mut self.jobs, counts) {
                log.settle(job, counts);
            }
        }
    }

    /// Data that is kept row by row: everything that grows with the length of a run.
    fn rows(&self) -> Recorded {
        let timeline = self.timeline.as_ref().map(Timeline::recorded);
        let samples = self.samples.as_ref().map(Samples::recorded);
        let jobs = self.jobs.as_ref().map(JobLog::recorded);
        let stalls = self.stalls.as_ref().map(StallLog::recorded);
        let always = [Kernel::recorded(self.kernels.len()), self.traffic.recorded(), self.phases.recorded()];
        let each = [timeline, samples, jobs, stalls].into_iter().chain(always.map(Some));
        each.flatten().fold(Recorded::default(), Recorded::and)
    }

    /// The duration of each kind of phase of a job's whole program.
    pub fn phases(&self, job: usize) -> Option<Phases> {
        self.phases.sums(job)
    }

    /// The work of each job, if they have names.
    pub fn jobs(&self, running: &[Running], rounds: &Rounds) -> Vec<JobSummary> {
        let Some(log) = &self.jobs else { return Vec::new() };
        let summary = |(job, state)| log.summary(job, state, rounds.ended(job), self.phases(job));
        running.iter().enumerate().map(summary).collect()
    }

    /// The events of each job's pages, if they have names, and these.
    pub fn counts_by_job(&self) -> impl Iterator<Item = (&str, JobCounts)> {
        let logs = self.jobs.iter();
        logs.flat_map(|log| log.names().iter().enumerate().map(|(job, name)| (name.as_str(), log.counts(job))))
    }

    fn job_begins(&mut self, job: usize, now: u64) {
        let counts = self.counts_of(job);
        if let (Some(log), Some(counts)) = (&mut self.jobs, counts) {
            log.begin(job, now, counts);
        }
    }

    fn job_ends(&mut self, job: usize, now: u64, complete: bool) {
        let counts = self.counts_of(job);
        if let (Some(log), Some(counts)) = (&mut self.jobs, counts) {
            log.end(job, now, counts, complete);
        }
    }

    /// The events of a job's pages so far.
    fn counts_of(&self, job: usize) -> Option<JobCounts> {
        self.jobs.as_ref().map(|log| JobCounts::of(&self.total(log.groups(job))))
    }
}

impl Listen for Recorder {
    #[inline(always)]
    fn hear(&mut self, now: u64, what: Happening<'_>) {
        match what {
            Happening::Walks { page } => {
                if let Some(walks) = &mut self.walks {
                    walks.walk(page);
                }
            }
            Happening::RemoteLines { page, lines } => self.remote_lines(page, lines),
            Happening::FaultArrives { gpu, page, write, .. } => self.fault_arrives(now, write, gpu, PageId(page)),
            Happening::Driver(Driver::BatchBegins { requests, faults, .. }) => self.batch(now, requests, faults),
            Happening::Notified { gpu, page } => self.notification(now, gpu, page),
            Happening::Copied { pages, from, to, cause } => self.copy(now, pages, from, to, cause),
            Happening::Placed { pages, from, to } => self.placed(now, pages, from, to),
            Happening::MappedRemotely { pages, by, at } => self.remote_map(now, pages, by, at),
            Happening::Discarded { pages, memory } => self.discard(now, pages, memory),
            Happening::Attribute(change) => self.attribute(now, change),
            Happening::Issued { job, tally } => {
                if let Some(stalls) = &mut self.stalls {
                    stalls.issued(job, tally);
                }
            }
            Happening::Stalled { job, what, page, wait } => {
                if let Some(stalls) = &mut self.stalls {
                    stalls.stalled(job, what, page, wait);
                }
            }
            Happening::Answered { job, answer, wait } => {
                if let Some(stalls) = &mut self.stalls {
                    stalls.answered(job, answer, wait);
                }
            }
            Happening::WaitEnds { job, what, page } => {
                if let Some(stalls) = &mut self.stalls {
                    stalls.wait_ends(job, what, page);
                }
            }
            Happening::Overlapped { job, time } => {
                if let Some(stalls) = &mut self.stalls {
                    stalls.overlapped(job, time);
                }
            }
            Happening::Kernel { job, name, began, ended, work } => {
                self.kernel(job, Kernel { name: name.clone(), began, ended, work });
            }
            Happening::LaunchBegins { job, accesses, links, host } => self.traffic.begins(job, accesses, links, host),
            Happening::LaunchEnds { job, accesses, links, host } => self.traffic.ends(job, accesses, links, host),
            Happening::Capacity { gpu, pages } => {
                self.capacity.push(Capacity { time: now, gpu, pages: Some(pages) });
            }
            Happening::JobBegins { job } => self.job_begins(job, now),
            Happening::JobEnds { job } => self.job_ends(job, now, true),
            Happening::Phase { job, action, phase, name, began, ended } => {
                self.phases.push((job, action), phase, name, (began, ended));
            }
            Happening::Sample { accesses, manager, links, host } => {
                if let Some(samples) = &mut self.samples {
                    samples.push(now, accesses, manager, &links.usage());
                }
                if let Some(host) = host {
                    self.traffic.samples(now, accesses, links, host);
                }
            }
            _ => {}
        }
    }

    fn interval(&self) -> Option<u64> {
        self.samples.as_ref().map(Samples::interval)
    }

    fn wants_attributes(&self) -> bool {
        self.timeline.is_some() || self.walks.is_some()
    }

    fn recorded(&self) -> Recorded {
        self.rows()
    }
}

/// A log of the jobs, if they have names.
fn job_log(workload: &dyn Workload) -> Option<JobLog> {
    let programs = workload.applications();
    let groups = |program: &Application| {
        let own = &workload.buffers()[program.buffers.clone()];
        let (first, last) = (own.first(), own.last());
        let end = last.map_or(0, |last| (last.base + last.bytes).div_ceil(GROUP_BYTES));
        first.map_or(0, |first| first.base / GROUP_BYTES) as usize..end as usize
    };
    let named = programs.iter().any(|program| !program.name.is_empty());
    named.then(|| JobLog::new(&programs, programs.iter().map(groups).collect()))
}
