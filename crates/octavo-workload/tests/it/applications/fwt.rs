use octavo_program::Workload;
use octavo_workload::kernels::fwt::Fwt;

use super::{LANES, full_size, refused};
use crate::lanes::{Lanes, Totals, assert_same, base, launch_totals, stream, totals};

/// One launch of the sample's host code.
#[derive(Clone, Copy)]
enum Launch {
    Batch2(&'static str, u64),
    Batch1(&'static str, u32),
    Modulate,
}

fn host(log2: u32) -> Vec<Launch> {
    let mut launches = Vec::new();
    for array in ["Data", "Kernel", "", "Data"] {
        if array.is_empty() {
            launches.push(Launch::Modulate);
            continue;
        }
        let mut log2 = log2;
        while log2 > 11 {
            launches.push(Launch::Batch2(array, (1 << log2) / 4));
            log2 -= 2;
        }
        launches.push(Launch::Batch1(array, log2));
    }
    launches
}

fn naive(fwt: &Fwt, elements: u64, launch: Launch, group: u64, wavefront: u64) -> Lanes {
    let thread = move |lane: u64| wavefront * LANES + lane;
    let mut lanes = Lanes::default();
    match launch {
        Launch::Batch2(array, stride) => {
            let element = |lane: u64, part: u64| {
                let position = group * 256 + thread(lane);
                let low = position % stride;
                base(fwt, array) + 4 * ((position - low) * 4 + low + part * stride)
            };
            (0..4).for_each(|part| lanes.load((0..LANES).map(|lane| element(lane, part))));
            (0..4).for_each(|part| lanes.store((0..LANES).map(|lane| element(lane, part))));
        }
        Launch::Batch1(array, log2) => {
            let element =
                |lane: u64, part: u64| base(fwt, array) + 4 * ((group << log2) + thread(lane) + part * (1 << log2) / 4);
            (0..4).for_each(|part| lanes.load((0..LANES).map(|lane| element(lane, part))));
            (0..4).for_each(|part| lanes.store((0..LANES).map(|lane| element(lane, part))));
        }
        Launch::Modulate => {
            for first in (group * 256..elements).step_by(128 * 256) {
                let elements = || (0..LANES).map(|lane| 4 * (first + thread(lane)));
                lanes.load(elements().map(|at| base(fwt, "Kernel") + at));
                lanes.load(elements().map(|at| base(fwt, "Data") + at));
                lanes.store(elements().map(|at| base(fwt, "Data") + at));
            }
        }
    }
    lanes
}

#[test]
fn touches_what_every_lane_of_the_kernels_touches() {
    for log2 in [12, 13, 16] {
        let fwt = Fwt::new(1 << log2).unwrap();
        let launches = host(log2);
        assert_eq!(fwt.launches() as usize, launches.len());
        assert_same(&fwt, |launch, group, wavefront| {
            naive(&fwt, 1 << log2, launches[launch as usize], group.into(), wavefront.into())
        });
    }
}

#[test]
fn counts_follow_from_the_structure() {
    let fwt = full_size("fwt");
    // 2^23: six launches in global memory and one in local memory a transform, and the multiplication.
    assert_eq!(fwt.launches(), 3 * 7 + 1);
    assert_eq!(fwt.launch(0).work_groups, 8192);
    assert_eq!((fwt.launch(6).work_groups, fwt.launch(6).wavefronts_per_group), (4096, 8));
    let small = Fwt::new(1 << 13).unwrap();
    // Each element is loaded and stored: 32 wavefronts, 8 accesses of 4 lines, 46 instructions and the end.
    let global = Totals { instructions: 32 * (33 + 8 + 10 + 1), vector_memory: 256, lines: 1024 };
    assert_eq!(launch_totals(&small, 0), global);
    // 2^11 a work-group: five stages of four and one of two.
    let local = 17 + 4 * (4 + 1 + 8) + 6 + 5 * 35 + 5 + (2 + 3 + 2 + 5 + 2 * 11 + 1) + 10 + 4 * (10 + 1 + 2) + 1;
    assert_eq!(totals(&stream(&small, 1, 3, 7, 512)).instructions, local);
    // 2^10: without the one of two.
    let local = 17 + 4 * (4 + 1 + 8) + 6 + 5 * 35 + 5 + 10 + 4 * (10 + 1 + 2) + 1;
    assert_eq!(totals(&stream(&Fwt::new(1 << 12).unwrap(), 1, 3, 3, 512)).instructions, local);
    // The multiplication of 2^16 elements: two a thread.
    let found = launch_totals(&Fwt::new(1 << 16).unwrap(), 8);
    let wavefronts = 128 * 4;
    let instructions = wavefronts * (6 + 4 + 2 * (8 + 2 + 7 + 1 + 2) + 1);
    assert_eq!(found, Totals { instructions, vector_memory: wavefronts * 6, lines: wavefronts * 24 });
}

#[test]
fn nonsense_is_refused_by_name() {
    assert_eq!(refused("fwt", &[("elements", 5000)]), "elements");
    assert_eq!(refused("fwt", &[("elements", 2048)]), "elements");
}
