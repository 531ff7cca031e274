//! The bitonic sort against a lane-by-lane model of its kernel that really sorts.

use crate::lanes::{Lanes, Totals, assert_same, base, launch_totals};
use octavo_program::{Size, Workload};
use octavo_registry::Choice;
use octavo_workload::WORKLOADS;
use octavo_workload::kernels::bitonicsort::BitonicSort;
use octavo_workload::random::generator;
use rand_chacha::rand_core::RngCore;

/// Stage and pass of each launch, as the host loops over them.
fn passes(log2_keys: u32) -> Vec<(u32, u32)> {
    (0..log2_keys).flat_map(|stage| (0..=stage).map(move |pass| (stage, pass))).collect()
}

/// Indices of the two keys that `thread` orders.
fn pair(thread: u64, (stage, pass): (u32, u32)) -> (u64, u64) {
    let distance = 1 << (stage - pass);
    let left = thread % distance + thread / distance * 2 * distance;
    (left, left + distance)
}

fn naive(bs: &BitonicSort, log2_keys: u32, launch: u32, group: u32) -> Lanes {
    let pass = passes(log2_keys)[launch as usize];
    let array = base(bs, "array");
    let threads = || (u64::from(group) * 64..1 << (log2_keys - 1)).take(64);
    let left = || threads().map(|thread| array + 4 * pair(thread, pass).0);
    let right = || threads().map(|thread| array + 4 * pair(thread, pass).1);
    let mut lanes = Lanes::default();
    lanes.load(left());
    lanes.load(right());
    lanes.store(left());
    lanes.store(right());
    lanes
}

#[test]
fn touches_what_every_lane_of_the_kernel_touches() {
    for log2_keys in [1, 2, 3, 4, 5, 6, 7, 8, 10, 13] {
        let bs = BitonicSort::new(log2_keys);
        assert_same(&bs, |launch, group, _| naive(&bs, log2_keys.into(), launch, group));
    }
}

#[test]
fn the_pairs_sort() {
    let mut random = generator(7, 0);
    for log2_keys in [1, 5, 11] {
        let mut keys: Vec<u32> = (0..1 << log2_keys).map(|_| random.next_u32()).collect();
        for pass in passes(log2_keys) {
            for thread in 0..1 << (log2_keys - 1) {
                let (left, right) = pair(thread, pass);
                let ascending = (thread >> pass.0) % 2 == 0;
                if (keys[left as usize] > keys[right as usize]) == ascending {
                    keys.swap(left as usize, right as usize);
                }
            }
        }
        assert!(keys.is_sorted(), "2^{log2_keys} keys");
    }
}

/// MGPUSim v4.2.0 with 4096 keys: 122,304 instructions, of which 6 in each wavefront load kernel arguments, and
/// 61,440 lines;
/// with 65,536 keys 278,528 memory instructions and 1,589,248 lines.
#[test]
fn counts_are_those_recorded_from_the_real_kernel() {
    let totals = |bs: &BitonicSort| {
        let mut sum = Totals::default();
        (0..bs.launches()).for_each(|launch| sum += launch_totals(bs, launch));
        sum
    };
    let (small, large) = (totals(&BitonicSort::new(12)), totals(&BitonicSort::new(16)));
    let wavefronts = 78 * 32;
    assert_eq!(small.lines, 61_440);
    assert_eq!(small.instructions + 6 * wavefronts, 122_304);
    assert_eq!((large.vector_memory, large.lines), (278_528, 1_589_248));
}

#[test]
fn scale_picks_the_nearest_power_of_two() {
    for (scale, log2_keys) in [(1.0, 23), (0.5, 22), (0.0625, 19), (1e-6, 3)] {
        let workload = WORKLOADS.build(&Choice::named("bitonicsort"), &Size { scale, seed: 0 }).unwrap();
        assert_eq!(workload.footprint(), 4 << log2_keys);
    }
}
