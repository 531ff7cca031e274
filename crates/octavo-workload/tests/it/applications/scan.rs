use octavo_program::Workload;
use octavo_workload::kernels::scan::Scan;

use super::{LANES, refused};
use crate::lanes::{Lanes, assert_same, base, launch_totals, touched};

/// First element of a group's region and one past its last.
fn region(elements: u64, group: u64) -> (u64, u64) {
    let size = elements / 4 / 64 * 4;
    (group * size, if group == 63 { elements } else { (group + 1) * size })
}

fn naive(scan: &Scan, elements: u64, kernel: u32, group: u64, wavefront: u64) -> Lanes {
    let threads = || (0..LANES).map(|lane| wavefront * LANES + lane);
    let (start, stop) = region(elements, group);
    let (input, output, sums) = (base(scan, "idata"), base(scan, "odata"), base(scan, "block_sums"));
    let mut lanes = Lanes::default();
    match kernel {
        0 => {
            for turn in (start..stop).step_by(256) {
                lanes.load(threads().map(|thread| turn + thread).filter(|at| *at < stop).map(|at| input + 4 * at));
            }
            lanes.store(threads().filter(|thread| *thread == 0).map(|_| sums + 4 * group));
        }
        1 => {
            lanes.load(threads().filter(|thread| *thread < 64).map(|thread| sums + 4 * thread));
            lanes.store(threads().filter(|thread| *thread < 64).map(|thread| sums + 4 * thread));
        }
        _ => {
            for window in (start / 4..stop / 4).step_by(256) {
                let vectors = || threads().map(|thread| window + thread).filter(|at| *at < stop / 4);
                lanes.load(vectors().map(|at| input + 16 * at));
                lanes.store(vectors().map(|at| output + 16 * at));
            }
        }
    }
    lanes
}

#[test]
fn touches_what_every_lane_of_the_kernels_touches() {
    // Regions of no element, of part of a turn, off line boundaries, and of several turns with a larger last one.
    for elements in [4, 64 * 12, 64 * 260 + 8, 64 * 2048 + 52] {
        let scan = Scan::new(elements, 2).unwrap();
        assert_eq!(scan.launches(), 6);
        assert_same(&scan, |launch, group, wavefront| {
            naive(&scan, elements, launch % 3, group.into(), wavefront.into())
        });
    }
}

#[test]
fn the_vector_is_read_twice_and_written_once() {
    let elements = 64 * 1024 * 2;
    let scan = Scan::new(elements, 1).unwrap();
    let read = touched(&scan, "idata", false);
    assert!(read.len() as u64 == elements / 16 && read.values().all(|&times| times == 2));
    let written = touched(&scan, "odata", true);
    assert!(written.len() as u64 == elements / 16 && written.values().all(|&times| times == 1));
    // One store of a group's sum, four lines of sums read and written by the one group.
    let lines: Vec<u64> = (0..3).map(|launch| launch_totals(&scan, launch).lines).collect();
    assert_eq!(lines, [elements / 16 + 64, 4 + 4, 2 * elements / 16]);
}

#[test]
fn instructions_are_those_of_the_compiled_kernels() {
    let scan = Scan::new(64 * 1024 * 2, 1).unwrap();
    // A scan in local memory: 3 + 8 (1 + 3 + 4 + 3).
    let local = 3 + 8 * 11;
    let set_up = 5 + (1 + 1 + 30);
    let window = 11 + (1 + 1 + 3 + 1) + (1 + 1 + 5) + local + (2 + 1 + 7) + (4 + 1) + 3 + 5;
    let wavefronts = 64 * 4;
    // Wavefront 0 fetches the seed (2 + 1 + 2 + 1 + 1 + 2), wavefront 3 leaves the next one; 7 opens the first window.
    let expected = wavefronts * (set_up + 7 + 2 * window + 1) + 64 * (9 + 2 * 2);
    assert_eq!(launch_totals(&scan, 2).instructions, expected);
    // Set-up 37, 8 turns of 13, 7 before the first meeting, and 25 to the end as in the reduction; of the four
    // wavefronts the first does 49 more, the second 5.
    assert_eq!(launch_totals(&scan, 0).instructions, 64 * (4 * (37 + 8 * 13 + 7 + 25) + 49 + 5));
}

#[test]
fn nonsense_is_refused_by_name() {
    assert_eq!(refused("scan", &[("elements", 6)]), "elements");
    assert_eq!(refused("scan", &[("iterations", 0)]), "iterations");
}
