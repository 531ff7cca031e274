//! Options of a run without time, and reports during it.

use std::ops::ControlFlow;

use crate::bound::MemoryBound;

/// How a run without time proceeds, what it records and where it reports progress.
pub struct InstantOptions<'a> {
    /// Memory instructions that a wavefront makes in its turn, at least 1.
    pub turn: u32,
    /// Line accesses between two periodic reports, for placements that request these; `None`: the number that all GPUs
    /// make in a period if each makes one in 16 cycles.
    pub report_lines: Option<u64>,
    /// Keep every fault and copy for the `events` table.
    pub record_events: bool,
    /// The memory that the run may take; any if there is none. It ends with
    /// [`SimError::MemoryMet`](crate::SimError::MemoryMet) as soon as it has more, or would need more to write its
    /// result.
    pub memory: Option<MemoryBound<'a>>,
    /// Called every few milliseconds; `Break` ends the run with
    /// [`SimError::Interrupted`](crate::SimError::Interrupted).
    pub progress: Option<&'a mut dyn FnMut(InstantProgress) -> ControlFlow<()>>,
}

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstantProgress {
    /// Line accesses made.
    pub lines: u64,
    /// Work-groups of all launches that have ended.
    pub groups_done: u64,
    /// Work-groups of all launches.
    pub groups: u64,
}
