//! The matrix multiplication against a lane-by-lane model of its kernel and against recorded counts.

use crate::lanes::{Lanes, Totals, assert_same, base, launch_totals, square_of_eight, touched};
use octavo_program::{Size, Workload};
use octavo_registry::{Choice, typed};
use octavo_workload::WORKLOADS;
use octavo_workload::kernels::matrixmultiplication::{ENTRY, MatrixMultiplication, MatrixMultiplicationOptions};

/// The kernel with its pointers as float4 arrays, for the thread of every lane at once.
fn naive(workload: &MatrixMultiplication, inner: u64, columns: u64, group: u32) -> Lanes {
    let (a, b, c) = (base(workload, "A"), base(workload, "B"), base(workload, "C"));
    let (width_a, width_c) = (inner / 4, columns / 4);
    let groups_x = columns / 32;
    let (group_x, group_y) = (u64::from(group) % groups_x, u64::from(group) / groups_x);
    let mut lanes = Lanes::default();
    for tile in 0..width_a / 8 {
        for part in 0..4 {
            let row = |y| (group_y * 8 + y) * 4 + part;
            lanes.load(square_of_eight().map(|(x, y)| a + 16 * (row(y) * width_a + tile * 8 + x)));
        }
        // The compiler reorders the four rows of B that it loads together.
        for k in (0..32).step_by(4).flat_map(|quad| [0, 2, 1, 3].map(|row| quad + row)) {
            lanes.load(square_of_eight().map(|(x, _)| b + 16 * ((tile * 32 + k) * width_c + group_x * 8 + x)));
        }
    }
    for part in 0..4 {
        let row = |y| (group_y * 8 + y) * 4 + part;
        lanes.store(square_of_eight().map(|(x, y)| c + 16 * (row(y) * width_c + group_x * 8 + x)));
    }
    lanes
}

#[test]
fn touches_what_every_lane_of_the_kernel_touches() {
    for (rows, inner, columns) in [(32, 32, 32), (64, 32, 96), (96, 160, 32), (32, 64, 224)] {
        let mm = MatrixMultiplication::new(rows, inner, columns).unwrap();
        assert_same(&mm, |_, group, _| naive(&mm, inner, columns, group));
    }
}

#[test]
fn every_output_is_written_once_and_every_input_read_as_often_as_its_tiles_need() {
    let (rows, inner, columns) = (96, 64, 160);
    let mm = MatrixMultiplication::new(rows, inner, columns).unwrap();
    let assert_each = |buffer, store, elements: u64, times: u64| {
        let lines = touched(&mm, buffer, store);
        assert_eq!(lines.len() as u64, elements / 16, "{buffer}");
        assert!(lines.values().all(|&count| u64::from(count) == times), "{buffer}");
    };
    assert_each("C", true, rows * columns, 1);
    assert_each("A", false, rows * inner, columns / 32);
    assert_each("B", false, inner * columns, rows / 32);
    assert!(touched(&mm, "C", false).is_empty() && touched(&mm, "A", true).is_empty());
}

/// MGPUSim v4.2.0; its counts include, for each wavefront, one load of a line that is not of managed memory and eight
/// scalar loads of kernel arguments.
#[test]
fn counts_equal_the_recorded_ones() {
    for (side, instructions, vector_memory, lines) in
        [(256, 569_472, None, 69_696), (512, 4_516_352, Some(148_736), 540_928)]
    {
        let mm = MatrixMultiplication::new(side, side, side).unwrap();
        let wavefronts = u64::from(mm.launch(0).work_groups);
        let found = launch_totals(&mm, 0);
        let vector_memory = vector_memory.unwrap_or(found.vector_memory + wavefronts);
        let instructions = instructions - wavefronts * (1 + 8);
        let recorded = Totals { instructions, vector_memory: vector_memory - wavefronts, lines: lines - wavefronts };
        assert_eq!(found, recorded);
    }
}

#[test]
fn scale_is_of_the_footprint() {
    let megabytes = |scale| {
        let workload = WORKLOADS.build(&Choice::named("matrixmultiplication"), &Size { scale, seed: 0 }).unwrap();
        workload.footprint() as f64 / f64::from(1 << 20)
    };
    assert!((megabytes(1.0) - 33.0).abs() < 0.33);
    assert!((megabytes(0.25) - 33.0 / 4.0).abs() < 0.33);
}

#[test]
fn partial_tiles_are_refused_by_name() {
    assert_eq!(MatrixMultiplication::new(33, 32, 32).unwrap_err().key, "rows");
    assert_eq!(MatrixMultiplication::new(32, 48, 32).unwrap_err().key, "inner");
    assert_eq!(MatrixMultiplication::new(32, 32, 0).unwrap_err().key, "columns");
    let options = serde_json::json!({ "rows": 64, "inner": 32, "columns": 96 });
    let workload = (ENTRY.build)(options.as_object().unwrap(), &Size { scale: 1.0, seed: 0 }).unwrap();
    assert_eq!(workload.footprint(), 4 * (64 * 32 + 32 * 96 + 64 * 96));
    assert!(typed::resolve::<MatrixMultiplicationOptions>(&serde_json::Map::new()).unwrap().is_empty());
}
