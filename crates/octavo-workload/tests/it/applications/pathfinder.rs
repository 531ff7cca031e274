use octavo_program::Workload;
use octavo_workload::kernels::pathfinder::Pathfinder;

use super::{LANES, refused};
use crate::lanes::{Lanes, Totals, assert_same, base, stream, totals, touched};

/// The kernel with the program's own indices.
fn naive(found: &Pathfinder, (cols, rows, pyramid): (i64, i64, i64), launch: i64, group: i64, wavefront: i64) -> Lanes {
    let start = launch * pyramid;
    let iteration = pyramid.min(rows - start - 1);
    let left = (256 - iteration * 2) * group - pyramid;
    let right = left + 255;
    let valid_min = if left < 0 { -left } else { 0 };
    let valid_max = if right > cols - 1 { 255 - (right - cols + 1) } else { 255 };
    let threads = || (0..LANES as i64).map(move |lane| wavefront * LANES as i64 + lane);
    let word = |buffer: &str, index: i64| base(found, buffer) + 4 * index as u64;
    let (from, to) = if launch % 2 == 0 { ("gpuResult0", "gpuResult1") } else { ("gpuResult1", "gpuResult0") };
    let mut lanes = Lanes::default();
    lanes.load(threads().filter(|tx| (0..cols).contains(&(left + tx))).map(|tx| word(from, left + tx)));
    let computed =
        |i: i64| threads().filter(move |tx| (i + 1..=254 - i).contains(tx) && (valid_min..=valid_max).contains(tx));
    for i in 0..iteration {
        lanes.load(computed(i).map(|tx| word("gpuWall", cols * (start + i) + left + tx)));
    }
    lanes.store(computed(iteration - 1).map(|tx| word(to, left + tx)));
    lanes
}

#[test]
fn touches_what_every_lane_of_the_kernel_touches() {
    // Blocks that fit exactly, that leave rests of columns and of rows, and one that is wider than the grid.
    for (columns, rows, pyramid) in [(500, 7, 3), (1000, 10, 4), (432, 41, 20), (30, 5, 1), (700, 3, 127)] {
        let pathfinder = Pathfinder::new(columns, rows, pyramid).unwrap();
        assert_eq!(u64::from(pathfinder.launches()), (rows - 1).div_ceil(pyramid.into()));
        assert_same(&pathfinder, |launch, group, wavefront| {
            let size = (columns as i64, rows as i64, pyramid.into());
            naive(&pathfinder, size, launch.into(), group.into(), wavefront.into())
        });
    }
}

#[test]
fn every_cost_is_read_and_every_column_stored() {
    let pathfinder = Pathfinder::new(1000, 10, 4).unwrap();
    assert_eq!(touched(&pathfinder, "gpuWall", false).len(), (9 * 1000 * 4_usize).div_ceil(64));
    for result in ["gpuResult0", "gpuResult1"] {
        assert_eq!(touched(&pathfinder, result, true).len(), 4000_usize.div_ceil(64));
    }
    assert!(touched(&pathfinder, "gpuWall", true).is_empty());
    // Three launches: the last writes the second array.
    let outputs: Vec<_> = pathfinder.host_side().roles().iter().map(|role| role.output).collect();
    assert_eq!(outputs, [false, true, false]);
}

#[test]
fn counts_follow_from_the_structure() {
    let pathfinder = Pathfinder::new(1024, 5, 2).unwrap();
    // 252 columns a block. The second block's second wavefront has columns 252 - 2 + 64 = 314 to 377, all up to date:
    // each load and store is of 256 bytes from byte 1256 on, five lines.
    let begin = (2 + 1 + 27) + 3 + 1 + (1 + 1) + (1 + 1 + 2);
    let row = 7 + (3 + 1 + 6) + 1 + (1 + 2) + (1 + 1 + 2);
    let instructions = begin + row + (1 + 1 + 1) + (1 + 1 + 2) + row + (4 + 1) + 1 + 1;
    let expected = Totals { instructions, vector_memory: 4, lines: 4 * 5 };
    assert_eq!(totals(&stream(&pathfinder, 0, 1, 1, 512)), expected);
    assert_eq!(pathfinder.launch(0).work_groups, 5);
}

#[test]
fn nonsense_is_refused_by_name() {
    assert_eq!(refused("pathfinder", &[("columns", 0)]), "columns");
    assert_eq!(refused("pathfinder", &[("rows", 1)]), "rows");
    assert_eq!(refused("pathfinder", &[("rows", 1 << 21)]), "rows");
    assert_eq!(refused("pathfinder", &[("pyramid", 128)]), "pyramid");
    assert_eq!(refused("pathfinder", &[("pyramid", 0)]), "pyramid");
}
