//! The filter against a lane-by-lane model of its kernel that really filters.

use std::cell::RefCell;

use crate::lanes::{Lanes, assert_same, base, launch_totals};
use octavo_program::Size;
use octavo_registry::Choice;
use octavo_workload::WORKLOADS;
use octavo_workload::kernels::fir::Fir;

/// Where a tap's sample comes from.
enum Sample {
    Input(u64),
    History(u64),
}

fn sample(thread: u64, tap: u64, taps: u64) -> Sample {
    if thread >= tap { Sample::Input(thread - tap) } else { Sample::History(taps - (tap - thread)) }
}

/// One wavefront; adds its threads' results to `output`.
fn naive(fir: &Fir, samples: u64, taps: u64, first: u64, output: &RefCell<Vec<u64>>) -> Lanes {
    let threads = || (first..samples).take(64);
    let mut lanes = Lanes::default();
    for tap in 0..taps {
        lanes.load(threads().map(|thread| match sample(thread, tap, taps) {
            Sample::Input(index) => base(fir, "input") + 4 * index,
            Sample::History(index) => base(fir, "history") + 4 * index,
        }));
        for thread in threads() {
            output.borrow_mut()[thread as usize] += (tap + 1) * value(sample(thread, tap, taps), taps);
        }
    }
    lanes.store(threads().map(|thread| base(fir, "output") + 4 * thread));
    lanes
}

/// The signal counts up through history and input, so that sample `i` of the input is `i + taps`.
fn value(sample: Sample, taps: u64) -> u64 {
    match sample {
        Sample::Input(index) => index + taps,
        Sample::History(index) => index,
    }
}

#[test]
fn touches_what_every_lane_of_the_kernel_touches_and_filters() {
    for (samples, taps) in [(256, 16), (1024, 16), (1000, 1), (70, 16), (5, 3), (300, 100), (256, 70)] {
        let fir = Fir::new(samples, taps as u32);
        let output = RefCell::new(vec![0; samples as usize]);
        assert_same(&fir, |_, group, wave| {
            naive(&fir, samples, taps, u64::from(group) * 256 + u64::from(wave) * 64, &output)
        });
        for (index, found) in output.borrow().iter().enumerate() {
            let expected: u64 = (0..taps).map(|tap| (tap + 1) * (index as u64 + taps - tap)).sum();
            assert_eq!(*found, expected, "sample {index}");
        }
    }
}

/// MGPUSim v4.2.0 with 65,536 samples: 401,408 instructions, of which 4 in each wavefront load kernel arguments, and
/// 80,896 + 4,096 lines.
#[test]
fn counts_are_those_recorded_from_the_real_kernel() {
    let found = launch_totals(&Fir::new(65_536, 16), 0);
    let (wavefronts, arguments) = (1024, 4);
    assert_eq!(found.lines, 80_896 + 4_096);
    assert_eq!(found.instructions + wavefronts * arguments, 401_408);
    let found = launch_totals(&Fir::new(1_048_576, 16), 0);
    assert_eq!((found.vector_memory, found.lines), (278_528, 1_359_872));
}

#[test]
fn scale_and_taps_are_checked() {
    let build = |scale, taps: u32| {
        let mut choice = Choice::named("fir");
        choice.options.insert("taps".to_owned(), taps.into());
        WORKLOADS.build(&choice, &Size { scale, seed: 0 })
    };
    assert!((build(1.0, 16).unwrap().footprint() as f64 / f64::from(155 << 20) - 1.0).abs() < 1e-4);
    assert_eq!(build(1.0, 0).err().unwrap().key, "taps");
    assert_eq!(build(0.001, 1_000_000).err().unwrap().key, "taps");
    assert_eq!(build(1e-9, 16).err().unwrap().key, "scale");
}
