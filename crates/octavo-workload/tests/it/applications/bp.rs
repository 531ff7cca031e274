//! The training step against a thread-by-thread model of its kernels.

use super::{full_size, refused};
use crate::lanes::{Lanes, Totals, assert_same, base, launch_totals};
use octavo_workload::kernels::bp::Bp;

/// Threads of a wavefront as (x, y) in their group.
fn threads(wavefront: u64) -> impl Iterator<Item = (u64, u64)> + Clone {
    (wavefront * 64..wavefront * 64 + 64).map(|thread| (thread % 16, thread / 16))
}

fn index(group: u64, (x, y): (u64, u64)) -> u64 {
    17 * 16 * group + 17 * y + x + 1 + 17
}

fn forward(bp: &Bp, group: u64, wavefront: u64) -> Lanes {
    let [input, weights, sums] = ["input", "input_hidden", "hidden_partial_sum"].map(|name| base(bp, name));
    let all = || threads(wavefront);
    let column = || all().filter(|(x, _)| *x == 0);
    let mut lanes = Lanes::default();
    lanes.load(column().map(|(_, y)| input + 4 * (16 * group + y + 1)));
    lanes.load(all().map(|at| weights + 4 * index(group, at)));
    lanes.store(all().map(|at| weights + 4 * index(group, at)));
    lanes.store(column().map(|(_, y)| sums + 4 * (group * 16 + y)));
    lanes
}

fn back(bp: &Bp, group: u64, wavefront: u64) -> Lanes {
    let [input, weights, changes, errors] =
        ["input", "input_hidden", "input_prev_weights", "hidden_delta"].map(|name| base(bp, name));
    let all = || threads(wavefront);
    let of = |matrix: u64| all().map(move |at| matrix + 4 * index(group, at));
    let error = || all().map(|(x, _)| errors + 4 * (x + 1));
    let unit = || all().map(|(_, y)| input + 4 * (16 * group + y + 1));
    let mut lanes = Lanes::default();
    lanes.load(error());
    lanes.load(of(changes));
    lanes.load(unit());
    lanes.load(of(weights));
    lanes.store(of(weights));
    lanes.load(error());
    lanes.load(of(changes));
    lanes.load(unit());
    lanes.store(of(changes));
    let bias = || all().filter(|(_, y)| *y == 0 && group == 0).map(|(x, _)| 4 * (x + 1));
    lanes.load(bias().map(|at| changes + at));
    lanes.load(bias().map(|at| errors + at));
    lanes.load(bias().map(|at| weights + at));
    lanes.store(bias().map(|at| weights + at));
    lanes.load(bias().map(|at| changes + at));
    lanes.load(bias().map(|at| errors + at));
    lanes.store(bias().map(|at| changes + at));
    lanes
}

#[test]
fn touches_what_every_lane_of_the_kernels_touches() {
    for inputs in [16, 64, 400] {
        let bp = Bp::new(inputs);
        assert_same(&bp, |launch, group, wavefront| match launch {
            0 => forward(&bp, group.into(), wavefront.into()),
            _ => back(&bp, group.into(), wavefront.into()),
        });
    }
}

/// Forward, a wavefront: 8 + 3 + 1 + 3 + 2 up to its inputs, 12 and a barrier's 3, a load, 4 + 1 + 2, 3, then 2 + 1 + 2
/// and 3, 1 and four halvings of 5 + 3 + 3 + 1, 2, a store, 3 and 2 + 9 + 1 and a store, the end. Four wavefronts add in
/// the first two halvings, two in the third and one in the last: 6 + 1 + 3 each.
#[test]
fn counts_are_those_of_the_compiled_kernels() {
    let bp = Bp::new(16);
    let wavefront = (8 + 3 + 1 + 3 + 1) + (1 + 1 + 11 + 3 + 1) + (4 + 1 + 2 + 3) + (2 + 1 + 2 + 3);
    let sums = 1 + 4 * (5 + 3 + 3 + 1) + (1 + 1 + 1 + 3) + (2 + 9 + 1 + 1) + 1;
    let totals = launch_totals(&bp, 0);
    assert_eq!(totals.instructions, 4 * (wavefront + sums) + (4 + 4 + 2 + 1) * (6 + 1 + 3));
    assert_eq!(totals.vector_memory, 4 * 4);
    let totals = launch_totals(&bp, 1);
    let wavefront = (1 + 1 + 21) + (4 + 2 + 1) + (3 + 1 + 4 + 1) + (3 + 1 + 4 + 1) + 3 + 2 + 1;
    let bias = (4 + 3 + 2 + 1) + (1 + 3 + 1) + (2 + 1 + 2 + 1);
    assert_eq!(totals.instructions, 4 * wavefront + bias);
    assert_eq!(Totals { instructions: 0, lines: 0, ..totals }.vector_memory, 4 * 9 + 7);
}

#[test]
fn the_input_is_the_recorded_choice() {
    let inputs = 1 << 18;
    assert_eq!(full_size("bp").footprint(), 4 * ((inputs + 1) * (1 + 2 * 17) + inputs + 17));
    assert_eq!(refused("bp", &[("inputs", 100)]), "inputs");
}
