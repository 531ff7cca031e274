//! Nearest neighbours against a lane-by-lane model of the kernel.

use crate::lanes::{Lanes, Totals, assert_same, base, launch_totals};
use octavo_program::Size;
use octavo_registry::Choice;
use octavo_workload::WORKLOADS;
use octavo_workload::kernels::nearestneighbor::NearestNeighbor;

#[test]
fn touches_what_every_lane_of_the_kernel_touches() {
    for records in [1, 63, 256, 1000] {
        let nn = NearestNeighbor::new(records);
        let (locations, distances) = (base(&nn, "locations"), base(&nn, "distances"));
        assert_same(&nn, |_, group, wavefront| {
            let thread = u64::from(group) * 256 + u64::from(wavefront) * 64;
            let mut lanes = Lanes::default();
            let records = || (thread..thread + 64).filter(|record| *record < records);
            lanes.load(records().map(|record| locations + 8 * record));
            lanes.store(records().map(|record| distances + 4 * record));
            lanes
        });
    }
}

/// A wavefront with records: 19 instructions, three waits, a load of 8 lines, a store of 4 and its end; one without
/// stops after the first 5, a wait and its end.
#[test]
fn counts_are_those_of_the_compiled_kernel() {
    let totals = launch_totals(&NearestNeighbor::new(256 + 128), 0);
    assert_eq!(totals, Totals { instructions: 6 * 25 + 2 * 7, vector_memory: 6 * 2, lines: 6 * 12 });
}

#[test]
fn the_footprint_is_the_recorded_choice() {
    let workload = WORKLOADS.build(&Choice::named("nearestneighbor"), &Size { scale: 1.0, seed: 0 }).unwrap();
    assert_eq!(workload.footprint(), 48 << 20);
}
