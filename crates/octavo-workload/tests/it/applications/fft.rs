use octavo_program::Workload;
use octavo_workload::kernels::fft::Fft;

use super::{LANES, refused};
use crate::lanes::{Lanes, Totals, assert_same, base, launch_totals, touched};

#[test]
fn touches_what_every_lane_of_the_kernels_touches() {
    let fft = Fft::new(6, 2).unwrap();
    assert_eq!(fft.launches(), 6);
    let piece = |transform: u64, index: u64| {
        let first = base(&fft, "work") + 8 * (transform * 512 + index * 64);
        (0..LANES).map(move |lane| first + 8 * lane)
    };
    assert_same(&fft, |launch, group, _| {
        let group = u64::from(group);
        let mut lanes = Lanes::default();
        (0..8).for_each(|index| lanes.load(piece(group, index)));
        match launch % 3 {
            0 | 1 => (0..8).for_each(|index| lanes.store(piece(group, index))),
            _ => (0..8).for_each(|index| lanes.load(piece(group + 3, index))),
        }
        lanes
    });
}

#[test]
fn counts_follow_from_the_structure() {
    let fft = Fft::new(10, 1).unwrap();
    // Eight accesses of eight lines each way; the comparison reads all points once.
    let forward = 1 + 27 + 1 + 15 + (1 + 4 + 1 + 1 + 1) + 269 + (22 + 6 + 14) + 16 + 1;
    let back = 1 + 26 + 2 + 16 + (1 + 4 + 1 + 4 + 1 + 6 + 1) + 260 + (23 + 8 + 14 + 4 + 3 * 2) + 16 + 1;
    let compare = 1 + (13 + 4 + 5 + 3 + 3) + (3 + 1 + 6 + 1 + 8 + 1 + 8) + (5 + 5 + 4 * 4 + 6) + 16 + 1;
    for (launch, groups, instructions) in [(0, 10, forward), (1, 10, back), (2, 5, compare)] {
        let expected = Totals { instructions: groups * instructions, vector_memory: groups * 16, lines: groups * 128 };
        assert_eq!(launch_totals(&fft, launch), expected, "launch {launch}");
    }
    assert!(touched(&fft, "work", true).values().all(|&times| times == 2));
    assert!(touched(&fft, "chk", true).is_empty());
}

#[test]
fn nonsense_is_refused_by_name() {
    assert_eq!(refused("fft", &[("transforms", 3)]), "transforms");
    assert_eq!(refused("fft", &[("passes", 0)]), "passes");
}
