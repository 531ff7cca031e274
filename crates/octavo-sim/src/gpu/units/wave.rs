//! Wavefronts in flight and the work-groups they belong to.
//!
//! A wavefront's slot is its place in the tables of those in flight. Its position in its compute unit is its seat: a
//! node has many more seats than most kernels have wavefronts in flight, and the data of these is stored close
//! together.

use octavo_program::{Cursor, Op, OpSink};
use prefetch_index::prefetch_index;

use crate::gpu::units::history::History;
use crate::gpu::units::schedule::Scheduler;
use crate::gpu::units::stalls::Answer;

/// Operations that fit a wavefront's buffer.
const CHUNK: usize = OpSink::MIN_CAPACITY;

/// Operations that it is filled with where loads are moved, which needs several of them at hand, and its size then.
const ENOUGH_TO_MOVE: usize = 128;
const LONG_CHUNK: usize = ENOUGH_TO_MOVE + CHUNK;

/// Operations at which a buffer is not filled further: four cache lines. Thousands of wavefronts take turns. Long
/// buffers push data that is needed now out of the caches, and each call of the workload reads its data into them
/// again. Measured with one, two and four lines at scale 1.
const ENOUGH: usize = 4 * OPS_OF_LINE;

/// Operations of a cache line of the simulating machine.
const OPS_OF_LINE: usize = 64 / size_of::<Op>();

/// A buffer of operations: whole cache lines, of which most wavefronts use the first few.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Chunk([Op; LONG_CHUNK]);

/// Why a wavefront has no event in the calendar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    /// The wavefront has ended, or the slot is free.
    #[default]
    Over,
    /// An event is in the calendar, or it is running now.
    Scheduled,
    /// The wavefront waits for pending accesses.
    Pending,
    /// The wavefront waits at a barrier.
    Barrier,
}

/// A wavefront in flight: one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(super) struct Wave {
    pub cursor: Cursor,
    /// The arrival of all data that it requested, except for pending accesses.
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
    /// The program it is part of.
    pub application: u8,
    /// Its position in its unit.
    pub seat: u8,
    /// Its next operation and how many its buffer has.
    pub next_op: u16,
    pub ops: u16,
    /// Some lines of an instruction are issued, and others are not.
    pub within: bool,
    pub state: State,
}

impl Wave {
    #[inline(always)]
    pub const fn next(&self, op: u16) -> Next {
        debug_assert!(op == self.next_op);
        Next { op, end: self.ops }
    }
}

/// The position of a wavefront in its operations: kept at hand while it runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Next {
    pub op: u16,
    end: u16,
}

/// The answer that a wavefront waits for, whose arrival is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Awaited {
    #[default]
    None,
    /// The last of all.
    Last,
    /// One that [`History`] remembers.
    At(u8),
}

/// What a wavefront waits for: not needed to run it, and so not in its record.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
pub(super) struct Waits {
    /// The answer that [`Wave::ready`] is the arrival of.
    pub answer: Answer,
    /// Since when it waits.
    pub since: u64,
    pub awaited: Awaited,
}

/// A work-group in flight, kept at its first wavefront's slot.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Group {
    /// Wavefronts that have not ended.
    pub running: u16,
    /// Wavefronts at the barrier.
    pub arrived: u16,
    /// When the last of them got there.
    pub arrival: u64,
}

/// A wavefront that fetches code: its program, where it runs, and its slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fetcher {
    pub program: usize,
    pub gpu: usize,
    pub unit: usize,
    pub slot: usize,
}

/// The wavefronts in flight on all GPUs, by slot.
pub(crate) struct Waves {
    pub(super) waves: Vec<Wave>,
    /// By the slot of a work-group's first wavefront.
    pub(super) groups: Vec<Group>,
    pub(super) waits: Vec<Waits>,
    /// Buffers of operations.
    chunks: Vec<Chunk>,
    free: Vec<u32>,
    pub(super) history: History,
    /// Moves loads ahead of waits, where that is done.
    scheduler: Option<Scheduler>,
}

impl Waves {
    /// `loads_ahead`: the number of a wavefront's loads that are moved ahead of waits; 0 for unchanged streams.
    pub fn new(history: History, loads_ahead: u32) -> Self {
        let scheduler = Scheduler::new(loads_ahead);
        Self {
            waves: Vec::new(),
            groups: Vec::new(),
            waits: Vec::new(),
            chunks: Vec::new(),
            free: Vec::new(),
            history,
            scheduler,
        }
    }

    /// The most that were in flight at once so far.
    #[inline(always)]
    pub const fn most(&self) -> usize {
        self.waves.len()
    }

    /// A slot for a wavefront that begins: the one given back last, which is in the caches, or a new one.
    pub(super) fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.waves.push(Wave::default());
            self.groups.push(Group::default());
            self.waits.push(Waits::default());
            self.chunks.push(Chunk([Op::END; LONG_CHUNK]));
            self.waves.len() as u32 - 1
        })
    }

    /// The data of the wavefront in `slot` is no longer needed.
    pub(super) fn give_back(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// GPU and compute unit of the wavefront in `slot`.
    #[inline]
    pub fn place(&self, slot: usize) -> (usize, usize) {
        let wave = &self.waves[slot];
        (wave.gpu as usize, wave.unit as usize)
    }

    /// Number of its SIMD among those of its GPU.
    #[inline]
    pub fn simd(&self, slot: usize) -> usize {
        self.waves[slot].simd as usize
    }

    /// Its seat, and the value that orders wavefronts by age: work-groups begin in order.
    pub fn seat_and_age(&self, slot: usize) -> (u8, u64) {
        let wave = &self.waves[slot];
        (wave.seat, u64::from(wave.group) << u16::BITS | u64::from(wave.number))
    }

    /// The wavefront as instruction fetch sees it.
    #[inline]
    pub fn fetcher(&self, slot: usize) -> Fetcher {
        let wave = &self.waves[slot];
        Fetcher { program: wave.application.into(), gpu: wave.gpu.into(), unit: wave.unit.into(), slot }
    }

    /// The program that it is part of.
    #[inline]
    pub fn program(&self, slot: usize) -> usize {
        self.waves[slot].application.into()
    }

    /// Whether it is within an instruction of which some lines are issued.
    #[inline]
    pub fn is_within(&self, slot: usize) -> bool {
        self.waves[slot].within
    }

    /// It goes on: the answer that it waited for, if it was one whose arrival was known, and since when.
    #[inline]
    pub fn wake(&mut self, slot: usize) -> Option<(Answer, u64)> {
        let Waits { answer, since, awaited } = self.waits[slot];
        if awaited == Awaited::None {
            return None;
        }
        self.waits[slot].awaited = Awaited::None;
        Some(match awaited {
            Awaited::At(place) => (self.history.answer(slot, place.into()), since),
            _ => (answer, since),
        })
    }

    /// It continues there, with operation `op`.
    #[inline]
    pub fn next(&self, slot: usize, op: u16) -> Next {
        self.waves[slot].next(op)
    }

    /// Its next operation in its buffer.
    #[inline]
    pub fn next_op(&self, slot: usize) -> u16 {
        self.waves[slot].next_op
    }

    /// The wavefront continues at `next` later, within an instruction or at its beginning.
    #[inline]
    pub fn stop_at(&mut self, slot: usize, next: Next, within: bool) {
        let wave = &mut self.waves[slot];
        (wave.next_op, wave.within) = (next.op, within);
    }

    /// The operation at `next` of the buffer of the wavefront in `slot`; `None` if there are no more.
    #[inline(always)]
    pub fn op(&self, slot: usize, next: Next) -> Option<Op> {
        (next.op < next.end).then(|| self.chunks[slot].0[usize::from(next.op)])
    }

    /// Lines of the memory instruction that begins with `op`; its other operations are those from `next` on.
    pub fn lines_of_instruction(&self, slot: usize, op: Op, mut next: Next) -> u32 {
        let (mut lines, mut op) = (op.count(), op);
        while op.continues()
            && let Some(part) = self.op(slot, next)
        {
            lines += part.count();
            next.op += 1;
            op = part;
        }
        lines
    }

    /// Fills its buffer again: `fill` gets its program, its work-group and its number in that, and the position of its
    /// stream.
    #[inline]
    pub fn refill(&mut self, slot: usize, fill: impl FnOnce(usize, (u32, u32), &mut Cursor, &mut OpSink<'_>)) -> Next {
        let (wave, ops) = (&mut self.waves[slot], &mut self.chunks[slot].0);
        let (room, enough) = match self.scheduler {
            Some(_) => (LONG_CHUNK, ENOUGH_TO_MOVE),
            None => (CHUNK, ENOUGH),
        };
        let mut sink = OpSink::new(&mut ops[..room]).until(enough);
        fill(wave.application.into(), (wave.group, wave.number.into()), &mut wave.cursor, &mut sink);
        debug_assert!(!sink.is_empty(), "a workload must make progress");
        let filled = sink.len();
        if let Some(scheduler) = &mut self.scheduler {
            scheduler.move_loads(&mut ops[..filled]);
        }
        wave.ops = filled as u16;
        wave.next_op = 0;
        wave.next(0)
    }

    /// The wavefront has the answer to an access at `answered`.
    #[inline]
    pub fn note_answer(&mut self, slot: usize, answered: u64, answer: Answer) {
        let wave = &mut self.waves[slot];
        if answered > wave.ready {
            wave.ready = answered;
            self.waits[slot].answer = answer;
        }
    }

    /// Since when the wavefront is asleep until its pending accesses have ended; `None` if it is not.
    #[inline]
    pub fn asleep_since(&self, slot: usize) -> Option<u64> {
        (self.waves[slot].state == State::Pending).then(|| self.waits[slot].since)
    }

    /// It waits for this long less: it goes on later than what it waits for arrives.
    pub fn wait_later(&mut self, slot: usize, more: u64) {
        self.waits[slot].since += more;
    }

    /// Since when it sleeps, whatever for.
    #[inline]
    pub fn slept_from(&self, slot: usize) -> u64 {
        self.waits[slot].since
    }

    /// What it slept for until `since` is told.
    #[inline]
    pub fn sleep_from(&mut self, slot: usize, since: u64) {
        self.waits[slot].since = since;
    }

    /// The answer that arrives last of all it has asked for.
    #[inline]
    pub fn last_answer(&self, slot: usize) -> Answer {
        self.waits[slot].answer
    }

    /// Whether waits may leave instructions outstanding.
    #[inline]
    pub const fn keeps_history(&self) -> bool {
        self.history.is_kept()
    }

    /// It has issued an operation; an instruction may continue with the next.
    #[inline]
    pub fn note_issued(&mut self, slot: usize, op: Op) {
        // Most workloads keep none, which is foreseen; whether the instruction goes on is not.
        if self.history.is_kept() && !op.continues() {
            self.history.note(slot, (self.waves[slot].ready, self.waits[slot].answer));
        }
    }

    /// One pending access more.
    #[inline]
    pub fn begin_pending(&mut self, slot: usize) {
        self.waves[slot].pending += 1;
    }

    /// One pending access fewer; after the last, returns when a wavefront that waited for it continues.
    #[inline]
    pub fn end_pending(&mut self, slot: usize, now: u64) -> Option<u64> {
        let wave = &mut self.waves[slot];
        wave.pending -= 1;
        if wave.pending > 0 || wave.state != State::Pending {
            return None;
        }
        wave.state = State::Scheduled;
        Some(wave.ready.max(now))
    }

    /// A hint that the wavefront in `slot` soon continues with operation `op`.
    #[inline(always)]
    pub fn hint(&self, slot: usize, op: u16) {
        self.hint_record(slot);
        let ops = &self.chunks[slot].0;
        prefetch_index(ops, op.into());
        prefetch_index(ops, usize::from(op) + OPS_OF_LINE);
        self.history.hint(slot);
    }

    /// A hint that a wavefront's record is needed soon.
    #[inline(always)]
    pub fn hint_record(&self, slot: usize) {
        prefetch_index(&self.waves, slot);
        prefetch_index(&self.waits, slot);
    }
}
