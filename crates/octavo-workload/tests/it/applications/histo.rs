//! The histogram against a thread-by-thread model of its two kernels.

use crate::lanes::{Lanes, assert_same, base, launch_totals};
use octavo_program::{Size, Workload};
use octavo_registry::Choice;
use octavo_workload::WORKLOADS;
use octavo_workload::kernels::histo::Histo;

fn count(histo: &Histo, words: u64, group: u64, first: u64) -> Lanes {
    let (data, partial) = (base(histo, "data"), base(histo, "partial_histograms"));
    let mut lanes = Lanes::default();
    // Each thread's loop, side by side.
    for turn in 0.. {
        let places = (first..first + 64).map(|thread| group * 192 + thread + turn * 192 * 240);
        let places: Vec<u64> = places.filter(|place| *place < words).collect();
        if places.is_empty() {
            break;
        }
        lanes.load(places.iter().map(|place| data + 4 * place));
    }
    for turn in 0..2 {
        let bins = (first..first + 64).map(|thread| thread + 192 * turn).filter(|bin| *bin < 256);
        lanes.store(bins.map(|bin| partial + 4 * (group * 256 + bin)));
    }
    lanes
}

fn merge(histo: &Histo, bin: u64, first: u64) -> Lanes {
    let (partial, histogram) = (base(histo, "partial_histograms"), base(histo, "histogram"));
    let mut lanes = Lanes::default();
    lanes.load((first..first + 64).filter(|part| *part < 240).map(|part| partial + 4 * (part * 256 + bin)));
    lanes.store((first..first + 64).filter(|thread| *thread == 0).map(|_| histogram + 4 * bin));
    lanes
}

#[test]
fn touches_what_every_lane_of_the_kernel_touches() {
    for words in [1, 100, 46_080, 200_001] {
        let histo = Histo::new(words, 2).unwrap();
        assert_eq!(histo.launches(), 4);
        assert_same(&histo, |launch, group, wavefront| match launch % 2 {
            0 => count(&histo, words, group.into(), u64::from(wavefront) * 64),
            _ => merge(&histo, group.into(), u64::from(wavefront) * 64),
        });
    }
}

/// The first kernel on one full turn: its prologue is 12 with wait and barrier, a turn 27 with load and wait, the
/// bins 6 with their barrier and 21 with its store for each 64 bins, the end 1. The second: 30 up to the sum, 9 a
/// halving and 7 for wavefronts that add, and so on.
#[test]
fn counts_are_those_of_the_compiled_kernels() {
    let histo = Histo::new(192 * 240, 1).unwrap();
    let totals = launch_totals(&histo, 0);
    let (wavefronts, bins) = (240 * 3, 240 * 4);
    assert_eq!(totals.instructions, wavefronts * (14 + 6 + 23 + 6 + 1) + bins * 21);
    assert_eq!(totals.lines, wavefronts * 4 + bins * 4);
    let totals = launch_totals(&histo, 1);
    assert_eq!(totals.lines, 256 * (240 + 1));
    // Of four wavefronts two add in the first halving, one in each of the seven others.
    let (group, adding) = (4 * (31 + 8 * 9 + 4 + 1), 2 + 7);
    assert_eq!(totals.instructions, 256 * (group + adding * 7 + 7 + 1));
}

#[test]
fn the_input_is_the_published_one() {
    let workload = WORKLOADS.build(&Choice::named("histo"), &Size { scale: 1.0, seed: 0 }).unwrap();
    assert_eq!(workload.footprint(), 4 * 1920 * 1080 + 4 * 240 * 256 + 4 * 256);
    assert_eq!(workload.launches(), 32);
    assert_eq!(Histo::new(10, 0).err().unwrap().key, "runs");
}
