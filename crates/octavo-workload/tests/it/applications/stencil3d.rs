use octavo_workload::kernels::stencil3d::Stencil3d;

use super::{LANES, refused};
use crate::lanes::{Lanes, Totals, assert_same, base, launch_totals, stream, totals, touched};

/// The kernel for all lanes at once. Each lane knows its two columns `i`, and whether it is at the group's edges.
fn naive(volume: &Stencil3d, (nx, ny, nz): (i64, i64, i64), launch: u32, group: i64, wavefront: u64) -> Lanes {
    let (a, next) = if launch.is_multiple_of(2) { ("A0", "Anext") } else { ("Anext", "A0") };
    let groups = (nx + 63) / 64;
    let at = |name: &str, x: i64, y: i64, z: i64| base(volume, name) + 4 * ((z * ny + y) * nx + x) as u64;
    let threads = |half: i64| {
        (0..LANES).map(move |lane| (wavefront * LANES + lane) as i64).map(move |thread| {
            let (tx, ty) = (thread % 32, thread / 32);
            (tx, ty, group % groups * 64 + half * 32 + tx, group / groups * 4 + ty)
        })
    };
    let all = |half| threads(half).filter(|(.., x, y)| *x < nx && *y < ny);
    let inner = |half| threads(half).filter(|(.., x, y)| *x > 0 && *y > 0 && *x < nx - 1 && *y < ny - 1);
    let mut lanes = Lanes::default();
    for half in 0..2 {
        for z in [1, 0] {
            lanes.load(all(half).map(|(.., x, y)| at(a, x, y, z)));
        }
    }
    for z in 1..nz - 1 {
        for half in 0..2 {
            lanes.load(all(half).map(|(.., x, y)| at(a, x, y, z + 1)));
            let (edge, side) = if half == 0 { (0, -1) } else { (31, 1) };
            lanes.load(inner(half).filter(|(tx, ..)| *tx == edge).map(|(.., x, y)| at(a, x + side, y, z)));
            lanes.load(inner(half).filter(|(_, ty, ..)| *ty == 0).map(|(.., x, y)| at(a, x, y - 1, z)));
            lanes.load(inner(half).filter(|(_, ty, ..)| *ty == 3).map(|(.., x, y)| at(a, x, y + 1, z)));
            lanes.store(inner(half).map(|(.., x, y)| at(next, x, y, z)));
        }
    }
    lanes
}

#[test]
fn touches_what_every_lane_of_the_kernel_touches() {
    // One group; groups and wavefronts over the border; a surface row alone in a wavefront; full blocks.
    for (nx, ny, nz) in [(16, 4, 3), (80, 7, 4), (144, 9, 3), (192, 12, 5), (32, 1, 3)] {
        let volume = Stencil3d::new(nx, ny, nz, 2).unwrap();
        let sizes = (nx as i64, ny as i64, nz as i64);
        assert_same(&volume, |launch, group, wavefront| naive(&volume, sizes, launch, group.into(), wavefront.into()));
    }
}

#[test]
fn the_surface_is_read_and_never_written() {
    let (width, height, depth) = (64, 8, 4);
    let volume = Stencil3d::new(width, height, depth, 1).unwrap();
    assert_eq!(touched(&volume, "A0", false).len() as u64, width / 16 * height * depth);
    assert_eq!(touched(&volume, "Anext", true).len() as u64, width / 16 * (height - 2) * (depth - 2));
}

#[test]
fn counts_follow_from_the_structure() {
    let volume = Stencil3d::new(192, 12, 3, 1).unwrap();
    // The group in the middle, one plane: each half loads two planes before and one above, and a side; the first
    // wavefront a row in front, the second one behind.
    let count = |wavefront| totals(&stream(&volume, 0, 4, wavefront, 512));
    let entry = 1 + 1 + 12 + 3 + 2 + (14 + 2 + 2) + 7 + (14 + 2 + 2) + 2 + (3 + 1 + 42);
    let side = |vector: u64| 3 + 1 + 3 + (1 + vector + 1);
    let half = |entry: u64, above: u64, vectors: [u64; 2], behind: bool, extra: u64| {
        let [side_vector, row] = vectors;
        let rows = 4 + 1 + 3 + 4 + 1 + 4 + (1 + row + 1) + if behind { extra } else { 0 };
        entry + (above + 1) + 3 + side(side_vector) + rows + (4 + 1 + 13) + 1
    };
    let plane = |behind| half(2, 6, [7, 6], behind, 2) + half(3, 7, [7, 7], behind, 3) + 1 + 3 + 10 + 3 + 1;
    // Two lines in each of two rows, except for the one-element side (a line a row) and the one row (two lines).
    let lines = 2 * (4 * 2 + 4 + 2 + 2 + 4);
    for (wavefront, behind) in [(0, false), (1, true)] {
        let instructions = entry + plane(behind) + 1;
        assert_eq!(count(wavefront), Totals { instructions, vector_memory: 2 * (2 + 4), lines });
    }
    assert!(launch_totals(&volume, 0).lines > 0);
}

#[test]
fn nonsense_is_refused_by_name() {
    assert_eq!(refused("3ds", &[("width", 20)]), "width");
    assert_eq!(refused("3ds", &[("height", 0)]), "height");
    assert_eq!(refused("3ds", &[("depth", 2)]), "depth");
    assert_eq!(refused("3ds", &[("width", 1 << 20), ("height", 1 << 20)]), "depth");
    assert_eq!(refused("3ds", &[("iterations", 0)]), "iterations");
}
