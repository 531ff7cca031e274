//! The clustering against a thread-by-thread model of its kernel, and its trials against the host's loops.

use super::{full_size, refused};
use crate::lanes::{Lanes, assert_same, base, launch_totals};
use octavo_program::Workload;
use octavo_workload::kernels::streamcluster::{Points, Streamcluster, Trial};

fn naive(all: &Streamcluster, (count, dimensions): (u64, u64), trial: &Trial, first: u64) -> Lanes {
    let [coordinates, records, table, switched, work] =
        ["coord", "p", "center_table", "switch_membership", "work_mem"].map(|name| base(all, name));
    let stride = u64::from(trial.centres) + 1;
    let threads = || (first..first + 64).filter(|thread| *thread < count);
    let of = |switches: bool| threads().filter(move |thread| trial.switches(*thread as usize) == switches);
    let mut lanes = Lanes::default();
    (0..dimensions).for_each(|dim| lanes.load(threads().map(|thread| coordinates + 4 * (dim * count + thread))));
    lanes.load(threads().map(|thread| records + 32 * thread));
    lanes.load(threads().map(|thread| records + 32 * thread + 24));
    lanes.load(of(false).map(|thread| records + 32 * thread + 16));
    let centre = |thread: u64| trial.assigned[thread as usize];
    lanes.load(of(false).map(|thread| table + 4 * u64::from(centre(thread))));
    let own = |thread: u64| {
        let column = if trial.switches(thread as usize) { trial.centres } else { trial.table[centre(thread) as usize] };
        work + 4 * (thread * stride + u64::from(column))
    };
    lanes.load(of(false).map(own));
    lanes.store(of(true).map(|thread| switched + thread));
    lanes.load(of(true).map(|thread| records + 32 * thread + 24));
    lanes.load(of(true).map(own));
    lanes.store(threads().map(own));
    lanes
}

#[test]
fn touches_what_every_lane_of_the_kernel_touches() {
    for (count, dimensions, launches) in [(1000, 3, 6), (130, 16, 3), (5, 1, 2), (1, 2, 1)] {
        let all = Streamcluster::new(&Points::random(count, dimensions, 2), launches, 2);
        assert_eq!(all.launches(), launches);
        assert_same(&all, |launch, group, wavefront| {
            let first = u64::from(group) * 512 + u64::from(wavefront) * 64;
            naive(&all, (count as u64, dimensions as u64), &all.trials()[launch as usize], first)
        });
    }
}

/// The host's part of a trial, with the matrix that the kernel fills; the centre of each point after it.
fn decide(points: &Points, trial: &Trial, price: f64) -> Vec<u32> {
    let candidate = points.distances(trial.candidate as usize);
    let cost = |point: usize| points.distances(trial.assigned[point] as usize)[point];
    let centres = trial.centres as usize;
    let mut matrix = vec![vec![0.0; centres + 1]; points.count];
    for (point, row) in matrix.iter_mut().enumerate() {
        let (old, new) = (f64::from(cost(point)), f64::from(candidate[point]));
        assert_eq!(trial.switches(point), new < old);
        let column = if new < old { centres } else { trial.table[trial.assigned[point] as usize] as usize };
        row[column] += if new < old { new - old } else { old - new };
    }
    let kept: Vec<f64> = (0..centres).map(|at| price + matrix.iter().map(|row| row[at]).sum::<f64>()).collect();
    let gained = matrix.iter().map(|row| row[centres]).sum::<f64>();
    let total = price + gained - kept.iter().filter(|kept| **kept > 0.0).sum::<f64>();
    let closed = |point: usize| kept[trial.table[trial.assigned[point] as usize] as usize] > 0.0;
    let moves = |point: usize| total < 0.0 && (trial.switches(point) || closed(point));
    (0..points.count).map(|point| if moves(point) { trial.candidate } else { trial.assigned[point] }).collect()
}

#[test]
fn trials_follow_one_another_as_the_host_makes_them() {
    let points = Points::random(300, 4, 7);
    let all = Streamcluster::new(&points, 40, 7);
    // The price is half the sum of distances from the first point, halved until there were ten centres.
    let half: f64 = points.distances(0).iter().map(|distance| f64::from(*distance)).sum::<f64>() / 2.0;
    let fits = |price: f64| {
        all.trials().windows(2).filter(|pair| decide(&points, &pair[0], price) == pair[1].assigned).count()
    };
    let best = (0..12).map(|halvings| fits(half / f64::from(1 << halvings))).max().unwrap();
    assert_eq!(best, 39, "one price explains all trials");
    let changed = all.trials().windows(2).filter(|pair| pair[0].assigned != pair[1].assigned).count();
    assert!((3..39).contains(&changed), "{changed} of 39 candidates became centres");
    for trial in all.trials() {
        let used: std::collections::BTreeSet<u32> = trial.assigned.iter().copied().collect();
        let mut numbers: Vec<u32> = used.iter().map(|centre| trial.table[*centre as usize]).collect();
        numbers.dedup();
        assert!(numbers.is_sorted() && numbers.len() == used.len() && *numbers.last().unwrap() < trial.centres);
    }
    assert!(all.trials()[0].centres >= 10);
}

/// One point, which is its own centre and stays: 2 + 1 + 3 + 1 + 10 up to the dimensions, 5 + 1 + 1 + 5 + 1 + 3 for each,
/// then 8 + 2 + 6 + 1 + 5, 6 + 1 + 2 + 1 + 3 + 1 + 1 + 4, 1 + 3, 1 + 2 + 1 and the end. Seven wavefronts have no point.
#[test]
fn counts_are_those_of_the_compiled_kernel() {
    let all = Streamcluster::new(&Points::random(1, 2, 0), 1, 0);
    let totals = launch_totals(&all, 0);
    let with = (2 + 1 + 3 + 1 + 10) + 2 * (5 + 2 + 5 + 1 + 3) + (8 + 2 + 6 + 1 + 5) + 19 + 4 + (1 + 2 + 1) + 1;
    assert_eq!(totals.instructions, with + 7 * (2 + 1 + 3 + 1));
    assert_eq!(totals.vector_memory, 2 + 2 + 3 + 1);
}

#[test]
fn the_input_is_the_programs_own() {
    let full = full_size("streamcluster");
    let (points, work) = (65_536, full.buffers().last().unwrap().bytes);
    assert_eq!(full.footprint() - work, points * (4 * 256 + 32 + 4 + 1));
    assert!(work.is_multiple_of(4 * (points + 1)) && work / (4 * (points + 1)) > 10);
    for (key, value) in [("points", 0), ("dimensions", 0), ("launches", 0), ("launches", 1001)] {
        assert_eq!(refused("streamcluster", &[(key, value)]), key);
    }
}
