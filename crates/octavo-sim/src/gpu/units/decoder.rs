//! The decoder of vector instructions that the SIMDs of a unit share, instruction by instruction.
//!
//! A wavefront holds a place until its SIMD takes its instruction. In each cycle the SIMDs take turns in being first to
//! put a wavefront into a free place, the oldest that is ready. So wavefronts that wait for one SIMD can keep the
//! others from getting instructions. A unit catches up when something comes or may be over: there are no events for
//! single instructions. Wavefronts that are alone on their SIMDs, with a place for each, wait for nothing and are
//! brought up to date in one step.

use octavo_program::InstructionMix;

use crate::gpu::units::by_age::ByAge;

/// No wavefront.
const NOBODY: u8 = u8::MAX;

/// No cycle.
const NEVER: u64 = u64::MAX;

/// Vector instructions of one wavefront, in its seat.
#[derive(Clone, Copy, Default)]
struct Block {
    slot: u32,
    /// The wavefront's instructions after them.
    rest: InstructionMix,
}

/// A wavefront whose vector instructions have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub slot: usize,
    pub rest: InstructionMix,
}

/// A SIMD and the seats of its wavefronts that have vector instructions.
#[derive(Clone, Copy)]
struct Simd {
    /// The instruction that it executes, and its end; `NEVER` if there is none.
    executing: u8,
    until: u64,
    /// First and last of those in places, in the order in which they came there.
    first: u8,
    last: u8,
    /// All of them.
    wavefronts: u8,
    /// Wavefronts that wait for a place, by age.
    ready: u64,
}

impl Simd {
    const IDLE: Self = Self { executing: NOBODY, until: NEVER, first: NOBODY, last: NOBODY, wavefronts: 0, ready: 0 };

    /// Whether it takes a decoded instruction in the next cycle.
    const fn takes(&self) -> bool {
        self.until == NEVER && self.first != NOBODY
    }
}

/// The decoder and SIMDs of one unit. Times are cycles.
pub(crate) struct Decoder {
    places: usize,
    taken: usize,
    occupancy: u64,
    simds: Vec<Simd>,
    /// SIMDs with wavefronts that wait for a place, one bit each.
    waiting: u32,
    /// SIMDs with more than one wavefront.
    shared: u32,
    by_age: ByAge,
    /// By seat: instructions that have not ended, and the rest of its state.
    left: Vec<u32>,
    blocks: Vec<Block>,
    /// By seat in a place: the one behind it of the same SIMD.
    behind: Vec<u8>,
    /// The next change if nothing else arrives.
    next: u64,
    /// The last cycle in which SIMDs took instructions.
    seen: u64,
    /// When an event is due.
    due: u64,
}

impl Decoder {
    pub fn new(places: u32, simds: u32, seats: u32, occupancy: u64) -> Self {
        Self {
            places: places as usize,
            taken: 0,
            occupancy,
            simds: vec![Simd::IDLE; simds as usize],
            waiting: 0,
            shared: 0,
            by_age: ByAge::new(simds as usize, seats as usize),
            left: vec![0; seats as usize],
            blocks: vec![Block::default(); seats as usize],
            behind: vec![NOBODY; seats as usize],
            next: NEVER,
            seen: NEVER,
            due: NEVER,
        }
    }

    /// The wavefront in `slot` and `seat`, of that age, comes with instructions, some of them for its SIMD. No block
    /// ended before.
    pub fn begin(&mut self, now: u64, (slot, seat): (usize, u8), age: u64, instructions: InstructionMix) {
        self.catch_up(now.saturating_sub(1), &mut Vec::new());
        let rest = InstructionMix { vector: 0, ..instructions };
        self.blocks[usize::from(seat)] = Block { slot: slot as u32, rest };
        self.left[usize::from(seat)] = instructions.vector;
        let index = usize::from(seat) % self.simds.len();
        let simd = &mut self.simds[index];
        self.by_age.set_age(seat, age, &mut simd.ready);
        simd.ready |= self.by_age.bit(seat);
        simd.wavefronts += 1;
        self.shared += u32::from(simd.wavefronts == 2);
        self.waiting |= 1 << index;
        self.next = self.next.min(now);
    }

    /// Removes operations that end now.
    pub fn take_over(&mut self, now: u64, over: &mut Vec<Decoded>) {
        self.catch_up(now, over);
    }

    /// The time of the next check by an event, unless one is due earlier: as early as any block can end.
    pub fn look_again(&mut self, now: u64) -> Option<u64> {
        if self.due <= now {
            self.due = NEVER;
        }
        let soonest = self.soonest()?;
        (soonest < self.due).then(|| {
            self.due = soonest;
            soonest
        })
    }

    /// As early as any block can end: a block that is not executing begins after its SIMD's instruction.
    fn soonest(&self) -> Option<u64> {
        let soonest = (0..self.simds.len()).map(|simd| self.soonest_of(simd)).min().unwrap_or(NEVER);
        (soonest < NEVER).then(|| soonest.max(self.next))
    }

    fn soonest_of(&self, index: usize) -> u64 {
        let simd = &self.simds[index];
        if simd.wavefronts == 0 {
            return NEVER;
        }
        let (mut soonest, mut free) = (NEVER, 0);
        let after = |first: u64, left: u32| first + u64::from(left - 1) * (self.occupancy + 1);
        if simd.until < NEVER {
            free = simd.until;
            soonest = after(free, self.left(simd.executing));
        }
        let mut fewest = u32::MAX;
        let mut seat = simd.first;
        while seat != NOBODY {
            fewest = fewest.min(self.left(seat));
            seat = self.behind[usize::from(seat)];
        }
        if fewest < u32::MAX {
            soonest = soonest.min(after(free.max(self.next) + self.occupancy, fewest));
        }
        if simd.ready == 0 {
            return soonest;
        }
        let ready = self.by_age.seats(index, simd.ready).map(|seat| self.left(seat)).min().unwrap_or(u32::MAX);
        soonest.min(after(free.max(self.next + 1) + self.occupancy, ready))
    }

    fn left(&self, seat: u8) -> u32 {
        self.left[usize::from(seat)]
    }

    fn catch_up(&mut self, to: u64, over: &mut Vec<Decoded>) {
        while self.next <= to {
            if self.shared == 0 && self.taken == 0 && self.waiting == 0 && self.simds.len() <= self.places {
                self.run_apart(to);
            }
            self.step(over);
        }
    }

    /// Each SIMD executes the instructions of one wavefront: those that end until `to`, up to the last but one.
    fn run_apart(&mut self, to: u64) {
        let period = self.occupancy + 1;
        let mut next = NEVER;
        for simd in self.simds.iter_mut().filter(|simd| simd.until < NEVER) {
            if simd.until + period <= to {
                let left = &mut self.left[usize::from(simd.executing)];
                let count = ((to - simd.until) / period).min(u64::from(*left - 1));
                simd.until += count * period;
                *left -= count as u32;
            }
            next = next.min(simd.until);
        }
        self.next = next;
    }

    /// One cycle.
    fn step(&mut self, over: &mut Vec<Decoded>) {
        let now = self.next;
        // Something may come in a cycle that was looked at: then only free places are left to be filled.
        let next = if now == self.seen { self.next_end() } else { self.execute(now, over) };
        self.seen = now;
        let idle = self.fill(now);
        let soon = idle || self.waiting != 0 && self.taken < self.places;
        self.next = if soon { now + 1 } else { next };
    }

    /// The end of the first instruction, or the next cycle if a SIMD takes one in it.
    fn next_end(&self) -> u64 {
        let next = |simd: &Simd| if simd.takes() { self.seen + 1 } else { simd.until };
        self.simds.iter().map(next).min().unwrap_or(NEVER)
    }

    /// Instructions end, and SIMDs without one take one that was decoded for them. Returns when the next one ends.
    fn execute(&mut self, now: u64, over: &mut Vec<Decoded>) -> u64 {
        let mut next = NEVER;
        for index in 0..self.simds.len() {
            let simd = &self.simds[index];
            if simd.until <= now {
                self.finish(index, over);
                self.take(index, now);
            } else if simd.takes() {
                self.take(index, now);
            }
            next = next.min(self.simds[index].until);
        }
        next
    }

    /// A SIMD without an instruction takes one that was decoded for it.
    fn take(&mut self, index: usize, now: u64) {
        let simd = &mut self.simds[index];
        if simd.first != NOBODY {
            simd.executing = simd.first;
            simd.until = now + self.occupancy;
            simd.first = self.behind[usize::from(simd.first)];
            self.taken -= 1;
        }
    }

    fn finish(&mut self, index: usize, over: &mut Vec<Decoded>) {
        let simd = &mut self.simds[index];
        let seat = simd.executing;
        simd.until = NEVER;
        let left = &mut self.left[usize::from(seat)];
        *left -= 1;
        if *left > 0 {
            simd.ready |= self.by_age.bit(seat);
            self.waiting |= 1 << index;
            return;
        }
        self.shared -= u32::from(simd.wavefronts == 2);
        simd.wavefronts -= 1;
        let Block { slot, rest } = self.blocks[usize::from(seat)];
        over.push(Decoded { slot: slot as usize, rest });
    }

    /// Free places are filled, one for each SIMD. Returns whether one of these SIMDs is idle.
    fn fill(&mut self, now: u64) -> bool {
        let mut idle = false;
        if self.waiting == 0 {
            return idle;
        }
        let first = now % self.simds.len() as u64;
        let later = u32::MAX << first;
        for mut turns in [self.waiting & later, self.waiting & !later] {
            while turns != 0 {
                if self.taken == self.places {
                    return idle;
                }
                idle |= self.decode(turns.trailing_zeros() as usize);
                turns &= turns - 1;
            }
        }
        idle
    }

    /// The oldest wavefront of a SIMD that is ready takes a place. Returns whether the SIMD is idle.
    fn decode(&mut self, index: usize) -> bool {
        let simd = &mut self.simds[index];
        let seat = self.by_age.oldest(index, simd.ready);
        simd.ready &= simd.ready - 1;
        if simd.ready == 0 {
            self.waiting &= !(1 << index);
        }
        self.behind[usize::from(seat)] = NOBODY;
        if simd.first == NOBODY {
            simd.first = seat;
        } else {
            self.behind[usize::from(simd.last)] = seat;
        }
        simd.last = seat;
        self.taken += 1;
        simd.takes()
    }
}

#[cfg(test)]
mod tests;
