use octavo_program::Workload;
use octavo_workload::kernels::fdtd2d::Fdtd2d;

use super::{LANES, refused};
use crate::lanes::{Lanes, Totals, assert_same, base, stream, totals, touched};

/// The kernels with the program's own indices; blocks of 32 x 8.
fn naive(found: &Fdtd2d, (nx, ny): (i64, i64), launch: u32, group: u32, wavefront: u32) -> Lanes {
    let across = (ny + 31) / 32;
    let (x, y) = (i64::from(group) % across, i64::from(group) / across);
    let of = |buffer: &str, index: i64| base(found, buffer) + 4 * index as u64;
    // (i, j) of each lane that the grid has.
    let threads: Vec<(i64, i64)> = (0..LANES as i64)
        .map(|lane| i64::from(wavefront) * LANES as i64 + lane)
        .map(|thread| (y * 8 + thread / 32, x * 32 + thread % 32))
        .filter(|&(i, j)| i < nx && j < ny)
        .collect();
    let mut lanes = Lanes::default();
    let those = |pick: fn(&(i64, i64)) -> bool| threads.iter().copied().filter(pick).collect::<Vec<_>>();
    let each = |some: &[(i64, i64)], buffer: &'static str, index: &dyn Fn(i64, i64) -> i64| {
        some.iter().map(|&(i, j)| of(buffer, index(i, j))).collect::<Vec<_>>()
    };
    match launch % 3 {
        0 => {
            let first = those(|&(i, _)| i == 0);
            lanes.load(each(&first, "_fict_", &|_, _| i64::from(launch / 3)));
            lanes.store(each(&first, "ey", &|i, j| i * ny + j));
            let others = those(|&(i, _)| i > 0);
            lanes.load(each(&others, "ey", &|i, j| i * ny + j));
            lanes.load(each(&others, "hz", &|i, j| i * ny + j));
            lanes.load(each(&others, "hz", &|i, j| (i - 1) * ny + j));
            lanes.store(each(&others, "ey", &|i, j| i * ny + j));
        }
        1 => {
            let inner = those(|&(_, j)| j > 0);
            lanes.load(each(&inner, "ex", &|i, j| i * (ny + 1) + j));
            lanes.load(each(&inner, "hz", &|i, j| i * ny + j));
            lanes.load(each(&inner, "hz", &|i, j| i * ny + j - 1));
            lanes.store(each(&inner, "ex", &|i, j| i * (ny + 1) + j));
        }
        _ => {
            lanes.load(each(&threads, "hz", &|i, j| i * ny + j));
            lanes.load(each(&threads, "ex", &|i, j| i * (ny + 1) + j + 1));
            lanes.load(each(&threads, "ex", &|i, j| i * (ny + 1) + j));
            lanes.load(each(&threads, "ey", &|i, j| (i + 1) * ny + j));
            lanes.load(each(&threads, "ey", &|i, j| i * ny + j));
            lanes.store(each(&threads, "hz", &|i, j| i * ny + j));
        }
    }
    lanes
}

#[test]
fn touches_what_every_lane_of_the_kernels_touches() {
    // Whole blocks, a rest of rows and of columns, less than a block, one point.
    for (rows, columns) in [(16, 64), (13, 45), (3, 7), (1, 1)] {
        let fdtd = Fdtd2d::new(rows, columns, 2).unwrap();
        assert_eq!(fdtd.launches(), 6);
        assert_same(&fdtd, |launch, group, wavefront| {
            naive(&fdtd, (rows as i64, columns as i64), launch, group, wavefront)
        });
    }
}

#[test]
fn fields_are_read_and_written_but_for_their_edges() {
    let fdtd = Fdtd2d::new(16, 64, 1).unwrap();
    assert_eq!(touched(&fdtd, "hz", true).len(), 16 * 64 * 4 / 64);
    // The row below the grid is read alone.
    assert_eq!(touched(&fdtd, "ey", true).len(), 16 * 64 * 4 / 64);
    assert_eq!(touched(&fdtd, "ey", false).len(), 17 * 64 * 4 / 64);
    assert!(touched(&fdtd, "_fict_", true).is_empty());
}

#[test]
fn counts_follow_from_the_structure() {
    let fdtd = Fdtd2d::new(16, 64, 1).unwrap();
    // The first wavefront has rows 0 and 1 of 32 columns: the source and two lines, then two lines each.
    let expected = Totals {
        instructions: (2 + 1 + 20) + (1 + (1 + 1) + 1) + (3 + (1 + 4) + 1) + 1,
        vector_memory: 2 + 4,
        lines: (1 + 2) + 4 * 2,
    };
    assert_eq!(totals(&stream(&fdtd, 0, 0, 0, 512)), expected);
}

#[test]
fn nonsense_is_refused_by_name() {
    assert_eq!(refused("fdtd2d", &[("rows", 0)]), "rows");
    assert_eq!(refused("fdtd2d", &[("columns", 1 << 21)]), "columns");
    assert_eq!(refused("fdtd2d", &[("steps", 0)]), "steps");
}
