//! The paths against the program's loops, thread by thread, with the arithmetic that decides on swaptions done again.

use super::{full_size, refused};
use crate::lanes::{Lanes, assert_same, base, launch_totals};
use octavo_workload::kernels::libor::Libor;

const MATURITIES: [usize; 15] = [4, 4, 4, 8, 8, 8, 20, 20, 20, 28, 28, 28, 40, 40, 40];
const STRIKES: [f32; 3] = [0.045, 0.05, 0.055];

/// The accesses of a wavefront: an array's name, an element and whether it is stored, in order.
struct Trace<'a> {
    libor: &'a Libor,
    thread: u64,
    paths: u64,
    lanes: Lanes,
}

impl Trace<'_> {
    fn addresses(&self, array: &str, element: usize) -> Vec<u64> {
        let threads = self.paths.next_multiple_of(64);
        let at = base(self.libor, array);
        (self.thread..(self.thread + 64).min(self.paths))
            .map(|thread| at + 4 * (element as u64 * threads + thread))
            .collect()
    }

    fn load(&mut self, array: &str, element: usize) {
        let addresses = self.addresses(array, element);
        self.lanes.load(addresses);
    }

    fn store(&mut self, array: &str, element: usize) {
        let addresses = self.addresses(array, element);
        self.lanes.store(addresses);
    }
}

/// The kernel with sensitivities, or without; in single precision, as the program.
fn naive(trace: &mut Trace<'_>, back: bool) {
    let mut rates = [0.05f32; 80];
    for i in 0..80 {
        trace.store("z", i);
        trace.store("L", i);
    }
    for i in (0..80).filter(|_| back) {
        trace.load("L", i);
        trace.store("L2", i);
    }
    for n in 0..40 {
        trace.load("z", n);
        let (noise, mut v) = (0.25f32.sqrt() * 0.3, 0.0);
        for (i, rate) in rates.iter_mut().enumerate().skip(n + 1) {
            let con1 = 0.25 * 0.2f32;
            trace.load("L", i);
            v += con1 * *rate / (1.0 + 0.25 * *rate);
            *rate *= (con1 * v + 0.2 * (noise - 0.5 * con1)).exp();
            trace.store("L", i);
            if back {
                trace.store("L2", i + (n + 1) * 80);
            }
        }
    }
    let (mut b, mut s, mut bonds, mut swaps) = (1.0, 0.0, vec![], vec![]);
    for m in 0..40 {
        trace.load("L", m + 40);
        b /= 1.0 + 0.25 * rates[m + 40];
        s += 0.25 * b;
        bonds.push(b);
        swaps.push(s);
        trace.store("B", m);
        trace.store("S", m);
    }
    for m in (0..40).filter(|_| back) {
        trace.store("B_b", m);
        trace.store("S_b", m);
    }
    for n in 0..15 {
        let m = MATURITIES[n] - 1;
        trace.load("B", m);
        trace.load("S", m);
        if back && bonds[m] + STRIKES[n % 3] * swaps[m] - 1.0 < 0.0 {
            for array in ["S_b", "B_b"] {
                trace.load(array, m);
                trace.store(array, m);
            }
        }
    }
    if back {
        naive_back(trace);
        return;
    }
    (0..40).for_each(|n| trace.load("L", n));
    trace.store("v", 0);
}

fn naive_back(trace: &mut Trace<'_>) {
    for m in (0..40).rev() {
        trace.load("S_b", m);
        trace.load("B_b", m);
        trace.store("B_b", m);
        trace.load("L", m + 40);
        trace.load("B", m);
        trace.store("L", m + 40);
        for array in ["S_b", "B_b"].into_iter().filter(|_| m > 0) {
            trace.load(array, m - 1);
            trace.store(array, m - 1);
        }
    }
    (0..40).for_each(|n| trace.load("L", n));
    for n in 0..80 {
        trace.load("L", n);
        trace.store("L", n);
    }
    trace.store("v", 0);
    for n in (0..40).rev() {
        for i in (n + 1..80).rev() {
            trace.load("L2", i + (n + 1) * 80);
            trace.load("L2", i + n * 80);
            trace.load("L", i);
            trace.store("L", i);
        }
    }
    trace.load("L", 79);
    trace.store("Lb", 0);
}

#[test]
fn touches_what_every_lane_of_the_kernels_touches() {
    for paths in [1, 64, 100] {
        let libor = Libor::new(paths);
        assert_same(&libor, |launch, group, _| {
            let mut trace = Trace { libor: &libor, thread: u64::from(group) * 64, paths, lanes: Lanes::default() };
            naive(&mut trace, launch == 1);
            trace.lanes
        });
    }
}

/// 2380 pairs of a date and a later rate: the first kernel loads and stores each once, the second twice and four times
/// as much altogether. An access of a wavefront is four lines.
#[test]
fn counts_are_those_of_the_loops() {
    let libor = Libor::new(64);
    let without = launch_totals(&libor, 0);
    assert_eq!(without.vector_memory, 160 + 40 + 2 * 2380 + 3 * 40 + 2 * 15 + 40 + 1);
    assert_eq!(without.lines, 4 * without.vector_memory);
    let moves = 2380 * (5 + 1 + 8 + 1 + 9 + 1 + 1) + 40 * (7 + 1 + 4 + 1 + 2 + 3);
    let portfolio = 40 * (6 + 1 + 12 + 1 + 8 + 2 + 1) + 15 * (14 + 2 + 4 + 1 + 7) + 40 * (5 + 1 + 3 + 1 + 8 + 1);
    let start = 2 + 1 + 3 + 1 + 13;
    assert_eq!(without.instructions, start + 80 * (11 + 2 + 1) + moves + portfolio + 9 + 1 + 2 + 1);

    let with = launch_totals(&libor, 1);
    let both_ways = 2380 * (3 + 4);
    let around = 160 + 160 + 40 + 120 + 80 + 30 + 40 + 160 + 1 + 2;
    let exercised = (with.vector_memory - both_ways - around - 40 * 6 - 39 * 4) / 4;
    assert!((1..=15).contains(&exercised), "{exercised} swaptions are exercised");
    assert_eq!(with.vector_memory, both_ways + around + 40 * 6 + 39 * 4 + 4 * exercised);
    assert_eq!(with.lines, 4 * with.vector_memory);
}

#[test]
fn the_number_of_paths_is_the_programs_own() {
    let libor = full_size("lib");
    assert_eq!(libor.footprint(), 4 * 4096 * (80 + 80 + 41 * 80 + 4 * 40 + 2));
    assert_eq!(refused("lib", &[("paths", 0)]), "paths");
}
