//! The alignment against a lane-by-lane model of its kernels, and against a plain fill of the table.

use std::collections::BTreeSet;

use crate::lanes::{Lanes, assert_same, base, launch_totals, touched};
use octavo_program::{Size, Workload};
use octavo_registry::Choice;
use octavo_workload::WORKLOADS;
use octavo_workload::kernels::nw::Nw;

/// Block (row, column) that each work-group of each launch fills, as the host and the kernels' first lines say.
fn block_of(blocks: u64, launch: u64, group: u64) -> (u64, u64) {
    if launch < blocks {
        let diagonal = launch + 1;
        (diagonal - 1 - group, group)
    } else {
        let diagonal = 2 * blocks - 1 - launch;
        (blocks - 1 - group, group + blocks - diagonal)
    }
}

fn naive(nw: &Nw, length: u64, block: u64, launch: u64, group: u64) -> Lanes {
    let (input, reference) = (base(nw, "input_itemsets"), base(nw, "reference"));
    let blocks = length / block;
    let (down, right) = block_of(blocks, launch, group);
    let at =
        |table: u64, row: u64, column: u64| table + 4 * ((down * block + row) * (length + 1) + right * block + column);
    let threads = || 1..=block;
    let mut lanes = Lanes::default();
    if launch < blocks {
        lanes.load([at(input, 0, 0)]);
    }
    threads().for_each(|row| lanes.load(threads().map(|column| at(reference, row, column))));
    lanes.load(threads().map(|row| at(input, row, 0)));
    lanes.load(threads().map(|column| at(input, 0, column)));
    threads().for_each(|row| lanes.store(threads().map(|column| at(input, row, column))));
    lanes
}

#[test]
fn touches_what_every_lane_of_the_kernel_touches() {
    for (length, block) in [(16, 16), (80, 16), (96, 32), (192, 64)] {
        let nw = Nw::new(length, block).unwrap();
        assert_same(&nw, |launch, group, _| naive(&nw, length, block, launch.into(), group.into()));
    }
}

/// Every block once, after the three above and left of it.
#[test]
fn blocks_come_after_those_they_need() {
    let (length, block, blocks) = (112, 16, 7);
    let nw = Nw::new(length, block).unwrap();
    let mut done = BTreeSet::new();
    for launch in 0..nw.launches() {
        let groups = nw.launch(launch).work_groups;
        let now: Vec<_> = (0..groups).map(|group| block_of(blocks, launch.into(), group.into())).collect();
        for &(down, right) in &now {
            let needed = [(down.wrapping_sub(1), right), (down, right.wrapping_sub(1))];
            assert!(needed.iter().all(|(d, r)| *d >= blocks || *r >= blocks || done.contains(&(*d, *r))));
        }
        now.into_iter().for_each(|at| assert!(done.insert(at), "{at:?} twice"));
    }
    assert_eq!(done.len() as u64, blocks * blocks);
    // All scores except the first row and column are written, and each similarity is read once.
    let written: u32 = touched(&nw, "input_itemsets", true).values().sum();
    let read: u32 = touched(&nw, "reference", false).values().sum();
    assert_eq!(written, read);
    assert!(touched(&nw, "output_itemsets", false).is_empty());
}

/// A block of 16 in the first kernel: corner 31, rows 16 x 13 + 3, column 20, row above 6, antidiagonals
/// 31 x (9 + 2 + 10 + 7) and what the first of each half has more, stores 16 x 14 and 8 and a branch, the end 1.
#[test]
fn counts_are_those_of_the_compiled_kernel() {
    let nw = Nw::new(16, 16).unwrap();
    assert_eq!(nw.launches(), 1);
    let totals = launch_totals(&nw, 0);
    let corner = 3 + 1 + 17 + 1 + 1 + 1 + 6 + 1 + 1 + 1;
    let rows = (12 + 1 + 3 + 1) + 15 * (9 + 1 + 3 + 1);
    let borders = (6 + 1 + 3 + 1 + 2 + 1 + 1 + 14 + 1 + 1 + 1 + 1 + 1) + (1 + 1 + 1 + 1 + 1 + 1);
    let diagonal = 5 + (10 + 3);
    let diagonals = 31 * diagonal + (23 + 15 * 9) + (3 + 3) + (25 + 14 * 8);
    let stores = (20 + 1 + 1) + 15 * (12 + 1 + 1) + 1;
    assert_eq!(totals.instructions, corner + rows + borders + diagonals + stores + 1);
    assert_eq!(totals.vector_memory, 1 + 16 + 2 + 16);
}

#[test]
fn the_input_is_the_published_one() {
    let workload = WORKLOADS.build(&Choice::named("nw"), &Size { scale: 1.0, seed: 0 }).unwrap();
    assert_eq!(workload.footprint(), 3 * 4 * 2049 * 2049);
    assert_eq!(workload.launches(), 2 * 128 - 1);
}

#[test]
fn what_the_kernel_would_leave_out_is_refused_by_name() {
    assert_eq!(Nw::new(100, 16).err().unwrap().key, "length");
    assert_eq!(Nw::new(96, 48).err().unwrap().key, "block");
}
