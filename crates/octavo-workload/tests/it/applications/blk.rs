use octavo_workload::kernels::blk::Blk;

use super::{LANES, refused};
use crate::lanes::{Lanes, Totals, assert_same, base, launch_totals};

#[test]
fn touches_what_every_lane_of_the_kernel_touches() {
    for options in [2, 256, 2 * 300] {
        let blk = Blk::new(options, 2).unwrap();
        assert_same(&blk, |_, group, wavefront| {
            let threads = || {
                let first = u64::from(group) * 128 + u64::from(wavefront) * LANES;
                (first..first + LANES).filter(|thread| *thread < options / 2)
            };
            let mut lanes = Lanes::default();
            for name in ["StockPrice", "OptionStrike", "OptionYears"] {
                lanes.load(threads().map(|thread| base(&blk, name) + 8 * thread));
            }
            for name in ["CallResult", "PutResult"] {
                lanes.store(threads().map(|thread| base(&blk, name) + 8 * thread));
            }
            lanes
        });
    }
}

#[test]
fn counts_follow_from_the_structure() {
    // 300 pairs: five wavefronts with some, the last with 44; the sixth only looks.
    let found = launch_totals(&Blk::new(600, 1).unwrap(), 0);
    let wavefront = 7 + 10 + 8 + (8 + 2 + 12 + 1 + 103 + 1) + 2 * 3 + 5 + 1;
    assert_eq!(found.instructions, 5 * wavefront + 7 + 1);
    assert_eq!(Totals { instructions: 0, ..found }, Totals { instructions: 0, vector_memory: 25, lines: 5 * 38 });
}

#[test]
fn nonsense_is_refused_by_name() {
    assert_eq!(refused("blk", &[("options", 7)]), "options");
    assert_eq!(refused("blk", &[("iterations", 0)]), "iterations");
}
