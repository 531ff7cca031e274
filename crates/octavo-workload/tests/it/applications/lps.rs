use octavo_program::Workload;
use octavo_workload::kernels::lps::Lps;

use super::{LANES, refused};
use crate::lanes::{Lanes, Totals, assert_same, base, launch_totals, stream, totals, touched};

fn naive(lps: &Lps, (nx, ny, nz): (i64, i64, i64), launch: u32, group: i64, wavefront: u64) -> Lanes {
    let (from, to) = if launch.is_multiple_of(2) { ("u1", "u2") } else { ("u2", "u1") };
    let groups = (nx + 31) / 32;
    let pitch = (nx + 127) / 128 * 128;
    let (left, top) = (group % groups * 32, group / groups * 4);
    let nodes = |place: &(i64, i64)| (0..nx).contains(&place.0) && (0..ny).contains(&place.1);
    let at = |name: &str, (x, y): (i64, i64), z: i64| base(lps, name) + 4 * (x + y * pitch + z * pitch * ny) as u64;
    let threads = || (0..LANES).map(|lane| (wavefront * LANES + lane) as i64);
    let main: Vec<_> = threads().map(|thread| (left + thread % 32, top + thread / 32)).filter(nodes).collect();
    let halo_of = |thread: i64| match thread {
        0..64 => (thread % 32, thread / 32 * 5 - 1),
        _ => (thread % 2 * 33 - 1, thread / 2 - 33),
    };
    let halo: Vec<_> =
        threads().filter(|thread| *thread < 76).map(halo_of).map(|(x, y)| (left + x, top + y)).filter(nodes).collect();
    let mut lanes = Lanes::default();
    lanes.load(main.iter().map(|place| at(from, *place, 0)));
    lanes.load(halo.iter().map(|place| at(from, *place, 0)));
    for z in 0..nz {
        if z + 1 < nz {
            lanes.load(main.iter().map(|place| at(from, *place, z + 1)));
            lanes.load(halo.iter().map(|place| at(from, *place, z + 1)));
        }
        lanes.store(main.iter().map(|place| at(to, *place, z)));
    }
    lanes
}

#[test]
fn touches_what_every_lane_of_the_kernel_touches() {
    for (nx, ny, nz) in [(1, 1, 1), (5, 7, 3), (33, 2, 4), (140, 9, 2)] {
        let lps = Lps::new(nx, ny, nz, 2).unwrap();
        let sizes = (nx as i64, ny as i64, nz as i64);
        assert_same(&lps, |launch, group, wavefront| naive(&lps, sizes, launch, group.into(), wavefront.into()));
    }
}

#[test]
fn every_node_is_written_once() {
    let lps = Lps::new(64, 64, 64, 1).unwrap();
    let written = touched(&lps, "u2", true);
    assert!(written.len() == 64 * 64 * 4 && written.values().all(|&times| times == 1));
    // The padding of the rows, from 256 to 512 bytes, is never read.
    assert_eq!(touched(&lps, "u1", false).len(), 64 * 64 * 4);
}

#[test]
fn counts_follow_from_the_structure() {
    let lps = Lps::new(96, 96, 96, 1).unwrap();
    // Three groups in a row: group 4 is in the middle of the second row of groups.
    let count = |wavefront| totals(&stream(&lps, 0, 4, wavefront, 1024));
    let load = 5 + 1 + 1 + 1;
    let entry = 16 + 15 + 1 + 16 + 3 + 1 + 11 + load + 4 + load + 3 + 18;
    let above =
        |z| 4 + (3 + 1 + 2) + if z < 95 { load } else { 0 } + 1 + 4 + (3 + 1 + 3) + if z < 95 { load } else { 0 } + 4;
    let combine = |z| if z == 0 || z == 95 { 2 } else { 3 + 1 + 1 + 1 + 1 + 1 + 4 };
    let plane = |z: u64| above(z) + 2 + (3 + 9) + combine(z) + (2 + 3) + (6 + 1) + 1 + (4 + 3 + 1);
    let instructions = entry + (0..96).map(plane).sum::<u64>() + 1;
    let accesses = 96 * 3;
    // Two rows of two lines; their halo is two such rows, or six rows with a line at either side.
    assert_eq!(count(0), Totals { instructions, vector_memory: accesses, lines: 96 * (4 + 4 + 4) });
    assert_eq!(count(1), Totals { instructions, vector_memory: accesses, lines: 96 * (4 + 12 + 4) });
    assert_eq!(lps.launch(0).work_groups, 3 * 24);
    assert!(launch_totals(&lps, 0).lines > 0);
}

#[test]
fn nonsense_is_refused_by_name() {
    assert_eq!(refused("lps", &[("width", 0)]), "width");
    assert_eq!(refused("lps", &[("height", 0)]), "height");
    assert_eq!(refused("lps", &[("width", 1 << 20), ("height", 1 << 20)]), "depth");
    assert_eq!(refused("lps", &[("iterations", 0)]), "iterations");
}
