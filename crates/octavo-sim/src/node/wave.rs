//! Wavefronts in flight and the work-groups they belong to.

use octavo_workload::{Cursor, Op, OpSink};

/// Operations that fit a wavefront's buffer.
const CHUNK: usize = OpSink::MIN_CAPACITY;

/// Operations at which a buffer is not filled further: four cache lines. Thousands of wavefronts take turns: what is
/// buffered for later pushes what is needed now out of the caches, and each call of the workload brings in what it reads
/// of its data again. Measured with one, two and four lines at scale 1 (docs/speed.md).
pub(crate) const ENOUGH: usize = 4 * 64 / size_of::<Op>();

/// A buffer of operations: whole cache lines.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Chunk([Op; CHUNK]);

/// No buffer yet.
pub(crate) const NO_CHUNK: u32 = u32::MAX;

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
    /// Its buffer of operations, once it has begun.
    pub chunk: u32,
    /// Index of its SIMD among those of its GPU.
    pub simd: u32,
    /// Number within the work-group.
    pub number: u16,
    /// Its compute unit.
    pub unit: u16,
    /// Its GPU.
    pub gpu: u8,
    /// The program it is part of.
    pub application: u8,
    /// Its next operation and how many its buffer has.
    pub next_op: u16,
    pub ops: u16,
    pub state: State,
}

impl Wave {
    #[inline(always)]
    pub const fn next(&self) -> Next {
        Next { chunk: self.chunk, op: self.next_op, end: self.ops }
    }
}

/// Where a wavefront is in its operations: kept at hand while it runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Next {
    chunk: u32,
    pub op: u16,
    end: u16,
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
    /// Buffers of wavefronts in flight, and others for those to come. Most nodes have many more slots than a kernel
    /// has wavefronts in flight.
    chunks: Vec<Chunk>,
    free: Vec<u32>,
}

impl Waves {
    pub fn new(slots: usize) -> Self {
        Self {
            waves: vec![Wave::default(); slots],
            groups: vec![Group::default(); slots],
            chunks: Vec::new(),
            free: Vec::new(),
        }
    }

    /// The operation at `next` of a wavefront's buffer; `None` if there are no more.
    #[inline(always)]
    pub fn op(&self, next: Next) -> Option<Op> {
        (next.op < next.end).then(|| self.chunks[next.chunk as usize].0[usize::from(next.op)])
    }

    /// A wavefront and its buffer.
    #[inline]
    pub fn chunk(&mut self, slot: usize) -> (&mut Wave, &mut [Op]) {
        if self.waves[slot].chunk == NO_CHUNK {
            self.waves[slot].chunk = self.take_chunk();
        }
        let wave = &mut self.waves[slot];
        let chunk = wave.chunk as usize;
        (wave, &mut self.chunks[chunk].0)
    }

    /// The buffer given back last, which is in the caches, or a new one.
    fn take_chunk(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.chunks.push(Chunk([Op::END; CHUNK]));
            self.chunks.len() as u32 - 1
        })
    }

    /// The wavefront in `slot` is over; its slot is not free yet.
    pub fn end(&mut self, slot: usize) {
        let wave = &mut self.waves[slot];
        wave.state = State::Free;
        self.free.push(std::mem::replace(&mut wave.chunk, NO_CHUNK));
    }
}
