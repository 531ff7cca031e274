use octavo_workload::kernels::atax::Atax;

use super::{LANES, refused};
use crate::lanes::{Lanes, Totals, assert_same, base, stream, totals, touched};

/// The kernels with the program's own indices.
fn naive(found: &Atax, (nx, ny): (u64, u64), launch: u32, group: u32, wavefront: u32) -> Lanes {
    let thread = |lane: u64| u64::from(group) * 256 + u64::from(wavefront) * LANES + lane;
    let of = |buffer: &str, index: u64| base(found, buffer) + 4 * index;
    let mut lanes = Lanes::default();
    if launch == 0 {
        let active = || (0..LANES).map(thread).filter(|i| *i < nx);
        lanes.load(active().map(|i| of("tmp", i)));
        for j in (0..ny).filter(|_| active().count() > 0) {
            lanes.load(active().map(|i| of("A", i * ny + j)));
            lanes.load(active().map(|_| of("x", j)));
            lanes.store(active().map(|i| of("tmp", i)));
        }
    } else {
        let active = || (0..LANES).map(thread).filter(|j| *j < ny);
        lanes.load(active().map(|j| of("y", j)));
        for i in (0..nx).filter(|_| active().count() > 0) {
            lanes.load(active().map(|j| of("A", i * ny + j)));
            lanes.load(active().map(|_| of("tmp", i)));
            lanes.store(active().map(|j| of("y", j)));
        }
    }
    lanes
}

#[test]
fn touches_what_every_lane_of_the_kernels_touches() {
    for (rows, columns) in [(70, 40), (40, 70), (300, 17), (1, 1)] {
        let atax = Atax::new(rows, columns).unwrap();
        assert_same(&atax, |launch, group, wavefront| naive(&atax, (rows, columns), launch, group, wavefront));
    }
}

#[test]
fn the_matrix_is_read_and_the_sums_are_written() {
    let atax = Atax::new(300, 64).unwrap();
    assert_eq!(touched(&atax, "A", false).len(), 300 * 64 * 4 / 64);
    assert_eq!(touched(&atax, "y", true).len(), 4);
    assert_eq!(touched(&atax, "tmp", true).len(), (300 * 4_usize).div_ceil(64));
    assert!(touched(&atax, "A", true).is_empty() && touched(&atax, "x", true).is_empty());
}

#[test]
fn counts_follow_from_the_structure() {
    let atax = Atax::new(64, 32).unwrap();
    // 64 rows of two lines: each of 32 elements takes 64 lines, one of x and four of the sums, which are loaded first.
    let expected = Totals {
        instructions: (2 + 1 + 11) + 1 + 32 * (2 + (1 + 6) + 1) + 1,
        vector_memory: 1 + 32 * 3,
        lines: 4 + 32 * (64 + 1 + 4),
    };
    assert_eq!(totals(&stream(&atax, 0, 0, 0, 512)), expected);
}

#[test]
fn nonsense_is_refused_by_name() {
    assert_eq!(refused("atax", &[("rows", 0)]), "rows");
    assert_eq!(refused("atax", &[("columns", 1 << 21)]), "columns");
}
