use octavo_program::Workload;
use octavo_workload::kernels::srad::{Side, Srad};

use super::{LANES, refused};
use crate::lanes::{Lanes, Totals, assert_same, base, launch_totals, stream, totals, touched};

/// Both kernels with the program's own indices; what they would read outside the image is left out.
fn naive(srad: &Srad, (rows, columns): (i64, i64), launch: u32, group: i64, wavefront: u64) -> Lanes {
    let (groups_x, groups_y) = (columns / 16, rows / 16);
    let (bx, by) = (group % groups_x, group / groups_x);
    let corner = columns * 16 * by + 16 * bx;
    let threads = || (0..LANES).map(|lane| (wavefront * LANES + lane) as i64).map(|thread| (thread % 16, thread / 16));
    let touch = |buffer: &str, index: &dyn Fn(i64, i64) -> i64| {
        let inside = threads().map(|(tx, ty)| index(tx, ty)).filter(|index| (0..rows * columns).contains(index));
        inside.map(|index| base(srad, buffer) + 4 * index as u64).collect::<Vec<_>>()
    };
    let centre = |tx, ty| corner + columns * ty + tx;
    let last_row = |tx, _| corner + columns * 15 + tx;
    let last_column = |_, ty| corner + columns * ty + 15;
    let mut lanes = Lanes::default();
    if launch.is_multiple_of(2) {
        lanes.load(touch("J", &|tx, _| corner + tx - columns));
        lanes.load(touch("J", &|tx, _| corner + columns * 16 + tx));
        if by == 0 {
            lanes.load(touch("J", &|tx, _| 16 * bx + tx));
        } else if by == groups_y - 1 {
            lanes.load(touch("J", &last_row));
        }
        lanes.load(touch("J", &|_, ty| corner + columns * ty - 1));
        lanes.load(touch("J", &|_, ty| corner + columns * ty + 16));
        if bx == 0 {
            lanes.load(touch("J", &|_, ty| columns * 16 * by + columns * ty));
        } else if bx == groups_x - 1 {
            lanes.load(touch("J", &last_column));
        }
        lanes.load(touch("J", &centre));
        ["C", "E_C", "W_C", "S_C", "N_C"].into_iter().for_each(|buffer| lanes.store(touch(buffer, &centre)));
    } else {
        lanes.load(touch("J", &centre));
        lanes.load(touch("C", &|tx, _| corner + columns * 16 + tx));
        if by == groups_y - 1 {
            lanes.load(touch("C", &last_row));
        }
        lanes.load(touch("C", &|_, ty| corner + columns * ty + 16));
        if bx == groups_x - 1 {
            lanes.load(touch("C", &last_column));
        }
        ["C", "N_C", "S_C", "W_C", "E_C"].into_iter().for_each(|buffer| lanes.load(touch(buffer, &centre)));
        lanes.store(touch("J", &centre));
    }
    lanes
}

#[test]
fn touches_what_every_lane_of_the_kernels_touches() {
    for (rows, columns) in [(16, 16), (32, 48), (64, 64), (48, 16)] {
        let srad = Srad::new(rows, columns, 2).unwrap();
        assert_eq!(srad.launches(), 4);
        assert_same(&srad, |launch, group, wavefront| {
            naive(&srad, (rows as i64, columns as i64), launch, group.into(), wavefront.into())
        });
    }
}

#[test]
fn every_element_is_written_once_in_each_launch() {
    let srad = Srad::new(64, 48, 1).unwrap();
    for buffer in ["J", "C", "E_C", "W_C", "S_C", "N_C"] {
        let written = touched(&srad, buffer, true);
        assert!(written.len() == 64 * 3 && written.values().all(|&times| times == 1), "{buffer}");
    }
}

/// A launch before the others stores the image, each element once; the others stay the same.
#[test]
fn a_gpu_can_write_the_image_first() {
    let size = (32, 48);
    let srad = Srad::new(32, 48, 2).unwrap().initialised_by(Side::Gpu).read_rows(5).unwrap();
    assert_eq!(srad.launches(), 5);
    assert_eq!(srad.launch(0).kernel, "initialise");
    assert_same(&srad, |launch, group, wavefront| {
        if let Some(launch) = launch.checked_sub(1) {
            return naive(&srad, size, launch, group.into(), wavefront.into());
        }
        let corner = 16 * i64::from(group % 3) + 48 * 16 * i64::from(group / 3);
        let threads = (0..LANES as i64).map(|lane| i64::from(wavefront) * LANES as i64 + lane);
        let mut lanes = Lanes::default();
        lanes.store(threads.map(|thread| base(&srad, "J") + 4 * (corner + 48 * (thread / 16) + thread % 16) as u64));
        lanes
    });
    let side = srad.host_side();
    assert!(side.roles().iter().all(|role| !role.input) && side.roles()[0].output);
    let [read] = side.exchanges() else { panic!("{:?}", side.exchanges()) };
    assert_eq!((read.before, read.buffer, read.bytes.clone(), read.writes), (3, 0, 0..5 * 48 * 4, false));
}

#[test]
fn counts_follow_from_the_structure() {
    let srad = Srad::new(48, 48, 1).unwrap();
    let of = |launch, group| totals(&stream(&srad, launch, group, 1, 512));
    // The block in the middle of three by three: a row above and below, four elements left and right, four rows.
    let first = (2 + 1 + 16 + 2) + (3 + 1 + 2 + 4 + 4 + 5 + 2) + (14 + 2) + (2 + 3 + 2 + 6 + 2) + (6 + 1);
    let first = first + (14 + 3 + 10 + 3) + (7 + 1 + 1 + 1 + 4 + 1 + 45 + 3 + 5 + 1) + 5 + 1;
    assert_eq!(of(0, 4), Totals { instructions: first, vector_memory: 10, lines: 1 + 1 + 4 + 4 + 4 + 5 * 4 });
    let second = (2 + 1 + 18 + 2) + (6 + 1 + 1 + 3 + 2) + (6 + 1) + (3 + 3 + 2) + 5 * (3 + 1);
    let second = second + (6 + 3 + 5 + 3 + 4 + 1 + 3 + 1 + 1 + 1 + 2 + 3 + 1 + 1) + 1 + 1;
    assert_eq!(of(1, 4), Totals { instructions: second, vector_memory: 9, lines: 4 + 1 + 4 + 5 * 4 + 4 });
    // The last block has no row below and loads its own last row and column in their place, eight instructions each.
    let corner = Totals { instructions: first - 1 + 2 * (5 + 1 + 2), vector_memory: 11, lines: 1 + 1 + 4 + 4 + 4 + 24 };
    assert_eq!(of(0, 8), corner);
    assert!(launch_totals(&srad, 1).lines > 0);
}

#[test]
fn nonsense_is_refused_by_name() {
    assert_eq!(refused("srad", &[("rows", 40)]), "rows");
    assert_eq!(refused("srad", &[("columns", 0)]), "columns");
    assert_eq!(refused("srad", &[("iterations", 0)]), "iterations");
    assert_eq!(refused("srad", &[("read_rows", 1 << 20)]), "read_rows");
}
