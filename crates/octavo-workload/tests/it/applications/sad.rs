//! The sums against a thread-by-thread model of the three kernels.

use super::{full_size, refused};
use crate::lanes::{Lanes, assert_same, base, launch_totals};
use octavo_workload::kernels::sad::Sad;

/// The first kernel: 61 threads for the 4 x 4 block at (x, y), counted in blocks.
fn block(sad: &Sad, (width, height): (u64, u64), (x, y): (u64, u64)) -> Lanes {
    let [frame, reference, sads] = ["frame", "ref", "sads"].map(|name| base(sad, name));
    let mut lanes = Lanes::default();
    lanes.load((0..16).map(|thread| frame + 2 * ((4 * y + thread / 4) * width + 4 * x + thread % 4)));
    for turn in 0..6 {
        for row in 0..4 {
            for column in 0..6 {
                let places = (0..61).map(|thread| thread * 18 + turn * 3).filter(|place| *place < 1089);
                lanes.load(places.map(|place| {
                    let x = (4 * x as i64 - 16 + place % 33 + column).clamp(0, width as i64 - 1);
                    let y = (4 * y as i64 - 16 + place / 33 + row).clamp(0, height as i64 - 1);
                    reference + 2 * (y * width as i64 + x) as u64
                }));
            }
        }
    }
    let (across, count) = (width / 16, width * height / 256);
    let macroblock = y / 4 * across + x / 4;
    let sums = sads + 2 * 1096 * (count * 25 + macroblock * 16 + y % 4 * 4 + x % 4);
    for start in (0..274).step_by(32) {
        lanes.store((start..start + 32).filter(|index| *index < 274).map(|index| sums + 8 * index));
    }
    lanes
}

/// The other two: blocks of 32 x 4 and of 32 threads for each macroblock.
fn larger(sad: &Sad, count: u64, macroblock: u64, wavefront: Option<u64>) -> Lanes {
    let sads = base(sad, "sads");
    let at = |array: u64, pair: u64| sads + 2 * (array * 1096) + 4 * pair;
    let mut lanes = Lanes::default();
    for turn in 0..18 {
        let threads: Vec<(u64, u64)> = match wavefront {
            Some(wave) => (64 * wave..64 * wave + 64).map(|thread| (thread % 32, thread / 32)).collect(),
            None => (0..32).map(|thread| (thread, 0)).collect(),
        };
        let threads = || threads.iter().map(|(x, y)| (x + 32 * turn, y % 2, y / 2)).filter(|(pair, ..)| *pair < 545);
        let mut access = |store: bool, array: &dyn Fn(u64, u64) -> u64| {
            let addresses = threads().map(|(pair, tx, ty)| at(array(tx, ty), pair));
            if store { lanes.store(addresses) } else { lanes.load(addresses) }
        };
        if wavefront.is_some() {
            for next in [0, 1, 4, 5] {
                access(false, &|tx, ty| count * 25 + ty * 8 + tx * 2 + macroblock * 16 + next);
            }
            for next in [0, 1] {
                access(true, &|tx, ty| count * 17 + ty * 4 + tx * 2 + macroblock * 8 + next);
            }
            for next in [0, 2] {
                access(true, &|tx, ty| count * 9 + ty * 4 + tx + macroblock * 8 + next);
            }
            access(true, &|tx, ty| count * 5 + ty * 2 + tx + macroblock * 4);
        } else {
            (0..4).for_each(|next| access(false, &|_, _| count * 5 + macroblock * 4 + next));
            (0..2).for_each(|next| access(true, &|_, _| count * 3 + macroblock * 2 + next));
            (0..2).for_each(|next| access(true, &|_, _| count + macroblock * 2 + next));
            access(true, &|_, _| macroblock);
        }
    }
    lanes
}

#[test]
fn touches_what_every_lane_of_the_kernels_touches() {
    for (width, height) in [(16, 16), (48, 32), (96, 48)] {
        let sad = Sad::new(width, height).unwrap();
        let count = width * height / 256;
        assert_same(&sad, |launch, group, wavefront| match (launch, u64::from(group)) {
            (0, group) => block(&sad, (width, height), (group % (width / 4), group / (width / 4))),
            (1, group) => larger(&sad, count, group, Some(wavefront.into())),
            (_, group) => larger(&sad, count, group, None),
        });
    }
}

/// The first kernel: 6 + 1 + 6 + 13 + 1, 2 + 1 + 7 and a barrier, 19; six turns of 30, twice 76 + 3 + 2 + 12 + 4 + 1 + 100,
/// and 16; 2 and a barrier; 1 + 1 + 27 and nine times 5 + 1 + 1 + 4; the end.
#[test]
fn counts_are_those_of_the_compiled_kernels() {
    let sad = Sad::new(16, 16).unwrap();
    let totals = launch_totals(&sad, 0);
    let group = (6 + 1 + 6 + 13 + 1) + (2 + 1 + 7 + 3 + 19);
    let turns = 6 * (30 + 2 * (76 + 3 + 2 + 12 + 4 + 1 + 100) + 16);
    let sums = 2 + 3 + (2 + 27) + 9 * (5 + 1 + 1 + 4) + 1;
    assert_eq!(totals.instructions, 16 * (group + turns + sums));
    assert_eq!(totals.vector_memory, 16 * (1 + 144 + 9));
    let totals = launch_totals(&sad, 1);
    assert_eq!(totals.instructions, 2 * ((3 + 1 + 60) + 18 * (8 + 4 + 2 + 1 + 18 + 5 + 2) + 1));
    let totals = launch_totals(&sad, 2);
    assert_eq!(totals.instructions, (2 + 1 + 32) + 18 * (9 + 4 + 18 + 1 + 5 + 5 + 2) + 1);
}

#[test]
fn the_frame_is_the_recorded_choice() {
    assert_eq!(full_size("sad").footprint(), 2 * 2 * 352 * 288 + 2 * 41 * 1096 * 396);
    assert_eq!(refused("sad", &[("width", 100)]), "width");
    assert_eq!(refused("sad", &[("height", 0)]), "height");
}
