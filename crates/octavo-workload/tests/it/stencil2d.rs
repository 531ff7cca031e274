//! The stencil against a lane-by-lane model of its kernel and against recorded counts.

use crate::lanes::{Lanes, Totals, assert_same, base, launch_totals, touched};
use octavo_program::{LINE_BYTES, Size, Workload};
use octavo_registry::Choice;
use octavo_workload::WORKLOADS;
use octavo_workload::kernels::stencil2d::Stencil2d;

/// The kernel for all 64 lanes at once; `rows` and `columns` without the halo.
fn naive(workload: &Stencil2d, (rows, columns): (u64, u64), launch: u32, group: u32) -> Lanes {
    let (data1, data2) = (base(workload, "data1"), base(workload, "data2"));
    let (from, to) = if launch.is_multiple_of(2) { (data1, data2) } else { (data2, data1) };
    let pitch = (columns + 2).div_ceil(16) * 16;
    // Logical coordinates start behind the halo; dimension 0 of the grid is rows.
    let at = |data, row: i64, column: i64| data + 4 * ((row + 1) as u64 * pitch + (column + 1) as u64);
    let row = i64::from(group) % (rows as i64 / 16) * 16;
    let column = i64::from(group) / (rows as i64 / 16) * 64;
    let lane_columns = || (0..64).map(|lane| column + lane);
    let mut lanes = Lanes::default();
    (row - 1..row + 17).for_each(|row| lanes.load(lane_columns().map(|column| at(from, row, column))));
    (row - 1..row + 16).for_each(|row| lanes.load([at(from, row, column + 64)]));
    (row - 1..row + 16).for_each(|row| lanes.load([at(from, row, column - 1)]));
    lanes.load([at(from, row + 16, column - 1), at(from, row + 16, column + 64)]);
    (row..row + 16).for_each(|row| lanes.store(lane_columns().map(|column| at(to, row, column))));
    lanes
}

#[test]
fn touches_what_every_lane_of_the_kernel_touches() {
    for (rows, columns, iterations) in [(16, 64, 1), (48, 64, 2), (32, 192, 3), (80, 448, 1)] {
        let st = Stencil2d::new(rows, columns, iterations).unwrap();
        assert_eq!(st.launches(), iterations);
        assert_same(&st, |launch, group, _| naive(&st, (rows, columns), launch, group));
    }
}

#[test]
fn reads_the_halo_and_never_writes_it() {
    let (rows, columns) = (32, 128);
    let st = Stencil2d::new(rows, columns, 1).unwrap();
    // Rows of 130 elements are padded to 144, nine lines.
    let row_of = |line: u64, data: &str| (line * LINE_BYTES - base(&st, data)) / (144 * 4);
    let read: Vec<u64> = touched(&st, "data1", false).into_keys().collect();
    let written: Vec<u64> = touched(&st, "data2", true).into_keys().collect();
    assert_eq!(read.len() as u64, (rows + 2) * 9, "every line of every row, the halo's included");
    assert_eq!(written.len() as u64, rows * 9);
    assert_eq!((row_of(read[0], "data1"), row_of(*read.last().unwrap(), "data1")), (0, rows + 1));
    assert_eq!((row_of(written[0], "data2"), row_of(*written.last().unwrap(), "data2")), (1, rows));
    assert!(touched(&st, "data1", true).is_empty() && touched(&st, "data2", false).is_empty());
}

/// MGPUSim v4.2.0; its counts include, for each wavefront, one load of a line that is not of managed memory and four
/// scalar loads of kernel arguments.
#[test]
fn counts_equal_the_recorded_ones() {
    let st = Stencil2d::new(512, 512, 1).unwrap();
    let wavefronts = 256;
    let recorded = Totals {
        instructions: 247_040 - wavefronts * (1 + 4),
        vector_memory: 17_920 - wavefronts,
        lines: 52_992 - wavefronts,
    };
    assert_eq!(launch_totals(&st, 0), recorded);
}

#[test]
fn scale_is_of_the_footprint() {
    for scale in [1.0, 0.25, 0.0625, 2.0] {
        let workload = WORKLOADS.build(&Choice::named("stencil2d"), &Size { scale, seed: 0 }).unwrap();
        assert!((workload.footprint() as f64 / f64::from(1 << 20) / (33.0 * scale) - 1.0).abs() < 0.02, "{scale}");
        assert_eq!(workload.launches(), 20);
    }
}

#[test]
fn what_the_kernel_would_leave_out_is_refused_by_name() {
    assert_eq!(Stencil2d::new(20, 64, 1).unwrap_err().key, "rows");
    assert_eq!(Stencil2d::new(16, 96, 1).unwrap_err().key, "columns");
    assert_eq!(Stencil2d::new(16, 64, 0).unwrap_err().key, "iterations");
}
