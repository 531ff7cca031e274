//! Work-groups in flight on one GPU, and where their wavefronts are in their streams.

use std::ops::Range;

use octavo_program::{Cursor, Launch, Op, OpKind, OpSink, Share, Workload};
use prefetch_index::prefetch_index;

/// Operations that a wavefront's buffer holds.
const CHUNK: usize = OpSink::MIN_CAPACITY;

/// Operations at which a buffer is not filled further: four cache lines of the machine that computes this, as in the
/// simulated node.
const ENOUGH: usize = 32;

/// A buffer of operations: whole cache lines.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Chunk([Op; CHUNK]);

/// The next action of a wavefront.
pub(super) enum Next {
    /// Accesses memory.
    Access(Op),
    /// Waits at the barrier.
    Barrier,
    /// Nothing.
    End,
}

/// A wavefront in flight.
#[derive(Clone, Copy, Default)]
struct Wave {
    cursor: Cursor,
    /// Its next operation and how many its buffer has.
    next: u16,
    filled: u16,
    state: State,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Running,
    AtBarrier,
    Over,
}

/// A work-group in flight.
#[derive(Clone, Copy)]
struct Group {
    /// Its flattened id.
    number: u32,
    /// Number of wavefronts that have not ended, and of those at the barrier.
    running: u32,
    arrived: u32,
}

/// Places for work-groups on one GPU. A launch's work-groups all have the same number of wavefronts.
#[derive(Default)]
pub(super) struct Places {
    wavefronts: usize,
    groups: Vec<Group>,
    /// By place, then wavefront.
    waves: Vec<Wave>,
    chunks: Vec<Chunk>,
}

impl Places {
    /// Nothing is in flight; work-groups of this many wavefronts follow.
    pub fn clear(&mut self, wavefronts: u32) {
        self.wavefronts = wavefronts as usize;
        self.groups.clear();
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// A work-group begins in `place`, which is free or the first behind all others.
    pub fn begin(&mut self, place: usize, number: u32) {
        let group = Group { number, running: self.wavefronts as u32, arrived: 0 };
        if place == self.groups.len() {
            self.groups.push(group);
        } else {
            self.groups[place] = group;
        }
        let waves = self.waves_of(place);
        if waves.end > self.waves.len() {
            self.waves.resize(waves.end, Wave::default());
            self.chunks.resize(waves.end, Chunk([Op::END; CHUNK]));
        }
        self.waves[waves].fill(Wave::default());
    }

    /// Indices of the wavefronts in a place.
    pub fn waves_of(&self, place: usize) -> Range<usize> {
        place * self.wavefronts..(place + 1) * self.wavefronts
    }

    /// Whether a wavefront can continue.
    pub fn can_run(&self, wave: usize) -> bool {
        self.waves[wave].state == State::Running
    }

    /// Whether the work-group in `place` has ended.
    pub fn is_over(&self, place: usize) -> bool {
        self.groups[place].running == 0
    }

    /// A hint that the work-group in `place` continues after the next one: its wavefronts' records are needed.
    #[inline]
    pub fn hint_records(&self, place: usize) {
        let waves = self.waves_of(place);
        prefetch_index(&self.waves, waves.start);
        prefetch_index(&self.waves, waves.end - 1);
    }

    /// A hint that the work-group in `place` continues next: its wavefronts' operations are needed.
    #[inline]
    pub fn hint_operations(&self, place: usize) {
        for wave in self.waves_of(place) {
            let ops = &self.chunks[wave].0;
            prefetch_index(ops, self.waves[wave].next.into());
        }
    }

    /// A wavefront's next operation that others can see. Operations without memory accesses are skipped.
    #[inline]
    pub fn next(&mut self, (workload, launch): (&dyn Workload, u32), place: usize, wave: usize) -> Next {
        loop {
            let found = &mut self.waves[wave];
            if found.next == found.filled {
                self.refill((workload, launch), place, wave);
                continue;
            }
            let op = self.chunks[wave].0[usize::from(found.next)];
            found.next += 1;
            match op.kind() {
                OpKind::Load | OpKind::Store | OpKind::ScalarLoad => return Next::Access(op),
                OpKind::Barrier => return Next::Barrier,
                OpKind::End => return Next::End,
                OpKind::Compute | OpKind::Wait | OpKind::Fetch => {}
            }
        }
    }

    #[inline(never)]
    fn refill(&mut self, (workload, launch): (&dyn Workload, u32), place: usize, index: usize) {
        let (wave, group) = (&mut self.waves[index], self.groups[place].number);
        let number = (index - place * self.wavefronts) as u32;
        let mut sink = OpSink::new(&mut self.chunks[index].0).until(ENOUGH);
        workload.fill(launch, group, number, &mut wave.cursor, &mut sink);
        debug_assert!(!sink.is_empty(), "a workload must make progress");
        (wave.next, wave.filled) = (0, sink.len() as u16);
    }

    /// A wavefront has reached a barrier: the last one to come lets all continue.
    pub fn arrive(&mut self, place: usize, wave: usize) {
        self.waves[wave].state = State::AtBarrier;
        self.groups[place].arrived += 1;
        self.release_if_complete(place);
    }

    /// A wavefront has ended: those at the barrier no longer wait for it.
    pub fn end(&mut self, place: usize, wave: usize) {
        self.waves[wave].state = State::Over;
        self.groups[place].running -= 1;
        self.release_if_complete(place);
    }

    fn release_if_complete(&mut self, place: usize) {
        let waves = self.waves_of(place);
        let group = &mut self.groups[place];
        if group.arrived < group.running {
            return;
        }
        group.arrived = 0;
        for wave in self.waves[waves].iter_mut().filter(|wave| wave.state == State::AtBarrier) {
            wave.state = State::Running;
        }
    }
}

/// Which work-groups of a launch each GPU runs: a queue for each GPU of its job, or one for all.
pub(super) struct Queues(Vec<Share>);

impl Queues {
    /// No work-group waits.
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// Queues by the shares; one for all if there are none.
    pub fn new(launch: &Launch, shares: Option<Vec<Share>>) -> Self {
        Self(shares.unwrap_or_else(|| vec![Share::contiguous(0..launch.work_groups)]))
    }

    /// The next work-group of the GPU with this place among the job's GPUs.
    pub fn take(&mut self, place: usize) -> Option<u32> {
        let queue = place.min(self.0.len() - 1);
        self.0[queue].next()
    }
}
