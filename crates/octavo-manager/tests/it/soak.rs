//! Random histories for as long as anyone likes: nodes of all sizes, memory systems, kinds of memory, two address
//! spaces, capacities that change, plans that are refused. Manager, reference model and machine agree after every
//! event. One in six has idle memory of other GPUs between a GPU and the host; the model of it knows no overlapping
//! plans.
//!
//! A history depends on its number alone. A history that fails is shortened as far as possible, and named.

use std::cell::Cell;
use std::fmt::Debug;

use octavo_manager::{Kind, Manager, MemoryConfig, Topology};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

use crate::differential::{NUMBERED, RESIZED, SPEAKING, THINNED};
use crate::drawn::{any_placement, cramped, guard, numbered, registered, shared, sized, spoken, with_prefetch};
use crate::harness::Harness;
use crate::harness::op::{Mix, Op, World, op};
use crate::reference::{Placement, Rules};
use crate::tiers;

/// How many events a soak is, if not 10 million.
const EVENTS: &str = "OCTAVO_SOAK";
/// The number of the first history, if not 0.
const FIRST: &str = "OCTAVO_SOAK_FIRST";
/// The distance between the numbers of histories, if not 1: a number's remainder decides what is played.
const STEP: &str = "OCTAVO_SOAK_STEP";
/// Pages of the two allocations.
const PAGES: (u32, u32) = (40, 23);

/// Which part of the soak test is played, on which memory system.
#[derive(Clone, Debug)]
enum Part {
    /// A memory system that the model covers.
    Modelled(Rules),
    /// The same, with all kinds of memory and programs that speak.
    Spoken(Rules),
    /// Any other: the machine judges.
    Any(MemoryConfig, Topology, Kind),
    /// A memory system whose frames have numbers and that the model covers: one event after another.
    Numbered(Rules),
    /// Any other whose frames have numbers.
    Sized(MemoryConfig, Topology),
}

impl Part {
    fn draw(number: u64, runner: &mut TestRunner) -> Self {
        match number % 5 {
            0 => Self::Modelled(draw(runner, shared(cramped(any_placement())))),
            1 => Self::Modelled(draw(runner, shared(with_prefetch(cramped(any_placement()))))),
            2 => {
                let kind = [Kind::Managed, Kind::System, Kind::Device, Kind::Pinned][(number / 5) as usize % 4];
                Self::Any(draw(runner, registered()), topology(runner, 8..40), kind)
            }
            3 if number.is_multiple_of(2) => {
                Self::Numbered(draw(runner, numbered(shared(with_prefetch(cramped(any_placement()))))))
            }
            3 => Self::Sized(draw(runner, sized(1..=3)), topology(runner, 6..60)),
            _ => Self::Spoken(draw(runner, spoken(shared(with_prefetch(cramped(any_placement())))))),
        }
    }

    /// The same with a guard against thrashing, where the model knows it; its times are short, or beyond those at which
    /// the lapse no longer grows.
    fn guarded(mut self, runner: &mut TestRunner) -> Self {
        let tick = draw(runner, prop_oneof![3 => Just(1u64), 1 => Just(60_000_000_000)]);
        let drawn = draw(runner, guard(tick));
        if let Self::Modelled(rules) | Self::Spoken(rules) = &mut self {
            rules.guard = Some(drawn).filter(|_| rules.placement != Placement::Ideal);
        }
        self
    }

    fn mix(&self) -> Mix {
        let tick = match self {
            Self::Modelled(Rules { guard: Some(guard), .. }) | Self::Spoken(Rules { guard: Some(guard), .. }) => {
                guard.lapse.div_ceil(4)
            }
            _ => 0,
        };
        Mix { tick, ..self.calm_mix() }
    }

    fn calm_mix(&self) -> Mix {
        match self {
            // Device memory may not fit into what is left of a memory.
            Self::Any(_, _, kind) if kind.stays() => Mix { resize: None, ..RESIZED },
            Self::Modelled(_) | Self::Any(..) => RESIZED,
            Self::Sized(..) => THINNED,
            Self::Numbered(_) => NUMBERED,
            Self::Spoken(_) => SPEAKING,
        }
    }

    /// `None` if foreign data leaves no room.
    fn harness(&self) -> Option<Harness> {
        Some(match self {
            Self::Numbered(rules) if !rules.is_possible() => return None,
            Self::Modelled(rules) | Self::Spoken(rules) | Self::Numbered(rules) => Harness::new(rules),
            Self::Any(config, topology, kind) => {
                let mut harness = Harness::without_model(config, topology, config.placement.name == "ideal");
                harness.second_kind = *kind;
                harness
            }
            Self::Sized(config, topology) => {
                Manager::new(config, topology).ok()?;
                Harness::without_model(config, topology, config.placement.name == "ideal")
            }
        })
    }

    fn gpus(&self) -> usize {
        match self {
            Self::Modelled(rules) | Self::Spoken(rules) | Self::Numbered(rules) => rules.gpus(),
            Self::Any(_, topology, _) | Self::Sized(_, topology) => topology.gpus(),
        }
    }

    /// How many events that was.
    fn play(&self, ops: &[Op]) -> u64 {
        let Some(mut harness) = self.harness() else { return 0 };
        let world = World { gpus: self.gpus(), pages: PAGES };
        world.allocate(&mut harness);
        ops.iter().for_each(|op| harness.apply(op, world, self.mix()));
        harness.settle();
        harness.events
    }
}

fn draw<T: std::fmt::Debug>(runner: &mut TestRunner, strategy: impl Strategy<Value = T>) -> T {
    strategy.new_tree(runner).expect("nothing is filtered out").current()
}

fn topology(runner: &mut TestRunner, pages: std::ops::Range<u32>) -> Topology {
    Topology::of(draw(runner, vec(pages, 1..6)))
}

/// Plays a history; how many events that was.
fn history(number: u64) -> u64 {
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&number.to_le_bytes());
    let config = Config { cases: 1, failure_persistence: None, max_shrink_iters: 20_000, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
    if number % 6 == 5 {
        let lending = draw(&mut runner, tiers::lending());
        let happenings = vec(tiers::happening(), 1..250);
        return follow(number, &mut runner, &lending, &happenings, |happenings| tiers::play(&lending, happenings));
    }
    let part = Part::draw(number, &mut runner);
    let part = if number % 7 == 3 { part.guarded(&mut runner) } else { part };
    follow(number, &mut runner, &part, &vec(op(part.mix()), 1..250), |ops| part.play(ops))
}

/// Draws what happens and plays it; how many events that was.
fn follow<T: Debug>(
    number: u64,
    runner: &mut TestRunner,
    on: &impl Debug,
    things: &impl Strategy<Value = Vec<T>>,
    play: impl Fn(&[T]) -> u64,
) -> u64 {
    let events = Cell::new(0);
    let outcome = runner.run(things, |things| {
        events.set(play(&things));
        Ok(())
    });
    if let Err(TestError::Fail(why, things)) = outcome {
        let things: Vec<String> = things.iter().map(|thing| format!("{thing:?}")).collect();
        panic!("history {number} ({FIRST}={number}): {why}\n{on:?}\n{}", things.join("\n"));
    }
    events.get()
}

fn soak(first: u64, step: u64, events: u64) {
    let (mut number, mut played) = (first, 0);
    while played < events {
        played += history(number);
        number += step;
    }
    println!("{played} events in histories {first} to {}", number - step);
}

#[test]
fn many_histories() {
    soak(0, 1, 20_000);
}

#[expect(clippy::disallowed_methods, reason = "no part of the manager")]
fn asked(variable: &str) -> Option<u64> {
    std::env::var(variable)
        .ok()
        .map(|number| number.parse().unwrap_or_else(|_| panic!("{variable}: expected a number, found {number}")))
}

#[test]
#[ignore = "takes long: `make soak`"]
fn very_many_histories() {
    soak(asked(FIRST).unwrap_or(0), asked(STEP).unwrap_or(1), asked(EVENTS).unwrap_or(10_000_000));
}
