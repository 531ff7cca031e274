//! Random histories for as long as anyone likes: nodes of all sizes, memory systems, kinds of memory, two address spaces,
//! capacities that change, plans that are refused. Manager, reference model and machine agree after every event.

use octavo_manager::{Kind, MemoryConfig, Topology};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::differential::{RESIZED, THINNED, any_placement, cramped, registered, sized, with_tree};
use crate::harness::Harness;
use crate::harness::op::{Mix, Op, World, op};
use crate::reference::Rules;

/// How many events a soak is, if not 10 million.
const VARIABLE: &str = "OCTAVO_SOAK";

/// What is played, on which memory system.
enum Part {
    /// One that the model knows.
    Modelled(Rules),
    /// Any other: the machine judges.
    Any(MemoryConfig, Topology, Kind),
    /// One whose frames have numbers.
    Sized(MemoryConfig, Topology),
}

struct Soak {
    runner: TestRunner,
    events: u64,
}

impl Soak {
    fn draw<T: std::fmt::Debug>(&mut self, strategy: impl Strategy<Value = T>) -> T {
        strategy.new_tree(&mut self.runner).expect("nothing is filtered out").current()
    }

    fn topology(&mut self, pages: std::ops::Range<u32>) -> Topology {
        Topology::of(self.draw(vec(pages, 1..6)))
    }

    fn part(&mut self, number: u64) -> Part {
        match number % 4 {
            0 => Part::Modelled(self.draw(cramped(any_placement()))),
            1 => Part::Modelled(self.draw(with_tree(cramped(any_placement())))),
            2 => {
                let kind = [Kind::Managed, Kind::System, Kind::Device, Kind::Pinned][(number / 4) as usize % 4];
                Part::Any(self.draw(registered()), self.topology(8..40), kind)
            }
            _ => Part::Sized(self.draw(sized(1..=3)), self.topology(6..60)),
        }
    }

    fn play(&mut self, part: Part) {
        let pages = (40, 23);
        match part {
            Part::Modelled(rules) => {
                // Where blocks leave whose pages are in refused plans, the model's order is not exact.
                let mix = Mix { failing: !rules.evicts_blocks, ..RESIZED };
                self.history(Harness::new(&rules), rules.gpus(), pages, mix);
            }
            Part::Any(config, topology, kind) => {
                let mut harness = Harness::without_model(&config, &topology, config.placement.name == "ideal");
                harness.second_kind = kind;
                // Device memory may not fit into what is left of a memory.
                let mix = if kind.stays() { Mix { resize: None, ..RESIZED } } else { RESIZED };
                self.history(harness, topology.gpus(), pages, mix);
            }
            Part::Sized(config, topology) => {
                // Foreign data may leave no room.
                if octavo_manager::Manager::new(&config, &topology).is_ok() {
                    let harness = Harness::without_model(&config, &topology, config.placement.name == "ideal");
                    self.history(harness, topology.gpus(), pages, THINNED);
                }
            }
        }
    }

    fn history(&mut self, mut harness: Harness, gpus: usize, pages: (u32, u32), mix: Mix) {
        let world = World { gpus, pages };
        let ops: Vec<Op> = self.draw(vec(op(mix), 50..200));
        world.allocate(&mut harness);
        ops.iter().for_each(|op| harness.apply(op, world, mix));
        harness.settle();
        self.events += harness.events;
    }
}

fn soak(events: u64) {
    let runner = TestRunner::new_with_rng(Config::default(), TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let mut soak = Soak { runner, events: 0 };
    let mut number = 0;
    while soak.events < events {
        let part = soak.part(number);
        soak.play(part);
        number += 1;
    }
    println!("{} events in {number} histories", soak.events);
}

#[test]
fn many_histories() {
    soak(20_000);
}

#[test]
#[ignore = "takes long: `make soak`"]
#[expect(clippy::disallowed_methods, reason = "no part of the manager")]
fn very_many_histories() {
    soak(std::env::var(VARIABLE).map_or(10_000_000, |events| events.parse().expect("a number of events")));
}
