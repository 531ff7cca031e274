use octavo_program::Workload;
use octavo_workload::kernels::trd::Trd;

use super::{LANES, full_size, refused};
use crate::lanes::{Lanes, Totals, assert_same, base, launch_totals, touched};

#[test]
fn touches_what_every_lane_of_the_kernel_touches() {
    // 1/256 of the vector is one work-group, and less than one, which becomes one.
    for elements in [256 * 128, 256 * 256, 5 * 128] {
        let trd = Trd::new(elements).unwrap();
        let mut set = 0;
        let mut left = 0;
        let sets: Vec<_> = (0..trd.launches())
            .map(|launch| {
                // Every size begins with the first set.
                set = if left == 0 { 0 } else { 1 - set };
                left = if left == 0 { elements } else { left } - u64::from(trd.launch(launch).work_groups) * 128;
                set
            })
            .collect();
        assert_eq!(left, 0);
        assert_same(&trd, |launch, group, wavefront| {
            let threads = || (0..LANES).map(|lane| u64::from(group) * 128 + u64::from(wavefront) * LANES + lane);
            let buffer = |name: &str| base(&trd, &format!("{name}{}", sets[launch as usize]));
            let mut lanes = Lanes::default();
            lanes.load(threads().map(|thread| buffer("A") + 4 * thread));
            lanes.load(threads().map(|thread| buffer("B") + 4 * thread));
            lanes.store(threads().map(|thread| buffer("C") + 4 * thread));
            lanes
        });
    }
}

#[test]
fn takes_the_vector_in_nine_sizes_of_tiles() {
    let trd = full_size("trd");
    // 256 + 128 + ... + 1 launches, of 16 MB / 256 = 64 KB first: 128 groups of 128 elements.
    assert_eq!(trd.launches(), 511);
    assert_eq!((trd.launch(0).work_groups, trd.launch(510).work_groups), (128, 32_768));
    // Two wavefronts a group, each three accesses of four lines, 16 + 6 instructions.
    let found = launch_totals(&*trd, 0);
    assert_eq!(found, Totals { instructions: 256 * 20, vector_memory: 256 * 3, lines: 256 * 12 });
}

#[test]
fn the_second_set_is_used_to_one_half() {
    let trd = Trd::new(256 * 128).unwrap();
    let lines = 256 * 128 / 16;
    assert_eq!(touched(&trd, "C0", true).len(), lines);
    assert_eq!(touched(&trd, "C1", true).len(), lines / 2);
    // The first line of a buffer is used by every launch of its set: 128 + 64 + ... + 1, and once more for the whole.
    assert_eq!(touched(&trd, "A1", false)[&(base(&trd, "A1") / 64)], 255);
    assert_eq!(touched(&trd, "A0", false)[&(base(&trd, "A0") / 64)], 256);
}

#[test]
fn nonsense_is_refused_by_name() {
    assert_eq!(refused("trd", &[("elements", 100)]), "elements");
    assert_eq!(refused("trd", &[("elements", 0)]), "elements");
}
