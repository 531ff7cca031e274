//! The decomposition against a thread-by-thread model of its kernels, and its order against what each block needs.

use super::{full_size, refused};
use crate::lanes::{Lanes, assert_same, base, launch_totals};
use octavo_program::Workload;
use octavo_workload::kernels::lud::Lud;

fn naive(lud: &Lud, rows: u64, launch: u64, group: u64, wavefront: u64) -> Lanes {
    let matrix = base(lud, "m");
    let corner = launch / 3 * 16;
    let at = |row: u64, column: u64| matrix + 4 * (row * rows + column);
    let line = |row: u64, column: u64| (0..16).map(move |thread| at(row, column + thread));
    let mut lanes = Lanes::default();
    match launch % 3 {
        0 => {
            (0..16).for_each(|row| lanes.load(line(corner + row, corner)));
            (1..16).for_each(|row| lanes.store(line(corner + row, corner)));
        }
        1 => {
            let away = corner + (group + 1) * 16;
            (8..16).for_each(|row| lanes.load(line(corner + row, corner)));
            (0..16).for_each(|row| lanes.load(line(away + row, corner)));
            (0..8).for_each(|row| lanes.load(line(corner + row, corner)));
            (0..16).for_each(|row| lanes.load(line(corner + row, away)));
            (0..16).for_each(|row| lanes.store(line(away + row, corner)));
            (1..16).for_each(|row| lanes.store(line(corner + row, away)));
        }
        _ => {
            let side = rows / 16 - 1 - launch / 3;
            let (down, right) = (corner + (group / side + 1) * 16, corner + (group % side + 1) * 16);
            let threads = || (wavefront * 64..wavefront * 64 + 64).map(|thread| (thread / 16, thread % 16));
            lanes.load(threads().map(|(y, x)| at(corner + y, right + x)));
            lanes.load(threads().map(|(y, x)| at(down + y, corner + x)));
            lanes.load(threads().map(|(y, x)| at(down + y, right + x)));
            lanes.store(threads().map(|(y, x)| at(down + y, right + x)));
        }
    }
    lanes
}

#[test]
fn touches_what_every_lane_of_the_kernels_touches() {
    for rows in [16, 32, 80] {
        let lud = Lud::new(rows).unwrap();
        assert_eq!(u64::from(lud.launches()), 3 * (rows / 16 - 1) + 1);
        assert_same(&lud, |launch, group, wave| naive(&lud, rows, launch.into(), group.into(), wave.into()));
    }
}

/// Every block is subtracted from once for each block of the diagonal before it.
#[test]
fn the_rest_shrinks_by_a_row_and_a_column() {
    let lud = Lud::new(64).unwrap();
    let groups: Vec<u32> = (0..lud.launches()).map(|launch| lud.launch(launch).work_groups).collect();
    assert_eq!(groups, [1, 3, 9, 1, 2, 4, 1, 1, 1, 1]);
}

/// Counted with loops over i and j as the kernels have them.
#[test]
fn counts_are_those_of_the_compiled_kernels() {
    let lud = Lud::new(32).unwrap();
    let inner = 3 + 3 + 3 + 1;
    let meet = 3;
    let (mut diagonal, mut below, mut right) = (3 + 1 + 87 + 16 + 7 * 2 + 1 + 6 + meet + 1, 3 + 11, 3 + 5 + 1);
    for i in 0..15 {
        diagonal += 3 + 2 + 1 + 16 + meet + 2 + 7 + (i + 1) * inner + 1 + 6 + meet + 1;
        diagonal += if i > 0 { 7 + i * inner } else { 0 };
        right += 7 + 4 + (i + 1) * inner;
    }
    for i in 0..16 {
        below += 2 + 17 + if i > 0 { 7 + i * inner + 1 } else { 3 };
    }
    let stores = |first: u64, odd: u64, even: u64, rows: u64| first + odd * (rows / 2) + even * ((rows - 1) / 2) + rows;
    diagonal += 11 + 7 * 5 + 6 * 6 + 5 + 15 + 1;
    assert_eq!(launch_totals(&lud, 0).instructions, diagonal);
    assert_eq!(launch_totals(&lud, 0).lines, 31);

    let loads = (5 + 1 + 51 + 41 + 40 + 24 + 1 + 7 + 1 + 10) + (119 + 24 + 1 + 7 + 1 + 8);
    let solve = meet + below + right + meet + 3;
    let perimeter = loads + solve + stores(18, 6, 5, 16) + 3 + stores(17, 3, 6, 15) + 1;
    assert_eq!(launch_totals(&lud, 1).instructions, perimeter);
    assert_eq!(launch_totals(&lud, 1).lines, 48 + 31);

    let internal = (3 + 1 + 19 + 2) + (17 + 1 + 1 + 1 + 1) + meet + (1 + 39 + 1 + 1 + 1) + 1;
    assert_eq!(launch_totals(&lud, 2).instructions, 4 * internal);
    assert_eq!(launch_totals(&lud, 2).lines, 4 * 16);
}

#[test]
fn the_matrix_is_the_programs_largest() {
    assert_eq!(full_size("lud").footprint(), 4 * 2048 * 2048);
    assert_eq!(refused("lud", &[("rows", 100)]), "rows");
}
