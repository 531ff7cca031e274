use octavo_program::Workload;
use octavo_workload::kernels::cons::Cons;

use super::{LANES, refused};
use crate::lanes::{Lanes, Totals, assert_same, base, launch_totals, stream, totals, touched};

/// Both kernels as the sample has them; `steps` (down, right) from one of a thread's elements to the next.
fn naive(cons: &Cons, (width, height): (i64, i64), launch: u32, group: i64, wavefront: u64) -> Lanes {
    let rows = launch.is_multiple_of(2);
    let (from, to) = if rows { ("Input", "Buffer") } else { ("Buffer", "Output") };
    let place = |lane: u64, step: i64| {
        let thread = (wavefront * LANES + lane) as i64;
        let (tx, ty) = (thread % 16, thread / 16);
        if rows {
            let tiles = width / 128;
            ((group % tiles * 8 + step) * 16 + tx, group / tiles * 4 + ty)
        } else {
            let tiles = width / 16;
            (group % tiles * 16 + tx, (group / tiles * 8 + step) * 8 + ty)
        }
    };
    let touch = |buffer: &str, step: i64| {
        let inside =
            (0..LANES).map(|lane| place(lane, step)).filter(|(x, y)| (0..width).contains(x) && (0..height).contains(y));
        inside.map(|(x, y)| base(cons, buffer) + 4 * (y * width + x) as u64).collect::<Vec<_>>()
    };
    let mut lanes = Lanes::default();
    (0..8).chain([-1, 8]).for_each(|step| lanes.load(touch(from, step)));
    (0..8).for_each(|step| lanes.store(touch(to, step)));
    lanes
}

#[test]
fn touches_what_every_lane_of_the_kernels_touches() {
    for (width, height) in [(128, 64), (384, 192), (256, 64)] {
        let cons = Cons::new(width, height, 2).unwrap();
        assert_eq!(cons.launches(), 4);
        assert_same(&cons, |launch, group, wavefront| {
            naive(&cons, (width as i64, height as i64), launch, group.into(), wavefront.into())
        });
    }
}

#[test]
fn halos_are_read_twice_and_every_result_is_written_once() {
    let cons = Cons::new(384, 192, 1).unwrap();
    // Of 24 lines of a row, the two on either side of the two borders of tiles are read twice.
    let input = touched(&cons, "Input", false);
    assert_eq!((input.len(), input.values().filter(|&&times| times == 2).count()), (192 * 24, 192 * 4));
    // Of 192 rows, eight on either side of the two borders of tiles are read twice.
    let between = touched(&cons, "Buffer", false);
    assert_eq!((between.len(), between.values().filter(|&&times| times == 2).count()), (192 * 24, 32 * 24));
    for buffer in ["Buffer", "Output"] {
        let written = touched(&cons, buffer, true);
        assert!(written.len() == 192 * 24 && written.values().all(|&times| times == 1));
    }
}

#[test]
fn counts_follow_from_the_structure() {
    let cons = Cons::new(384, 192, 1).unwrap();
    // A group in the middle: ten loads and eight stores of four lines.
    let of = |launch, group| totals(&stream(&cons, launch, group, 0, 512));
    let rows =
        35 + 8 + (6 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 3) + 1 + 9 + (2 + 1) + 7 + (42 + 30 + 72 + 28 + 30 + 26) + 8 + 1;
    assert_eq!(of(0, 1), Totals { instructions: rows, vector_memory: 18, lines: 72 });
    // At the left border one load less, at the right one also its two instructions.
    assert_eq!(of(0, 0), Totals { instructions: rows - 1, vector_memory: 17, lines: 68 });
    assert_eq!(of(0, 2), Totals { instructions: rows - 3, vector_memory: 17, lines: 68 });
    let total = launch_totals(&cons, 1);
    assert_eq!(total.lines, 192 * 24 * 2 + 32 * 24);
}

#[test]
fn nonsense_is_refused_by_name() {
    assert_eq!(refused("cons", &[("width", 64)]), "width");
    assert_eq!(refused("cons", &[("height", 100)]), "height");
    assert_eq!(refused("cons", &[("iterations", 0)]), "iterations");
}
