//! Random updates against a lane-by-lane model that steps through the benchmark's sequence one number at a time.

use crate::lanes::{Lanes, Totals, assert_same, base, launch_totals};
use octavo_program::Size;
use octavo_registry::Choice;
use octavo_workload::WORKLOADS;
use octavo_workload::kernels::gups::Gups;

fn next(number: u64) -> u64 {
    number << 1 ^ if (number as i64) < 0 { 7 } else { 0 }
}

/// Every thread's updates, numbers in the order of the whole sequence.
fn naive(gups: &Gups, sequence: &[u64], mask: u64, updates: usize, thread: usize) -> Lanes {
    let (table, starts) = (base(gups, "table"), base(gups, "starts"));
    let mut lanes = Lanes::default();
    lanes.load((thread..thread + 64).map(|thread| starts + 8 * thread as u64));
    for update in 0..updates {
        let words = (thread..thread + 64).map(|thread| sequence[thread * updates + update] & mask);
        let addresses: Vec<u64> = words.map(|word| table + 8 * word).collect();
        lanes.load(addresses.iter().copied());
        lanes.store(addresses);
    }
    lanes
}

#[test]
fn touches_what_every_lane_of_the_kernel_touches() {
    for (words, each) in [(64, 1), (64, 64), (1 << 12, 4), (1 << 18, 4)] {
        let gups = Gups::new(words, each).unwrap();
        let total = (words * u64::from(each)) as usize;
        let updates = total / total.min(1 << 18);
        let sequence: Vec<u64> = std::iter::successors(Some(1), |number| Some(next(*number))).take(total).collect();
        assert_same(&gups, |_, group, wavefront| {
            let thread = (group * 256 + wavefront * 64) as usize;
            naive(&gups, &sequence, words - 1, updates, thread)
        });
    }
}

/// A wavefront: 9 instructions, a load and two waits up to its first number, another wait for it, and for each update
/// 6 + 6 + 2 + 3 = 17, a load, a wait and a store; then its end.
#[test]
fn counts_are_those_of_the_compiled_kernel() {
    let totals = launch_totals(&Gups::new(1 << 20, 4).unwrap(), 0);
    let wavefronts = (1 << 18) / 64;
    let (prologue, update) = (9 + 1 + 3 + 1, 17 + 3);
    assert_eq!(totals.instructions, wavefronts * (prologue + 16 * update));
    assert_eq!(totals.vector_memory, wavefronts * (1 + 2 * 16));
    // Nearly every lane has a line of its own: 64 of 2^17. The first numbers of the sequence have few bits.
    let most = wavefronts * (8 + 2 * 16 * 64);
    assert!((most - most / 50..=most).contains(&totals.lines), "{} of {most}", totals.lines);
    let totals = launch_totals(&Gups::new(64, 1).unwrap(), 0);
    assert_eq!(Totals { lines: 0, ..totals }, Totals { instructions: prologue + update, vector_memory: 3, lines: 0 });
}

#[test]
fn scale_picks_the_nearest_power_of_two() {
    for (scale, log2_words) in [(1.0, 23), (0.26, 21), (0.0071, 16)] {
        let workload = WORKLOADS.build(&Choice::named("gups"), &Size { scale, seed: 0 }).unwrap();
        let starts = (4u64 << log2_words).min(1 << 18);
        assert_eq!(workload.footprint(), (8 << log2_words) + 8 * starts);
    }
}

#[test]
fn what_the_benchmark_does_not_know_is_refused_by_name() {
    assert_eq!(Gups::new(100, 4).err().unwrap().key, "words");
    assert_eq!(Gups::new(32, 4).err().unwrap().key, "words");
    assert_eq!(Gups::new(64, 3).err().unwrap().key, "updates");
    assert_eq!(Gups::new(64, 0).err().unwrap().key, "updates");
}
