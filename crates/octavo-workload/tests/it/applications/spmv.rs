//! The product compared with a lane-by-lane model of its kernel, and its matrix with its specification.

use crate::lanes::{Lanes, Totals, assert_same, base, launch_totals};
use octavo_program::{Size, Workload};
use octavo_registry::Choice;
use octavo_workload::WORKLOADS;
use octavo_workload::kernels::spmv::{SparseMatrix, Spmv};

fn naive(spmv: &Spmv, first: u64) -> Lanes {
    let [values, vector, columns, offsets, output] =
        ["values", "vector", "columns", "row_offsets", "output"].map(|name| base(spmv, name));
    let matrix = spmv.matrix();
    let rows: Vec<u64> = (first..first + 64).filter(|row| *row < u64::from(matrix.rows())).collect();
    let mut lanes = Lanes::default();
    lanes.load(rows.iter().map(|row| offsets + 4 * (row + 1)));
    lanes.load(rows.iter().map(|row| offsets + 4 * row));
    let row = |row: u64| u64::from(matrix.offsets[row as usize])..u64::from(matrix.offsets[row as usize + 1]);
    for turn in 0.. {
        let places: Vec<u64> = rows.iter().filter_map(|at| row(*at).nth(turn)).collect();
        if places.is_empty() {
            break;
        }
        lanes.load(places.iter().map(|place| columns + 4 * place));
        lanes.load(places.iter().map(|place| values + 4 * place));
        lanes.load(places.iter().map(|place| vector + 4 * u64::from(matrix.columns[*place as usize])));
    }
    lanes.store(rows.iter().map(|row| output + 4 * row));
    lanes
}

#[test]
fn touches_what_every_lane_of_the_kernel_touches() {
    for (rows, nonzeros, iterations) in [(1, 1, 1), (100, 900, 2), (1000, 10_000, 1), (300, 40, 1)] {
        let spmv = Spmv::new(SparseMatrix::uniform(rows, nonzeros, 5), iterations);
        assert_eq!(spmv.launches(), iterations);
        assert_same(&spmv, |_, group, wavefront| naive(&spmv, u64::from(group) * 128 + u64::from(wavefront) * 64));
    }
}

#[test]
fn matrices_are_what_they_claim() {
    let matrix = SparseMatrix::uniform(500, 20_000, 3);
    assert_eq!((matrix.rows(), matrix.columns.len()), (500, 20_000));
    assert_eq!((matrix.offsets[0], matrix.offsets[500]), (0, 20_000));
    for row in 0..500 {
        let columns = &matrix.columns[matrix.offsets[row] as usize..matrix.offsets[row + 1] as usize];
        assert!(columns.is_sorted_by(|a, b| a < b) && columns.iter().all(|column| *column < 500));
    }
    // 40 a row on average, with a deviation of 6.1.
    let longest = matrix.longest(0..500);
    assert!((50..70).contains(&longest), "{longest}");
    assert_eq!(SparseMatrix::uniform(3, 9, 0).columns, [0, 1, 2, 0, 1, 2, 0, 1, 2], "all places");
    assert_ne!(SparseMatrix::uniform(500, 20_000, 4).columns, matrix.columns);
}

/// One row of three non-zeros: 2 + 14 + 6 up to the offsets with two waits; 2 loads, 1, a wait, 6 and a wait; then
/// turns of 8 (3 after the first), 1 + 7 and 4 with three loads and two waits; 9, a store and the end. The other
/// wavefront of the group stops after 16, one wait and its end.
#[test]
fn counts_are_those_of_the_compiled_kernel() {
    let spmv = Spmv::new(SparseMatrix { width: 1, offsets: vec![0, 3], columns: vec![0, 0, 0] }, 1);
    let up_to_turns = 2 + 1 + 14 + 1 + 6 + 2 + 1 + 1 + 6 + 1;
    let turns = (8 + 2 * 3) + 3 * (1 + 7 + 4 + 3 + 2);
    let expected =
        Totals { instructions: up_to_turns + turns + 9 + 2 + (2 + 1 + 14 + 1), vector_memory: 12, lines: 12 };
    assert_eq!(launch_totals(&spmv, 0), expected);
}

#[test]
fn scale_and_options_are_checked() {
    let build = |scale, key: &str, value: serde_json::Value| {
        let mut choice = Choice::named("spmv");
        choice.options.insert(key.to_owned(), value);
        WORKLOADS.build(&choice, &Size { scale, seed: 3 })
    };
    // 1638 rows, 26830 non-zeros.
    assert_eq!(build(0.01, "density", 0.01.into()).unwrap().footprint(), 8 * 26_830 + 4 * (3 * 1638 + 1));
    assert_eq!(build(1.0, "density", 0.5.into()).err().unwrap().key, "density");
    assert_eq!(build(1.0, "rows", 70_000.into()).err().unwrap().key, "rows");
    assert_eq!(build(1.0, "iterations", 0.into()).err().unwrap().key, "iterations");
    assert_eq!(build(100.0, "density", 0.01.into()).err().unwrap().key, "scale");
}
