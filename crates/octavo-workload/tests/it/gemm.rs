//! The general matrix multiply against a lane-by-lane model of its kernel.

use crate::lanes::{Lanes, assert_same, base, launch_totals, square_of_eight, touched};
use octavo_program::Size;
use octavo_registry::Choice;
use octavo_workload::WORKLOADS;
use octavo_workload::kernels::gemm::Gemm;

/// The kernel with its pointers as float4 arrays; threads beyond the matrix do nothing.
fn naive(workload: &Gemm, (rows, inner, columns): (u64, u64, u64), group: u32) -> Lanes {
    let (a, b, c) = (base(workload, "A"), base(workload, "B"), base(workload, "C"));
    let (width_a, width_b) = (inner / 4, columns / 4);
    let groups_x = columns.div_ceil(32);
    let (group_x, group_y) = (u64::from(group) % groups_x, u64::from(group) / groups_x);
    let threads = || {
        let global = square_of_eight().map(move |(x, y)| (group_x * 8 + x, group_y * 8 + y));
        global.filter(move |(x, y)| *x < width_b && *y < rows / 4)
    };
    let mut lanes = Lanes::default();
    for k in (0..inner).step_by(4) {
        for part in 0..4 {
            lanes.load(threads().map(|(_, y)| a + 16 * (k / 4 + (y * 4 + part) * width_a)));
        }
        for part in 0..4 {
            lanes.load(threads().map(|(x, _)| b + 16 * (x + (k + part) * width_b)));
        }
    }
    let block = |part| threads().map(move |(x, y)| c + 16 * (x + (y * 4 + part) * width_b));
    (0..4).for_each(|part| lanes.load(block(part)));
    (0..4).for_each(|part| lanes.store(block(part)));
    lanes
}

#[test]
fn touches_what_every_lane_of_the_kernel_touches() {
    for size in [(32, 32, 32), (4, 4, 4), (36, 20, 44), (64, 8, 100), (52, 76, 8), (8, 12, 36)] {
        let gemm = Gemm::new(size.0, size.1, size.2).unwrap();
        assert_same(&gemm, |_, group, _| naive(&gemm, size, group));
    }
}

#[test]
fn every_element_of_c_is_read_and_written_once() {
    let gemm = Gemm::new(64, 32, 96).unwrap();
    for store in [false, true] {
        let lines = touched(&gemm, "C", store);
        assert_eq!(lines.len(), 64 * 96 / 16);
        assert!(lines.values().all(|&count| count == 1));
    }
    // A line of A holds four steps' worth for each of the three tiles beside one another.
    assert!(touched(&gemm, "A", false).values().all(|&count| count == 4 * 3));
    assert!(touched(&gemm, "B", false).values().all(|&count| count == 2));
}

#[test]
fn counts_follow_from_the_structure() {
    let gemm = Gemm::new(64, 64, 64).unwrap();
    let found = launch_totals(&gemm, 0);
    let wavefronts = 4;
    assert_eq!(found.vector_memory, wavefronts * (64 / 4 * 8 + 8));
    assert_eq!(found.lines, wavefronts * (64 * 10 + 2 * 64));
    // 64 multiply-adds a step are most of the instructions.
    assert!(found.instructions < wavefronts * 64 / 4 * 64 * 2);
}

#[test]
fn scale_is_of_the_footprint() {
    for (scale, expected) in [(1.0, 16.0), (0.0625, 1.0)] {
        let workload = WORKLOADS.build(&Choice::named("gemm"), &Size { scale, seed: 0 }).unwrap();
        // The nearest multiple of a float4.
        assert!((workload.footprint() as f64 / f64::from(1 << 20) / expected - 1.0).abs() < 0.02);
    }
    assert_eq!(Gemm::new(32, 30, 32).unwrap_err().key, "inner");
}
