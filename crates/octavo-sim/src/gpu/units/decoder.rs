//! The decoder of vector instructions that the SIMDs of a unit share, instruction by instruction.
//!
//! A wavefront holds a place until its SIMD takes its instruction. In each cycle the SIMDs take turns in being first to
//! put a wavefront into a free place, the oldest that is ready. So wavefronts that wait for one SIMD can keep the others
//! from getting any. A unit catches up when something comes or may be over: there are no events for single instructions.

use octavo_program::InstructionMix;

/// No wavefront.
const NOBODY: u8 = u8::MAX;

/// Vector instructions of one wavefront, in its seat.
#[derive(Clone, Copy, Default)]
struct Block {
    /// Instructions that are not over.
    left: u32,
    /// The oldest goes first.
    age: u64,
    slot: u32,
    /// What the wavefront executes after them.
    rest: InstructionMix,
}

/// A wavefront whose vector instructions are over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub slot: usize,
    pub rest: InstructionMix,
}

/// What a SIMD executes.
#[derive(Clone, Copy)]
struct Executing {
    seat: u8,
    until: u64,
}

/// The decoder and SIMDs of one unit. Times are cycles.
pub(crate) struct Decoder {
    places: usize,
    occupancy: u64,
    blocks: Vec<Block>,
    /// By SIMD: seats whose wavefront waits for a place, one bit each, and what is executed.
    ready: Vec<u64>,
    simds: Vec<Executing>,
    /// Seats in places, and since when.
    decoding: Vec<(u8, u64)>,
    /// When something happens next, if nothing comes.
    next: u64,
    /// When an event is due.
    due: u64,
}

impl Decoder {
    pub fn new(places: u32, simds: u32, seats: u32, occupancy: u64) -> Self {
        Self {
            places: places as usize,
            occupancy,
            blocks: vec![Block::default(); seats as usize],
            ready: vec![0; simds as usize],
            simds: vec![Executing { seat: NOBODY, until: 0 }; simds as usize],
            decoding: Vec::with_capacity(places as usize),
            next: u64::MAX,
            due: u64::MAX,
        }
    }

    /// The wavefront in `slot` and `seat`, of that age, comes with instructions, some of them for its SIMD. No block was
    /// over before.
    pub fn begin(&mut self, now: u64, (slot, seat): (usize, u8), age: u64, instructions: InstructionMix) {
        self.catch_up(now.saturating_sub(1), &mut Vec::new());
        let rest = InstructionMix { vector: 0, ..instructions };
        self.blocks[usize::from(seat)] = Block { left: instructions.vector, age, slot: slot as u32, rest };
        let simd = self.simd_of(seat);
        self.ready[simd] |= 1 << seat;
        self.next = self.next.min(now);
    }

    /// Takes out operations that are over now.
    pub fn take_over(&mut self, now: u64, over: &mut Vec<Decoded>) {
        self.catch_up(now, over);
    }

    /// When an event has to look again, unless one is due before: as early as any block can be over.
    pub fn look_again(&mut self, now: u64) -> Option<u64> {
        if self.due <= now {
            self.due = u64::MAX;
        }
        let soonest = self.soonest()?;
        (soonest < self.due).then(|| {
            self.due = soonest;
            soonest
        })
    }

    /// As early as any block can be over: one that is not executing begins behind its SIMD's instruction.
    fn soonest(&self) -> Option<u64> {
        let over =
            |seat: u8, first: u64| first + u64::from(self.blocks[usize::from(seat)].left - 1) * (self.occupancy + 1);
        let behind = |seat: u8, time: u64| over(seat, self.free_at(seat).max(time) + self.occupancy);
        let executing = self.simds.iter().filter(|simd| simd.seat != NOBODY).map(|simd| over(simd.seat, simd.until));
        let decoding = self.decoding.iter().map(|(seat, _)| behind(*seat, self.next));
        let ready = self.ready.iter().flat_map(|&seats| seats_of(seats)).map(|seat| behind(seat, self.next + 1));
        executing.chain(decoding).chain(ready).min().map(|soonest| soonest.max(self.next))
    }

    /// When the SIMD of a seat is free.
    fn free_at(&self, seat: u8) -> u64 {
        let simd = self.simds[self.simd_of(seat)];
        if simd.seat == NOBODY { 0 } else { simd.until }
    }

    fn catch_up(&mut self, to: u64, over: &mut Vec<Decoded>) {
        while self.next <= to {
            let now = self.next;
            self.finish(now, over);
            self.execute(now);
            self.fill(now);
            self.next = self.after(now);
        }
    }

    /// Instructions end.
    fn finish(&mut self, now: u64, over: &mut Vec<Decoded>) {
        for simd in 0..self.simds.len() {
            let Executing { seat, until } = self.simds[simd];
            if seat == NOBODY || until > now {
                continue;
            }
            self.simds[simd].seat = NOBODY;
            let block = &mut self.blocks[usize::from(seat)];
            block.left -= 1;
            if block.left == 0 {
                over.push(Decoded { slot: block.slot as usize, rest: block.rest });
            } else {
                self.ready[simd] |= 1 << seat;
            }
        }
    }

    /// SIMDs without an instruction take what was decoded for them.
    fn execute(&mut self, now: u64) {
        let (simds, count, occupancy) = (&mut self.simds, self.ready.len(), self.occupancy);
        self.decoding.retain(|&(seat, since)| {
            let simd = &mut simds[usize::from(seat) % count];
            let taken = since < now && simd.seat == NOBODY;
            if taken {
                *simd = Executing { seat, until: now + occupancy };
            }
            !taken
        });
    }

    /// Free places are filled, one for each SIMD.
    fn fill(&mut self, now: u64) {
        let simds = self.ready.len();
        for turn in 0..simds {
            let simd = (now as usize + turn) % simds;
            if self.decoding.len() == self.places {
                return;
            }
            let blocks = &self.blocks;
            let oldest = seats_of(self.ready[simd]).min_by_key(|seat| blocks[usize::from(*seat)].age);
            if let Some(seat) = oldest {
                self.ready[simd] &= !(1 << seat);
                self.decoding.push((seat, now));
            }
        }
    }

    /// When something happens next.
    fn after(&self, now: u64) -> u64 {
        let room = self.decoding.len() < self.places && self.ready.iter().any(|&seats| seats != 0);
        let taken = self.decoding.iter().any(|(seat, _)| self.simds[self.simd_of(*seat)].seat == NOBODY);
        if room || taken {
            return now + 1;
        }
        let executing = self.simds.iter().filter(|simd| simd.seat != NOBODY);
        executing.map(|simd| simd.until).min().unwrap_or(u64::MAX)
    }

    fn simd_of(&self, seat: u8) -> usize {
        usize::from(seat) % self.ready.len()
    }
}

fn seats_of(mut seats: u64) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let seat = (seats != 0).then(|| seats.trailing_zeros() as u8);
        seats &= seats.wrapping_sub(1);
        seat
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(count: u32) -> InstructionMix {
        InstructionMix { vector: count, scalar: 0, local_data: 0, branch: 0 }
    }

    /// When each of these (seat, instructions) is over that come together at cycle 100.
    fn over(blocks: &[(u8, u32)]) -> Vec<(u8, u64)> {
        let mut decoder = Decoder::new(4, 4, 40, 4);
        for &(seat, count) in blocks {
            decoder.begin(100, (seat.into(), seat), seat.into(), vector(count));
        }
        let (mut all, mut found) = (Vec::new(), Vec::new());
        while let Some(now) = decoder.look_again(decoder.due.min(1 << 40)) {
            decoder.take_over(now, &mut found);
            all.extend(found.drain(..).map(|one| (one.slot as u8, now)));
        }
        all
    }

    #[test]
    fn a_wavefront_alone_issues_every_five_cycles() {
        assert_eq!(over(&[(0, 1)]), [(0, 105)]);
        assert_eq!(over(&[(3, 10)]), [(3, 150)]);
    }

    #[test]
    fn one_wavefront_a_simd_does_not_wait_for_others() {
        let all = over(&[(0, 10), (1, 10), (2, 10), (3, 10)]);
        assert_eq!(all.len(), 4);
        assert!(all.iter().all(|(_, time)| *time == 150), "{all:?}");
    }

    #[test]
    fn a_simd_with_many_wavefronts_is_busy_all_the_time() {
        let all = over(&[(0, 10), (4, 10), (8, 10), (12, 10)]);
        assert_eq!(all.iter().map(|(_, time)| *time).max(), Some(101 + 4 * 40));
    }
}
