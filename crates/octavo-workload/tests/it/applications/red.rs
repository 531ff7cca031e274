use octavo_program::Workload;
use octavo_workload::kernels::red::Red;

use super::{LANES, refused};
use crate::lanes::{Lanes, assert_same, base, launch_totals, stream, totals, touched};

#[test]
fn touches_what_every_lane_of_the_kernel_touches() {
    for elements in [512, 512 * 65, 512 * 200] {
        let red = Red::new(elements, 2).unwrap();
        assert_eq!(red.launches(), 2);
        assert_same(&red, |_, group, wavefront| {
            let threads = || (0..LANES).map(|lane| u64::from(wavefront) * LANES + lane);
            let mut lanes = Lanes::default();
            let mut turn = u64::from(group) * 512;
            while turn < elements {
                lanes.load(threads().map(|thread| base(&red, "idata") + 4 * (turn + thread)));
                lanes.load(threads().map(|thread| base(&red, "idata") + 4 * (turn + thread + 256)));
                turn += 64 * 512;
            }
            lanes.store(threads().filter(|thread| *thread == 0).map(|_| base(&red, "odata") + 4 * u64::from(group)));
            lanes
        });
    }
}

#[test]
fn every_element_is_read_once_and_every_group_stores_its_sum() {
    let red = Red::new(512 * 130, 1).unwrap();
    let read = touched(&red, "idata", false);
    assert!(read.len() == 512 * 130 / 16 && read.values().all(|&times| times == 1));
    assert_eq!(touched(&red, "odata", true).values().sum::<u32>(), 64);
    assert_eq!(launch_totals(&red, 0).lines, 512 * 130 / 16 + 64);
}

#[test]
fn instructions_are_those_of_the_compiled_kernel() {
    let red = Red::new(512 * 64 * 3, 1).unwrap();
    let count = |wavefront| totals(&stream(&red, 0, 5, wavefront, 512)).instructions;
    // Set-up 13, a turn 23, 3 after the last, two halvings of 7, the last meeting 5, 5 before the branch, the end.
    let all = 13 + 3 * 23 + 3 + 2 * 7 + 5 + 5 + 1;
    assert_eq!(count(3), all);
    // Half of the wavefronts add in the first halving (5 each), the first one in both; it also does the six steps of a
    // warp (30) and the store (9).
    assert_eq!(count(1), all + 5);
    assert_eq!(count(0), all + 2 * 5 + 30 + 9);
}

#[test]
fn nonsense_is_refused_by_name() {
    assert_eq!(refused("red", &[("elements", 700)]), "elements");
    assert_eq!(refused("red", &[("iterations", 0)]), "iterations");
}
