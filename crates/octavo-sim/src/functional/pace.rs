//! A substitute for time where strategies ask for it: each GPU is taken to access a line in this many cycles.

use octavo_units::Time;

/// Cycles in which each GPU is taken to access one line. Ours: in simulated time, the eight kernels of the GRIT study
/// take 1 to 500 on `grit-4gpu` at scale 1/16, whichever placement; their median is 13 under `first-touch`, 15 under
/// `grit`.
pub(super) const CYCLES_OF_A_LINE: u64 = 16;

/// The number of line accesses so far, and when something is due.
pub(super) struct Pace {
    /// Picoseconds that a line of each GPU takes.
    line: u64,
    gpus: u64,
    /// Accesses that were skipped because one had to wait for it.
    skipped: Time,
    /// Line accesses between reports, if anyone wants any, and at how many the next is due.
    report_lines: Option<u64>,
    next_report: u64,
    /// The number at which the driver wants to continue.
    deadline: u64,
}

impl Pace {
    pub fn new(cycle: Time, gpus: usize, report_lines: Option<u64>) -> Self {
        Self {
            line: cycle.0 * CYCLES_OF_A_LINE,
            gpus: gpus as u64,
            skipped: Time::ZERO,
            report_lines,
            next_report: report_lines.unwrap_or(u64::MAX),
            deadline: u64::MAX,
        }
    }

    /// The time after this many line accesses.
    pub fn now(&self, lines: u64) -> Time {
        self.skipped + Time(lines / self.gpus * self.line)
    }

    /// After how many line accesses something is due.
    #[inline]
    pub fn due(&self) -> u64 {
        self.next_report.min(self.deadline)
    }

    /// Whether a report is due, after which the next one will be.
    pub fn take_report(&mut self, lines: u64) -> bool {
        let due = lines >= self.next_report;
        if due {
            self.next_report = lines.saturating_add(self.report_lines.unwrap_or(u64::MAX));
        }
        due
    }

    /// The driver wants to continue then.
    pub fn note_deadline(&mut self, at: Option<Time>) {
        let lines = |at: Time| at.0.saturating_sub(self.skipped.0).div_ceil(self.line).saturating_mul(self.gpus);
        self.deadline = at.map_or(u64::MAX, lines);
    }

    /// Time is now at least `at`.
    pub fn skip_to(&mut self, at: Time, lines: u64) {
        self.skipped += Time(at.0.saturating_sub(self.now(lines).0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_cycles_are_a_line_of_each_gpu() {
        let mut pace = Pace::new(Time(1000), 4, Some(10));
        assert_eq!((pace.now(3), pace.now(4), pace.now(9)), (Time(0), Time(16_000), Time(32_000)));
        assert_eq!(pace.due(), 10);
        pace.note_deadline(Some(Time(24_000)));
        assert_eq!(pace.due(), 8, "the first time that is not before it");
        assert!(!pace.take_report(8) && pace.take_report(11));
        pace.note_deadline(None);
        assert_eq!(pace.due(), 21);
    }

    #[test]
    fn what_is_skipped_is_over() {
        let mut pace = Pace::new(Time(1000), 2, None);
        pace.skip_to(Time(90_000), 4);
        assert_eq!((pace.now(4), pace.now(6)), (Time(90_000), Time(106_000)));
        pace.skip_to(Time(80_000), 4);
        assert_eq!(pace.now(4), Time(90_000), "time does not go back");
        pace.note_deadline(Some(Time(106_000)));
        assert_eq!(pace.due(), 6);
    }
}
