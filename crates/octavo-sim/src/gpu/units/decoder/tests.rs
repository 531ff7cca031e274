//! The decoder, compared with one that checks every cycle.

use proptest::prelude::*;

use super::*;

fn vector(count: u32) -> InstructionMix {
    InstructionMix { vector: count, scalar: 0, local_data: 0, branch: 0 }
}

/// The end of each of these (seat, instructions) that arrive together at cycle 100.
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

/// The same, slow and obvious: every cycle, and whatever waits looked at one by one.
struct Cycles {
    places: usize,
    occupancy: u64,
    /// By seat: remaining instructions, and age.
    blocks: Vec<(u32, u64)>,
    ready: Vec<usize>,
    /// Seats in places, and since when.
    decoding: Vec<(usize, u64)>,
    /// By SIMD: seat, and end.
    executing: Vec<Option<(usize, u64)>>,
}

impl Cycles {
    /// One cycle; returns the seats whose blocks end.
    fn pass(&mut self, now: u64) -> Vec<usize> {
        let (simds, mut over) = (self.executing.len(), Vec::new());
        for simd in &mut self.executing {
            let Some((seat, _)) = simd.take_if(|(_, until)| *until <= now) else { continue };
            self.blocks[seat].0 -= 1;
            if self.blocks[seat].0 == 0 { over.push(seat) } else { self.ready.push(seat) }
        }
        for (seat, since) in std::mem::take(&mut self.decoding) {
            if since < now && self.executing[seat % simds].is_none() {
                self.executing[seat % simds] = Some((seat, now + self.occupancy));
            } else {
                self.decoding.push((seat, since));
            }
        }
        for turn in 0..simds {
            let simd = (now as usize + turn) % simds;
            let waiting = self.ready.iter().copied().filter(|seat| seat % simds == simd);
            let oldest = waiting.min_by_key(|seat| (self.blocks[*seat].1, *seat));
            if let Some(seat) = oldest.filter(|_| self.decoding.len() < self.places) {
                self.ready.retain(|other| *other != seat);
                self.decoding.push((seat, now));
            }
        }
        over
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Blocks come at any time to seats that are free, from younger and older wavefronts.
    #[test]
    fn blocks_are_over_when_every_cycle_says_so(
        places in 1u32..6,
        simds in 1u32..5,
        comes in prop::collection::vec((0u64..30, 0usize..20, 1u32..12, 0u64..8), 1..60),
    ) {
        let seats = simds * 5;
        let mut decoder = Decoder::new(places, simds, seats, 4);
        let mut cycles = Cycles {
            places: places as usize,
            occupancy: 4,
            blocks: vec![(0, 0); seats as usize],
            ready: Vec::new(),
            decoding: Vec::new(),
            executing: vec![None; simds as usize],
        };
        let (mut due, mut found) = (None, Vec::new());
        let mut comes = comes.into_iter().peekable();
        let mut wait = 0;
        for now in 1..20_000 {
            let looks = due.is_some_and(|due| due <= now);
            if looks {
                found.clear();
                decoder.take_over(now, &mut found);
                due = decoder.look_again(now);
                let over: Vec<usize> = found.iter().map(|one| one.slot).collect();
                prop_assert_eq!(over, cycles.pass(now), "in cycle {}", now);
            }
            let (mut came, before) = (false, wait);
            wait += 1;
            while let Some((_, seat, count, age)) = comes.next_if(|(after, ..)| *after <= before) {
                let seat = seat % seats as usize;
                (came, wait) = (true, 0);
                if cycles.blocks[seat].0 == 0 {
                    cycles.blocks[seat] = (count, age);
                    cycles.ready.push(seat);
                    decoder.begin(now, (seat, seat as u8), age, vector(count));
                    due = decoder.look_again(now).or(due);
                }
            }
            // What comes to a unit that was looked at in this cycle is looked at again.
            if came || !looks {
                prop_assert_eq!(cycles.pass(now), Vec::<usize>::new(), "not known in cycle {}", now);
            }
            if comes.peek().is_none() && cycles.blocks.iter().all(|(left, _)| *left == 0) {
                break;
            }
        }
        prop_assert!(cycles.blocks.iter().all(|(left, _)| *left == 0), "all are over");
    }
}
