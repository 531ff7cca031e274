//! Wavefronts in flight and the work-groups they belong to.

use octavo_workload::{Cursor, Op, OpSink};

use crate::aligned::Aligned;

/// Operations buffered for each wavefront.
pub(crate) const CHUNK: usize = OpSink::MIN_CAPACITY;

/// Why a wavefront has no event in the calendar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum State {
    /// The slot is free.
    #[default]
    Free,
    /// An event is in the calendar, or it is running now.
    Scheduled,
    /// It waits for pending accesses.
    Pending,
    /// It waits at a barrier.
    Barrier,
}

/// A wavefront slot: one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Wave {
    pub cursor: Cursor,
    /// When everything it asked memory for is there, pending accesses aside.
    pub ready: u64,
    /// Work-group it runs, flattened id.
    pub group: u32,
    /// Slot of the work-group's first wavefront, where the group's record is.
    pub leader: u32,
    /// Next slot of the same work-group, `u32::MAX` at the last.
    pub next: u32,
    /// Accesses that wait for faults, far-off translations or room for remote lines.
    pub pending: u32,
    /// Index of its SIMD among those of its GPU.
    pub simd: u32,
    /// Number within the work-group.
    pub number: u16,
    /// Its compute unit.
    pub unit: u16,
    /// Its GPU.
    pub gpu: u8,
    pub next_op: u16,
    pub ops: u16,
    pub state: State,
}

/// A work-group in flight, kept at its first wavefront's slot.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Group {
    /// Wavefronts that have not ended.
    pub running: u16,
    /// Wavefronts at the barrier.
    pub arrived: u16,
    /// When the last of them got there.
    pub arrival: u64,
}

/// All slots of all GPUs.
pub(crate) struct Waves {
    pub waves: Vec<Wave>,
    pub groups: Vec<Group>,
    ops: Aligned<Op>,
}

impl Waves {
    pub fn new(slots: usize) -> Self {
        Self {
            waves: vec![Wave::default(); slots],
            groups: vec![Group::default(); slots],
            ops: Aligned::new(Op::END, slots * CHUNK),
        }
    }

    /// The operation `wave` stands at.
    #[inline]
    pub fn op(&self, slot: usize) -> Op {
        self.ops[slot * CHUNK + self.waves[slot].next_op as usize]
    }

    /// The buffer of a slot.
    #[inline]
    pub fn chunk(&mut self, slot: usize) -> (&mut Wave, &mut [Op]) {
        (&mut self.waves[slot], &mut self.ops[slot * CHUNK..(slot + 1) * CHUNK])
    }
}
