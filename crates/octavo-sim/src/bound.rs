//! The memory that a run may use on the simulating machine, and uses: checked during the run.

use std::fmt;

use crate::moment::When;

/// The memory that a run may use, and how to ask for its present use.
#[derive(Clone, Copy)]
pub struct MemoryBound<'a> {
    /// Bytes that the process may have.
    pub limit: u64,
    /// Bytes among them that are not the run's: the program around the simulator.
    pub around: u64,
    /// Bytes that the run has. Asked every few milliseconds.
    pub in_use: &'a (dyn Fn() -> u64 + Sync),
}

/// Parts of a run that need memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryEstimate {
    /// Caches, TLBs and wavefronts of all GPUs.
    pub node: u64,
    /// State of pages: of the manager, of page tables, and counted for results.
    pub pages: u64,
    /// Events and intervals that are recorded.
    pub records: u64,
    /// The workloads' copies of their inputs: graphs.
    pub inputs: u64,
}

impl MemoryEstimate {
    /// All of it.
    #[must_use]
    pub fn total(&self) -> u64 {
        [self.node, self.pages, self.records, self.inputs].into_iter().fold(0, u64::saturating_add)
    }
}

/// Bytes of a run's records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Recorded {
    /// In the form in which they are kept during the run.
    pub kept: u64,
    /// As columns of tables.
    pub columns: u64,
}

impl Recorded {
    /// While columns are copied to the place from which they are written, and written: this many quarters of their
    /// bytes. Measured with six million events: the columns, one of them twice, a buffer of the file and the file
    /// itself.
    const WRITTEN_QUARTERS: u64 = 7;

    /// This many rows, each with this many bytes.
    pub const fn rows(rows: usize, kept: usize, columns: usize) -> Self {
        Self { kept: (rows * kept) as u64, columns: (rows * columns) as u64 }
    }

    /// Like the others, for rows that stay together with their columns.
    pub const fn stay(rows: usize, kept: usize, columns: usize) -> Self {
        Self::rows(rows, kept, kept + columns)
    }

    /// Both.
    pub const fn and(self, other: Self) -> Self {
        Self { kept: self.kept + other.kept, columns: self.columns + other.columns }
    }

    const fn written(self) -> u64 {
        self.columns * Self::WRITTEN_QUARTERS / 4
    }
}

/// The bound on a run in progress.
#[derive(Clone, Copy)]
pub(crate) struct Watch<'a> {
    bound: MemoryBound<'a>,
    /// Bytes at its beginning: the data that its programs access.
    inputs: u64,
}

impl<'a> Watch<'a> {
    /// From now on; nothing of the node exists yet.
    pub fn new(bound: MemoryBound<'a>) -> Self {
        Self { inputs: (bound.in_use)(), bound }
    }

    /// The memory that the run needs to end now, if that is more than it may have.
    pub fn met(&self, recorded: Recorded) -> Option<Met> {
        let (in_use, inputs) = ((self.bound.in_use)(), self.inputs);
        let others = in_use.saturating_sub(recorded.kept);
        // Columns are made while the node is still there, and written when it is gone.
        let needed = in_use.max(others + recorded.columns).max(inputs + recorded.written());
        let MemoryBound { limit, around, .. } = self.bound;
        (around + needed > limit).then_some(Met { limit, around, in_use, needed, recorded, inputs })
    }
}

/// A bound that was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Met {
    limit: u64,
    around: u64,
    in_use: u64,
    needed: u64,
    recorded: Recorded,
    inputs: u64,
}

/// A run that reached its limit: its memory, and its progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryMet {
    met: Met,
    when: When,
    launches_done: u32,
    launches: u32,
}

impl MemoryMet {
    pub(crate) fn new(met: Met, when: When, (launches_done, launches): (u32, u32)) -> Self {
        Self { met, when, launches_done, launches }
    }

    /// The parts that need memory, the largest first.
    fn parts(&self) -> [(u64, &'static str); 3] {
        let Met { in_use, recorded, inputs, .. } = self.met;
        let node = in_use.saturating_sub(recorded.kept + inputs);
        let mut parts =
            [(recorded.written(), "what is recorded"), (node, "the node and its pages"), (inputs, "inputs")];
        parts.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
        parts
    }
}

impl fmt::Display for MemoryMet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Met { limit, around, in_use, needed, .. } = self.met;
        let [(most, what), (next, then), (last, least)] = self.parts();
        write!(
            f,
            "the run takes more memory than the {} that it may: {} were in use {} with {} of {} launches done, and {} \
             would be needed to write its result; of that, {} for {what}, {} for {then}, {} for {least}, {} for the \
             program around it",
            allowed(limit),
            taken(around + in_use),
            self.when,
            self.launches_done,
            self.launches,
            taken(around + needed),
            taken(most),
            taken(next),
            taken(last),
            taken(around),
        )
    }
}

/// The memory of a run, in MiB, rounded up to a tenth.
pub(crate) fn taken(bytes: u64) -> String {
    tenths(bytes.saturating_mul(10).div_ceil(1 << 20))
}

/// The permitted memory, rounded down: a run that is refused never seems to fit.
pub(crate) fn allowed(bytes: u64) -> String {
    tenths(bytes.saturating_mul(10) >> 20)
}

fn tenths(of_mib: u64) -> String {
    format!("{}.{} MiB", of_mib / 10, of_mib % 10)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use octavo_units::Time;

    use super::*;

    const MIB: u64 = 1 << 20;

    fn watched(limit: u64, in_use: u64, recorded: Recorded) -> Option<Met> {
        let now = AtomicU64::new(MIB);
        let ask = || now.load(Relaxed);
        let watch = Watch::new(MemoryBound { limit, around: 10 * MIB, in_use: &ask });
        now.store(in_use, Relaxed);
        watch.met(recorded)
    }

    #[test]
    fn the_limit_itself_is_still_allowed() {
        assert_eq!(watched(30 * MIB, 20 * MIB, Recorded::default()), None);
        assert!(watched(30 * MIB - 1, 20 * MIB, Recorded::default()).is_some());
    }

    #[test]
    fn what_is_recorded_counts_as_what_it_will_be() {
        // Ten are kept and will be twenty beside the ten of the node, or 35 beside inputs of one.
        let recorded = Recorded { kept: 10 * MIB, columns: 20 * MIB };
        assert_eq!(watched(46 * MIB, 20 * MIB, recorded), None);
        assert_eq!(watched(46 * MIB - 1, 20 * MIB, recorded).map(|met| met.needed), Some(36 * MIB));
        // Beside a larger node, it is the columns that count.
        assert_eq!(watched(80 * MIB, 60 * MIB, recorded), None);
        assert_eq!(watched(80 * MIB - 1, 60 * MIB, recorded).map(|met| met.needed), Some(70 * MIB));
    }

    #[test]
    fn the_message_names_the_limit_and_the_most_first() {
        let met = watched(40 * MIB, 20 * MIB, Recorded { kept: 10 * MIB, columns: 20 * MIB }).unwrap();
        let said = MemoryMet::new(met, When::Time(Time(5_000_000)), (2, 7)).to_string();
        for part in ["40.0 MiB", "30.0 MiB were in use at 5us", "2 of 7 launches", "46.0 MiB would be needed"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        let order = ["35.0 MiB for what is recorded", "9.0 MiB for the node", "1.0 MiB for inputs", "10.0 MiB for the"];
        let places: Vec<_> = order.iter().map(|part| said.find(part)).collect();
        assert!(places.is_sorted() && places.iter().all(Option::is_some), "{places:?}: {said}");
    }
}
