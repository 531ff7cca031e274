//! The machine without time: the driver and the tables that its plans change.

use octavo_driver::{Driver, Instant, Service};
use octavo_manager::{Manager, MemoryId, PageId, PageRun};
use octavo_program::LINE_BYTES;
use octavo_units::Time;

use crate::functional::counts::Counts;
use crate::functional::executor::{Copied, Tables};
use crate::functional::options::InstantOptions;
use crate::functional::pace::{CYCLES_OF_A_LINE, Pace};
use crate::functional::placement::Placement;
use crate::gpu::counters::Counters;
use crate::gpu::reports::Reports;
use crate::machine::occurrence::{Happening, Listen};

/// The node's decisions, without its time.
pub(super) struct Machine<L> {
    pub driver: Driver,
    pub tables: Tables<L>,
    pub counts: Counts,
    pub reports: Reports,
    pace: Pace,
    /// log2 of the lines of a page.
    pub page_line_shift: u32,
    pub gpus: usize,
    /// A fault that is served but does not make its access possible: a defect.
    pub stuck: bool,
}

impl<L: Listen> Machine<L> {
    /// For a node with this many GPUs, with this duration of a cycle, whose addresses end at `address_end`.
    pub fn new(
        manager: Manager,
        (gpus, cycle): (usize, Time),
        page_bytes: u64,
        address_end: u64,
        options: &InstantOptions<'_>,
        listeners: L,
    ) -> Self {
        let needs = manager.needs();
        let pages = address_end.div_ceil(page_bytes) as usize;
        let mut driver = Driver::new(manager, Service::at_once());
        if listeners.wants_attributes() {
            driver.manager_mut().keep_attribute_changes();
        }
        let report_lines = needs.reports.map(|spec| {
            let lines = (spec.period_cycles * gpus as u64).div_ceil(CYCLES_OF_A_LINE);
            options.report_lines.unwrap_or(lines)
        });
        Self {
            driver,
            tables: Tables {
                entries: Instant::new(gpus),
                counters: Counters::new(needs.counters, gpus, pages),
                lines: 0,
                copied: Copied::default(),
                placed: Placement::new(page_bytes),
                listeners,
            },
            counts: Counts::new(gpus),
            reports: Reports::new(needs.reports, gpus, pages),
            pace: Pace::new(cycle, gpus, report_lines),
            page_line_shift: page_bytes.trailing_zeros() - LINE_BYTES.trailing_zeros(),
            gpus,
            stuck: false,
        }
    }

    /// Passes an event to the driver, and the notes of placements about it to the listeners.
    pub fn drive(&mut self, tell: impl FnOnce(&mut Driver, Time, &mut Tables<L>)) {
        if let Some(touched) = self.tables.listeners.touched() {
            touched.tell(self.driver.manager_mut());
        }
        tell(&mut self.driver, self.pace.now(self.tables.lines), &mut self.tables);
        self.pace.note_deadline(self.driver.deadline());
        for change in self.driver.manager_mut().drain_attribute_changes() {
            self.tables.say(Happening::Attribute(&change));
        }
    }

    /// Whether nothing progresses, because a strategy failed, memory ran out or nothing more can happen.
    pub fn halted(&self) -> bool {
        self.driver.halted() || self.stuck
    }

    pub const fn page_bytes(&self) -> u64 {
        LINE_BYTES << self.page_line_shift
    }

    /// The pages that have bytes between two addresses.
    pub fn pages_between(&self, start: u64, end: u64) -> PageRun {
        let (first, end) = (start / self.page_bytes(), end.div_ceil(self.page_bytes()));
        PageRun { first: PageId(first as u32), count: (end - first) as u32 }
    }

    /// Lines were accessed: perhaps something is due.
    #[inline]
    pub fn count_lines(&mut self, lines: u32) {
        self.tables.lines += u64::from(lines);
        if self.tables.lines >= self.pace.due() {
            self.go_on();
        }
    }

    /// A report or something that a strategy wanted to wait for is due.
    #[cold]
    fn go_on(&mut self) {
        if self.pace.take_report(self.tables.lines) {
            self.report();
        }
        self.drive(|driver, now, tables| driver.tick(now, tables));
    }

    fn report(&mut self) {
        let mut counts = Vec::new();
        (0..self.gpus).for_each(|gpu| self.reports.take(gpu, &mut counts));
        if !counts.is_empty() {
            counts.sort_unstable_by_key(|count| (count.page, count.processor));
            self.drive(|driver, now, tables| driver.report(now, &counts, tables));
        }
    }

    /// Skips ahead to the next time that a strategy waits for, since nothing else progresses. Whether there is such a
    /// time.
    pub fn skip_ahead(&mut self) -> bool {
        let Some(at) = self.driver.deadline() else { return false };
        self.pace.skip_to(at, self.tables.lines);
        self.drive(|driver, now, tables| driver.tick(now, tables));
        true
    }

    /// The frames of a GPU's memory that are in use, according to the manager.
    pub fn memory_use(&self, gpu: usize) -> Option<octavo_manager::MemoryUse> {
        self.driver.manager().memory_use(MemoryId::gpu(gpu))
    }
}
