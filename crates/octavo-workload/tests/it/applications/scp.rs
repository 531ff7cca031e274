use octavo_workload::kernels::scp::Scp;

use super::{LANES, full_size, refused};
use crate::lanes::{Lanes, Totals, assert_same, base, launch_totals, stream, totals, touched};

#[test]
fn touches_what_every_lane_of_the_kernel_touches() {
    // Fewer pairs than work-groups, more, and a loop over each partial sum's elements.
    for (pairs, elements) in [(3, 1024), (130, 2048), (257, 1024)] {
        let scp = Scp::new(pairs, elements).unwrap();
        assert_same(&scp, |_, group, wavefront| {
            let threads = || (0..LANES).map(|lane| u64::from(wavefront) * LANES + lane);
            let mut lanes = Lanes::default();
            for pair in (u64::from(group)..pairs).step_by(128) {
                for slot in (0..1024).step_by(256) {
                    for turn in (0..elements).step_by(1024) {
                        let element = |thread| 4 * (pair * elements + turn + slot + thread);
                        lanes.load(threads().map(|thread| base(&scp, "A") + element(thread)));
                        lanes.load(threads().map(|thread| base(&scp, "B") + element(thread)));
                    }
                }
                lanes.store(threads().filter(|thread| *thread == 0).map(|_| base(&scp, "C") + 4 * pair));
            }
            lanes
        });
    }
}

#[test]
fn every_element_is_read_once() {
    let scp = Scp::new(130, 1024).unwrap();
    for factor in ["A", "B"] {
        let read = touched(&scp, factor, false);
        assert!(read.len() == 130 * 64 && read.values().all(|&times| times == 1));
    }
    assert_eq!(touched(&scp, "C", true).values().sum::<u32>(), 130);
}

#[test]
fn counts_follow_from_the_structure() {
    // 2 x 4 MB in lines, and a store for each product.
    let found = launch_totals(&*full_size("scp"), 0);
    assert_eq!(found.lines, 2 * 65_536 + 256);
    assert_eq!(found.vector_memory, 2 * 65_536 / 4 + 256);
    // One pair, two turns of a sum: 12 of the set-up, 5 of the pair; for each of four sums 7, two turns of 17 and 11;
    // 3 before the halvings and in each 1 + 3 + 2 + 5, with 5 + 1 and 12 for each addition of who takes part.
    let count = |wavefront| {
        let Totals { instructions, .. } = totals(&stream(&Scp::new(1, 2048).unwrap(), 0, 0, wavefront, 512));
        instructions
    };
    let all = 3 + 9 + 5 + 4 * (7 + 2 * 17 + 11) + 3 + 10 * 11 + (3 + 2 + 4) + 1;
    // The last wavefront adds twice at stride 512 and once at 256; the first in all halvings, and stores.
    assert_eq!(count(3), all + (6 + 2 * 12) + (6 + 12));
    assert_eq!(count(0), all + (6 + 2 * 12) + 9 * (6 + 12) + (6 + 1 + 1 + 1));
}

#[test]
fn nonsense_is_refused_by_name() {
    assert_eq!(refused("scp", &[("elements", 1000)]), "elements");
    assert_eq!(refused("scp", &[("pairs", 0)]), "pairs");
    assert_eq!(refused("scp", &[("pairs", 1 << 38)]), "pairs");
}
