//! The evolutionary program against a lane-by-lane model of its kernels, and what becomes of creatures.

use super::{full_size, refused};
use crate::lanes::{Lanes, assert_same, base};
use octavo_program::Workload;
use octavo_workload::kernels::evolution::{Evolution, Evolving};

#[test]
fn touches_what_every_lane_of_the_kernels_touches() {
    for creatures in [1u64, 64, 100] {
        let all = Evolving::new(creatures, 2, 5);
        let islands = ["island_1", "island_2"].map(|name| base(&all, name));
        assert_same(&all, |launch, group, _| {
            let first = u64::from(group) * 64;
            let threads = || first..creatures.min(first + 64);
            let number = |creature: u64, number: u64| islands[launch as usize % 2] + 8 * (501 * creature + number);
            let mut lanes = Lanes::default();
            if launch % 4 < 2 {
                (1..=500).for_each(|parameter| lanes.load(threads().map(|creature| number(creature, parameter))));
                lanes.store(threads().map(|creature| number(creature, 0)));
            } else {
                let mutated = || threads().filter(|creature| creature % 7 == 0);
                lanes.load(mutated().map(|creature| number(creature, 1 + creature % 500)));
                lanes.store(mutated().map(|creature| number(creature, 1 + creature % 500)));
            }
            lanes
        });
    }
}

#[test]
fn fitness_is_a_sum_of_powers() {
    let evolution = Evolution::new(3, 8);
    for creature in &evolution.islands[1] {
        let expected: f64 = creature
            .iter()
            .zip(&evolution.coefficients)
            .zip(1..)
            .map(|((parameter, coefficient), power)| parameter.powi(power) * coefficient)
            .sum();
        assert!((evolution.fitness(creature) / expected - 1.0).abs() < 1e-12);
    }
}

/// Every new creature has its parameters of its parent of the same rank and of one of the best ten, except for those
/// halved.
#[test]
fn creatures_descend_from_their_rank_and_one_of_the_best() {
    let mut evolution = Evolution::new(40, 2);
    let mut ranked = evolution.islands[0].clone();
    ranked.sort_by(|one, other| evolution.fitness(other).total_cmp(&evolution.fitness(one)));
    let best = evolution.fitness(&ranked[0]);
    assert_eq!(evolution.generation()[0], best);
    let mut mixed = 0;
    for (rank, creature) in evolution.islands[0].iter().enumerate() {
        let halved = |number: usize| rank % 7 == 0 && number == rank % 500;
        let value = |number: usize| creature[number] * if halved(number) { 2.0 } else { 1.0 };
        let of = |parent: &[f64]| (0..500).filter(|&number| value(number) == parent[number]).count();
        let comes_from = |other: &[f64]| {
            (0..500).all(|number| value(number) == ranked[rank][number] || value(number) == other[number])
        };
        assert!(ranked[..10].iter().any(|other| comes_from(other)), "rank {rank}");
        mixed += usize::from((200..300).contains(&of(&ranked[rank])));
    }
    assert!(mixed > 25, "{mixed} have about half of their parameters from either");
}

#[test]
fn the_host_takes_each_island_between_evaluation_and_mutation() {
    let all = Evolving::new(4, 2, 0);
    let said: Vec<_> = all.host_side().exchanges().iter().map(|one| (one.before, one.buffer, one.writes)).collect();
    let generation = |first| [(first, 0, false), (first, 0, true), (first + 1, 1, false), (first + 1, 1, true)];
    assert_eq!(said, [generation(2), generation(6)].concat());
    assert_eq!(all.launches(), 8);
}

#[test]
fn the_size_is_the_recorded_one_and_options_are_checked() {
    let found = full_size("evolution").footprint() as f64 / f64::from(1 << 20);
    assert!((found / 32.0 - 1.0).abs() < 0.001, "{found} MiB");
    for (key, value) in [("population", 0), ("population", 3), ("generations", 0)] {
        assert_eq!(refused("evolution", &[(key, value)]), key);
    }
}
