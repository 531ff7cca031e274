use octavo_program::Workload;
use octavo_workload::kernels::hs::Hs;

use super::{LANES, refused};
use crate::lanes::{Lanes, Totals, assert_same, base, launch_totals, stream, totals, touched};

fn naive(hs: &Hs, (side, pyramid): (i64, i64), launch: u32, group: i64, wavefront: u64) -> Lanes {
    let small = 16 - 2 * pyramid;
    let groups = (side + small - 1) / small;
    let threads =
        || (0..LANES).map(move |lane| (wavefront * LANES + lane) as i64).map(move |thread| (thread % 16, thread / 16));
    let place =
        |(tx, ty): (i64, i64)| (small * (group % groups) - pyramid + tx, small * (group / groups) - pyramid + ty);
    let inside = |thread: &(i64, i64)| {
        let (x, y) = place(*thread);
        (0..side).contains(&x) && (0..side).contains(&y)
    };
    let address = |name: &str, thread| {
        let (x, y) = place(thread);
        base(hs, name) + 4 * (y * side + x) as u64
    };
    let (from, to) =
        if launch.is_multiple_of(2) { ("MatrixTemp0", "MatrixTemp1") } else { ("MatrixTemp1", "MatrixTemp0") };
    let computed = |(tx, ty): &(i64, i64)| {
        let last = pyramid - 1;
        (last + 1..=14 - last).contains(tx) && (last + 1..=14 - last).contains(ty)
    };
    let mut lanes = Lanes::default();
    lanes.load(threads().filter(inside).map(|thread| address(from, thread)));
    lanes.load(threads().filter(inside).map(|thread| address("MatrixPower", thread)));
    lanes.store(threads().filter(inside).filter(computed).map(|thread| address(to, thread)));
    lanes
}

#[test]
fn touches_what_every_lane_of_the_kernel_touches() {
    for (side, pyramid) in [(32, 1), (64, 2), (96, 3), (32, 7)] {
        let hs = Hs::new(side, pyramid, 2 * pyramid).unwrap();
        assert_eq!(hs.launches(), 2);
        assert_same(&hs, |launch, group, wavefront| {
            naive(&hs, (side as i64, pyramid.into()), launch, group.into(), wavefront.into())
        });
    }
}

#[test]
fn every_element_is_stored() {
    let hs = Hs::new(64, 2, 2).unwrap();
    // Blocks store 12 columns, so lines of 16 are stored by up to two blocks, and some twice in each row.
    let written = touched(&hs, "MatrixTemp1", true);
    assert_eq!(written.len(), 64 * 4);
    assert!(touched(&hs, "MatrixTemp0", true).is_empty() && touched(&hs, "MatrixPower", true).is_empty());
}

#[test]
fn counts_follow_from_the_structure() {
    let hs = Hs::new(128, 2, 2).unwrap();
    // 128 / 12 rounded up is 11. Group 12, the second of the second row, loads from row and column 10 on: 16 columns
    // there are two lines in each of a wavefront's four rows.
    assert_eq!(hs.launch(0).work_groups, 121);
    let count = |wavefront| totals(&stream(&hs, 0, 12, wavefront, 512));
    let load = (1 + 1 + 19) + (2 + 1 + 6) + 2 + (3 + 1 + 1) + (2 + 3 + 1 + 25 + 1 + 31);
    let step = (4 + 12 + 3) + (6 + 3 * 2 + 1 + 7) + (3 + 3 + 1);
    let instructions = load + step + 2 + (1 + 1 + 2) + (4 + 3 + 2) + step + 4 + (6 + 1) + 1 + 1;
    // Columns 12 to 23 are stored: two lines in each row.
    assert_eq!(count(1), Totals { instructions, vector_memory: 3, lines: 24 });
    // The first wavefront stores its last two rows alone.
    assert_eq!(count(0), Totals { instructions, vector_memory: 3, lines: 20 });
    // Every row of every block is stored once, for any overlap: 128 rows, 11 blocks, of which those with columns over a
    // border of lines have two. Blocks begin at multiples of 12: 3 in 4 of them cross one.
    let stores: u64 =
        (0..11).map(|block: u64| 1 + u64::from(block * 12 / 16 != ((block * 12 + 11).min(127)) / 16)).sum();
    let written = touched(&hs, "MatrixTemp1", true).values().map(|&times| u64::from(times)).sum::<u64>();
    assert_eq!(written, 128 * stores);
    assert!(launch_totals(&hs, 0).lines > 3 * written);
}

#[test]
fn nonsense_is_refused_by_name() {
    assert_eq!(refused("hs", &[("side", 100)]), "side");
    assert_eq!(refused("hs", &[("pyramid", 8)]), "pyramid");
    assert_eq!(refused("hs", &[("steps", 7)]), "steps");
}
