//! The manager against the reference model and the machine, over random histories.

use crate::drawn::{
    any_placement, chunked, cramped, griffin, grit, interleaved, numbered, on_small_hosts, registered, replicating,
    roomy, shared, sized, uniform, with_prefetch, with_tree,
};
use crate::harness::Harness;
use crate::harness::op::{Mix, Op, World, op};
use crate::reference::rules::{Prefetch, Rules};
use octavo_manager::{
    Advice, HOST_MEMORY, Kind, Manager, MemoryConfig, MemoryId, MemoryMask, MemorySpec, ProcessorMask, Reach, Topology,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The default number of histories of a property test.
const LIBRARY_DEFAULT: u32 = 256;

/// The same histories in every run, unless `PROPTEST_RNG_SEED` selects others or `PROPTEST_CASES` more.
fn cases(few: u32) -> ProptestConfig {
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if matches!(config.rng_seed, RngSeed::Random) {
        config.rng_seed = RngSeed::Fixed(0x0c7a);
    }
    if config.cases == LIBRARY_DEFAULT {
        config.cases = few;
    }
    config
}

fn play(rules: &Rules, pages: (u32, u32), mix: Mix, ops: &[Op]) {
    play_on(&mut Harness::new(rules), World { gpus: rules.gpus(), pages }, mix, ops);
}

fn play_on(harness: &mut Harness, world: World, mix: Mix, ops: &[Op]) {
    world.allocate(harness);
    ops.iter().for_each(|op| harness.apply(op, world, mix));
    harness.settle();
}

fn play_sized(config: &MemoryConfig, capacity: Vec<u32>, pages: (u32, u32), mix: Mix, ops: &[Op]) {
    let topology = Topology::of(capacity);
    // Foreign data may leave no room.
    if Manager::new(config, &topology).is_ok() {
        let mut harness = Harness::without_model(config, &topology, config.placement.name == "ideal");
        play_on(&mut harness, World { gpus: topology.gpus(), pages }, mix, ops);
    }
}

const CALM: Mix = Mix {
    concurrent: false,
    failing: false,
    resize: None,
    thinned: false,
    speaking: false,
    tick: 0,
    sweep: 20,
    storm_level: 1,
};
const GROUPS: Mix = Mix { storm_level: 2, ..CALM };
const LIVELY: Mix = Mix { concurrent: true, failing: true, ..CALM };

/// One thing after another.
pub const NUMBERED: Mix = Mix { thinned: true, resize: Some(20), ..CALM };
pub const RESIZED: Mix = Mix { resize: Some(20), ..LIVELY };
pub const THINNED: Mix = Mix { thinned: true, ..RESIZED };
/// Programs give advice; capacities stay, so that device memory has room.
pub const SPEAKING: Mix = Mix { speaking: true, ..LIVELY };
const FILLED: Mix = Mix { resize: Some(1500), sweep: 800, ..THINNED };

// Groups of 512 pages, and whole blocks: few histories of many pages.
proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn grit_large(rules in roomy(grit()), ops in vec(op(Mix { storm_level: 3, ..CALM }), 1..10)) {
        play(&rules, (1024, 300), GROUPS, &ops);
    }

    #[test]
    fn tree_with_uniform_schemes(rules in with_tree(roomy(uniform())), ops in vec(op(CALM), 1..60)) {
        play(&rules, (700, 300), CALM, &ops);
    }

    #[test]
    fn tree_with_grit(rules in with_tree(roomy(grit())), ops in vec(op(CALM), 1..60)) {
        play(&rules, (700, 300), CALM, &ops);
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn uniform_schemes_one_plan_at_a_time(rules in roomy(uniform()), ops in vec(op(CALM), 1..60)) {
        play(&rules, (100, 60), CALM, &ops);
    }

    #[test]
    fn uniform_schemes_many_plans_and_failures(rules in roomy(uniform()), ops in vec(op(LIVELY), 1..80)) {
        play(&rules, (100, 60), LIVELY, &ops);
    }

    #[test]
    fn uniform_schemes_in_small_memories(rules in cramped(uniform()), ops in vec(op(CALM), 1..60)) {
        play(&rules, (40, 23), CALM, &ops);
    }

    #[test]
    fn uniform_schemes_in_small_memories_many_plans(rules in cramped(uniform()), ops in vec(op(LIVELY), 1..80)) {
        play(&rules, (40, 23), LIVELY, &ops);
    }

    #[test]
    fn grit_one_plan_at_a_time(rules in roomy(grit()), ops in vec(op(GROUPS), 1..60)) {
        play(&rules, (100, 60), GROUPS, &ops);
    }

    #[test]
    fn grit_many_plans_and_failures(rules in roomy(grit()), ops in vec(op(LIVELY), 1..80)) {
        play(&rules, (100, 60), LIVELY, &ops);
    }

    #[test]
    fn grit_in_small_memories(rules in cramped(grit()), ops in vec(op(CALM), 1..60)) {
        play(&rules, (40, 23), CALM, &ops);
    }

    #[test]
    fn replicas_classes_and_homes(
        rules in cramped(prop_oneof![replicating(), griffin(), interleaved()]),
        ops in vec(op(LIVELY), 1..80),
    ) {
        play(&rules, (40, 23), LIVELY, &ops);
    }

    #[test]
    fn tree_with_many_plans(rules in with_tree(roomy(any_placement())), ops in vec(op(LIVELY), 1..60)) {
        play(&rules, (90, 70), LIVELY, &ops);
    }

    #[test]
    fn prefetch_in_small_memories(rules in with_prefetch(cramped(any_placement())), ops in vec(op(LIVELY), 1..60)) {
        play(&rules, (40, 23), LIVELY, &ops);
    }

    #[test]
    fn capacities_change(rules in cramped(any_placement()), ops in vec(op(RESIZED), 1..60)) {
        play(&rules, (40, 23), RESIZED, &ops);
    }

    /// Pages fill the host's memories in order, and never move between them.
    #[test]
    fn hosts_have_several_memories(
        rules in on_small_hosts(cramped(any_placement())),
        tree in any::<bool>(),
        ops in vec(op(RESIZED), 1..60),
    ) {
        let prefetch = if tree { Prefetch::Tree(51) } else { Prefetch::Nothing };
        let rules = Rules { prefetch, ..rules };
        play(&rules, (40, 23), RESIZED, &ops);
    }

    /// Frames are kept free, however plans interleave and capacities change.
    #[test]
    fn victims_leave_ahead_of_need(
        rules in cramped(any_placement()),
        (reserve, tree) in (1u32..20, any::<bool>()),
        ops in vec(op(RESIZED), 1..60),
    ) {
        let prefetch = if tree { Prefetch::Tree(51) } else { Prefetch::Nothing };
        play(&Rules { reserve, prefetch, ..rules }, (40, 23), RESIZED, &ops);
    }

    /// The same with everything that is registered, and pages of another kind.
    #[test]
    fn every_composition_on_several_host_memories(
        config in registered(),
        kind in proptest::sample::select(vec![Kind::Managed, Kind::System, Kind::Pinned]),
        (capacity, hosts) in (vec(8u32..30, 1..4), vec(1u32..25, 1..4)),
        ops in vec(op(LIVELY), 1..60),
    ) {
        let mut topology = Topology::of(capacity);
        let hosts: Vec<u32> = hosts.into_iter().chain([1000]).collect();
        topology.memories[0].capacity_pages = hosts[0];
        let further = hosts[1..].iter().zip(1..);
        topology.memories.extend(further.map(|(&capacity_pages, at)| MemorySpec { id: MemoryId::host(at), capacity_pages }));
        let mut harness = Harness::without_model(&config, &topology, config.placement.name == "ideal");
        harness.second_kind = kind;
        play_on(&mut harness, World { gpus: topology.gpus(), pages: (40, 23) }, LIVELY, &ops);
    }

    /// Every registered strategy, known to the model or not: the machine never finds data lost, stale or misplaced.
    #[test]
    fn every_composition_on_the_machine(config in registered(), capacity in vec(1u32..30, 1..6), ops in vec(op(RESIZED), 1..60)) {
        let topology = Topology::of(capacity);
        let by_decree = config.placement.name == "ideal";
        let mut harness = Harness::without_model(&config, &topology, by_decree);
        play_on(&mut harness, World { gpus: topology.gpus(), pages: (40, 23) }, RESIZED, &ops);
    }
}

proptest! {
    #![proptest_config(cases(200))]

    /// The second application has memory of another kind.
    #[test]
    fn every_kind_on_the_machine(
        config in registered(),
        kind in proptest::sample::select(vec![Kind::System, Kind::Device, Kind::Pinned]),
        capacity in vec(8u32..40, 1..6),
        ops in vec(op(LIVELY), 1..60),
    ) {
        let topology = Topology::of(capacity);
        let mut harness = Harness::without_model(&config, &topology, config.placement.name == "ideal");
        harness.second_kind = kind;
        play_on(&mut harness, World { gpus: topology.gpus(), pages: (40, 23) }, LIVELY, &ops);
    }

    /// The second application gave advice about its pages.
    #[test]
    fn advised_pages_on_the_machine(
        config in registered(),
        (preferred, accessed_by, read_mostly) in (proptest::option::of(0u8..6), 0u32..64, any::<bool>()),
        capacity in vec(1u32..30, 5),
        ops in vec(op(RESIZED), 1..60),
    ) {
        let topology = Topology::of(capacity);
        let mut harness = Harness::without_model(&config, &topology, config.placement.name == "ideal");
        let (preferred, accessed_by) = (preferred.map(MemoryId), ProcessorMask(accessed_by.into()));
        harness.second_advice = Advice { preferred, accessed_by, read_mostly };
        play_on(&mut harness, World { gpus: topology.gpus(), pages: (40, 23) }, RESIZED, &ops);
    }

    /// Some processors cannot map some memories; every GPU can map the host's.
    #[test]
    fn mappings_stay_within_reach(
        config in registered(),
        capacity in vec(1u32..30, 1..6),
        reach in vec(any::<u32>(), 6),
        ops in vec(op(RESIZED), 1..60),
    ) {
        let topology = Topology::of(capacity);
        let mapped = |(index, &bits): (usize, &u32)| {
            let memories = MemoryMask(bits.into()).intersection(MemoryMask::all_gpus(topology.gpus()));
            if index == 0 { memories } else { memories.with(HOST_MEMORY) }
        };
        let reach = Reach::new(reach.iter().enumerate().map(mapped).take(topology.gpus() + 1).collect());
        let topology = Topology { reach, ..topology };
        let mut harness = Harness::without_model(&config, &topology, config.placement.name == "ideal");
        play_on(&mut harness, World { gpus: topology.gpus(), pages: (40, 23) }, RESIZED, &ops);
    }
}

// Checked more often, for what plans of different pages do to a block depends on their order.
proptest! {
    #![proptest_config(cases(1000))]

    /// Frames with numbers: each large page is in order, and changes only after it was splintered.
    #[test]
    fn pages_of_several_sizes_on_the_machine(config in sized(1..=3), capacity in vec(6u32..60, 1..5), ops in vec(op(THINNED), 1..60)) {
        play_sized(&config, capacity, (41, 22), THINNED, &ops);
    }
}

proptest! {
    #![proptest_config(cases(40))]

    /// The frame of each page, and which pages form one large page.
    #[test]
    fn pages_of_several_sizes(
        rules in numbered(shared(with_prefetch(cramped(any_placement())))),
        ops in vec(op(NUMBERED), 1..60),
    ) {
        if rules.is_possible() {
            play(&rules, (41, 22), NUMBERED, &ops);
        }
    }
}

proptest! {
    #![proptest_config(cases(100))]

    /// A frame for every block: whatever lies on a GPU whole and mapped alike is one large page, however full it is.
    #[test]
    fn blocks_with_frames_of_their_own(config in chunked(1..=3), capacity in vec(6u32..60, 1..5), ops in vec(op(THINNED), 1..60)) {
        play_sized(&config, capacity, (41, 22), THINNED, &ops);
    }

    /// Large frames of the real size, mostly filled by the prefetcher.
    #[test]
    fn large_pages_of_many_base_pages(config in sized(5..=9), capacity in vec(400u32..2000, 1..4), ops in vec(op(FILLED), 5..50)) {
        play_sized(&config, capacity, (1100, 700), FILLED, &ops);
    }
}
