//! The manager against the reference model and the machine, over random histories.

use crate::harness::Harness;
use crate::harness::op::{Mix, Op, World, advice, op};
use crate::reference::rules::{Eviction, Griffin, Grit, Guard, Links, Placement, Prefetch, Remote, Rules};
use octavo_manager::{
    Advice, EVICTIONS, Fragmentation, HOST_MEMORY, Kind, Manager, MemoryConfig, MemoryId, MemoryMask, MemorySpec,
    PLACEMENTS, PREFETCHERS, ProcessorMask, Reach, SHARINGS, Topology,
};
use octavo_registry::Choice;
use octavo_units::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::json;

/// Histories of a property test unless told otherwise.
const LIBRARY_DEFAULT: u32 = 256;

/// The same histories at every run, unless `PROPTEST_RNG_SEED` asks for others or `PROPTEST_CASES` for more.
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

fn remote() -> impl Strategy<Value = Remote> {
    (any::<bool>(), any::<bool>()).prop_map(|(map_host, moves_group)| Remote { map_host, moves_group })
}

fn grit() -> impl Strategy<Value = Placement> {
    (prop_oneof![2 => Just(4u32), 1 => 1u32..9], prop::bool::weighted(0.8), prop::bool::weighted(0.8), remote())
        .prop_map(|(threshold, cached, prediction, remote)| Grit { threshold, cached, prediction, remote })
        .prop_map(Placement::Grit)
}

fn uniform() -> impl Strategy<Value = Placement> {
    prop_oneof![
        Just(Placement::OnTouch),
        Just(Placement::FirstTouch),
        Just(Placement::Duplication),
        Just(Placement::Ideal),
        remote().prop_map(Placement::AccessCounter),
    ]
}

pub fn any_placement() -> impl Strategy<Value = Placement> {
    prop_oneof![2 => uniform(), 2 => grit(), 1 => replicating(), 1 => griffin(), 1 => interleaved()]
}

/// GPS, with few profiled kernels.
fn replicating() -> impl Strategy<Value = Placement> {
    (0u32..4).prop_map(Placement::Gps)
}

fn interleaved() -> impl Strategy<Value = Placement> {
    (0u32..2).prop_map(Placement::Interleaved)
}

/// Griffin, with weights whose powers are exact.
fn griffin() -> impl Strategy<Value = Placement> {
    let ratios = (0u32..400, 100u32..300, 100u32..300);
    let smoothing = prop_oneof![3 => Just(50u32), 1 => Just(100)];
    (smoothing, ratios, 1u32..9, 0u32..4).prop_map(|(smoothing, (touched, dedicated, shifting), batch, lead)| {
        Placement::Griffin(Griffin { smoothing, touched, dedicated, shifting, batch, lead })
    })
}

fn page_size() -> impl Strategy<Value = u64> {
    prop_oneof![4 => Just(4u64 << 10), 1 => Just(64 << 10), 1 => Just(2 << 20)]
}

/// A node whose memories are unlimited.
fn roomy(placement: impl Strategy<Value = Placement>) -> impl Strategy<Value = Rules> {
    let gpus = prop_oneof![4 => 2usize..5, 1 => Just(1usize), 1 => 5usize..17];
    (gpus, placement, page_size())
        .prop_map(|(gpus, placement, page_size)| Rules { page_size, ..Rules::unlimited(gpus, placement) })
}

/// A node whose memories hold a few pages each.
pub fn cramped(placement: impl Strategy<Value = Placement>) -> impl Strategy<Value = Rules> {
    let capacity = prop_oneof![3 => vec(1u32..9, 1..5), 1 => vec(16u32..40, 1..5)];
    (capacity, placement, page_size(), eviction(), any::<bool>()).prop_map(
        |(capacity, placement, page_size, eviction, sees_accesses)| Rules {
            page_size,
            capacity,
            eviction,
            sees_accesses,
            ..Rules::unlimited(1, placement)
        },
    )
}

/// A placement that keeps nothing of its own.
fn plain() -> impl Strategy<Value = Placement> {
    let counters = remote().prop_map(Placement::AccessCounter);
    prop_oneof![Just(Placement::OnTouch), Just(Placement::FirstTouch), Just(Placement::Duplication), counters]
}

/// The same where the two applications may have shares of each memory, and the second a placement of its own.
pub fn shared(rules: impl Strategy<Value = Rules>) -> impl Strategy<Value = Rules> {
    let share = || prop_oneof![2 => Just(None), 3 => (1u32..=8).prop_map(Some)];
    let quota = prop_oneof![1 => Just(None), 1 => (share(), share()).prop_map(|(one, two)| Some([one, two]))];
    let own = prop_oneof![2 => Just(None), 1 => plain().prop_map(Some)];
    (rules, quota, own).prop_map(|(rules, quota, own)| {
        // The bound needs no room, and the machine is told so for all pages or none.
        let second_placement = own.filter(|_| rules.placement != Placement::Ideal);
        Rules { quota, second_placement, ..rules }
    })
}

/// The same with a host of several memories, the last of which has room for every page.
fn on_small_hosts(rules: impl Strategy<Value = Rules>) -> impl Strategy<Value = Rules> {
    let small = prop_oneof![1 => Just(Vec::new()), 3 => vec(1u32..25, 1..4), 1 => vec(1u32..9, 7)];
    (rules, small).prop_map(|(rules, mut hosts)| {
        hosts.push(1000);
        Rules { hosts, ..rules }
    })
}

pub fn with_tree(rules: impl Strategy<Value = Rules>) -> impl Strategy<Value = Rules> {
    let threshold = prop_oneof![3 => Just(51u32), 1 => 1u32..=100];
    (rules, threshold).prop_map(|(rules, threshold)| Rules { prefetch: Prefetch::Tree(threshold), ..rules })
}

/// With any prefetcher, and with what it brings in plans of their own or not.
pub fn with_prefetch(rules: impl Strategy<Value = Rules>) -> impl Strategy<Value = Rules> {
    let prefetch = prop_oneof![
        3 => prop_oneof![3 => Just(51u32), 1 => 1u32..=100].prop_map(Prefetch::Tree),
        2 => Just(Prefetch::TreeNeighborhood),
        2 => Just(Prefetch::SequentialLocal),
        1 => (0u32..9).prop_map(Prefetch::RandomPage),
    ];
    (rules, prefetch, prop::bool::weighted(0.3)).prop_map(|(rules, prefetch, own_plan)| Rules {
        prefetch,
        own_plan,
        ..rules
    })
}

fn eviction() -> impl Strategy<Value = Eviction> {
    let reserved = || prop_oneof![2 => Just(0u32), 1 => 0u32..100];
    prop_oneof![
        4 => Just(Eviction::LruPage),
        3 => Just(Eviction::LruBlock),
        2 => Just(Eviction::LfuBlock),
        2 => reserved().prop_map(Eviction::SequentialLocal),
        2 => reserved().prop_map(Eviction::TreeNeighborhood),
        1 => Just(Eviction::Nothing),
    ]
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

/// Any names that can be chosen, with their default options.
pub fn registered() -> impl Strategy<Value = MemoryConfig> {
    let names = |names: Vec<&'static str>| proptest::sample::select(names).prop_map(Choice::named);
    let placement = names(PLACEMENTS.names().collect());
    let others = (names(PREFETCHERS.names().collect()), names(EVICTIONS.names().collect()));
    let sharing = names(SHARINGS.names().collect());
    (page_size(), placement, others, sharing).prop_map(|(page_size, placement, (prefetch, eviction), sharing)| {
        let page_size = Bytes(page_size);
        MemoryConfig { page_size, placement, prefetch, eviction, sharing, ..MemoryConfig::default() }
    })
}

/// Pages of the second application of each kind, advice, several memories of the host, and frames that are kept free.
pub fn spoken(rules: impl Strategy<Value = Rules>) -> impl Strategy<Value = Rules> {
    let kind = prop_oneof![3 => Just(Kind::Managed), 2 => Just(Kind::System), 1 => Just(Kind::Device), 1 => Just(Kind::Pinned)];
    let reserve = prop_oneof![3 => Just(0u32), 1 => 1u32..8];
    let others = (kind, advice(), reserve, any::<bool>(), plain());
    (on_small_hosts(rules), others).prop_map(|(rules, (kind, advice, reserve, hosts, system))| {
        let mut rules = Rules { second_kind: kind, reserve, system, ..rules };
        if kind == Kind::Managed {
            rules.second_advice = World { gpus: rules.gpus(), pages: (0, 0) }.sensible(advice);
        }
        if kind == Kind::Device {
            // Its 23 pages fit into each memory, and some others beside them.
            rules.capacity.iter_mut().for_each(|pages| *pages += 26);
        }
        if kind == Kind::Device && rules.eviction == Eviction::Nothing {
            rules.eviction = Eviction::LruPage;
        }
        if !hosts {
            rules.hosts.clear();
        }
        if rules.placement == Placement::Ideal {
            // The bound beside advice is left to the machine.
            rules.placement = Placement::OnTouch;
        }
        rules
    })
}

/// The production driver's guard against thrashing, whose times are so many of these picoseconds.
pub fn guard(tick: u64) -> impl Strategy<Value = Guard> {
    let links = proptest::sample::select(vec![Links::Node, Links::None, Links::Gpus, Links::All]);
    let times = (1u64..30, any::<bool>(), 1u64..12, prop_oneof![1 => Just(0u64), 5 => 1u64..60], 1u64..60);
    let counts = (1u8..=4, prop_oneof![4 => 1u8..4, 1 => Just(10u8)], 0u8..4);
    (counts, times, links).prop_map(move |((threshold, pin_threshold, max_resets), times, links)| {
        let (lapse, adapts, nap, pin, epoch) = times;
        let [lapse, nap, pin, epoch] = [lapse, nap, pin, epoch].map(|ticks| ticks * tick);
        Guard { threshold, pin_threshold, lapse, adapts, nap, pin, epoch, max_resets, links }
    })
}

/// Frames with numbers, and pages of several sizes: large frames of some powers of two of base pages.
pub fn sized(power: std::ops::RangeInclusive<u32>) -> impl Strategy<Value = MemoryConfig> {
    let models = proptest::sample::select(vec!["worst-case", "bulk-copy", "ideal", "none"]);
    let mosaic = (power, 1u32..=512, models).prop_map(|(power, threshold, compaction)| {
        let (pages, large_page) = (1 << power, Bytes((4 << 10) << power));
        let options = json!({
            "large_page": large_page.to_string(), "threshold": (threshold - 1) % pages + 1, "compaction": compaction,
        });
        Choice { name: "mosaic".to_owned(), options: options.as_object().unwrap().clone() }
    });
    let sizing = prop_oneof![8 => mosaic, 1 => Just(Choice::named("base"))];
    let allocator = prop_oneof![3 => 1u32..4, 1 => Just(0)].prop_map(|channels| match channels {
        0 => Choice::named("free-list"),
        _ => Choice { name: "cocoa".to_owned(), options: json!({ "channels": channels }).as_object().unwrap().clone() },
    });
    let fragmentation = prop_oneof![1 => Just((0, 0)), 1 => (0u32..=100, 0u32..=80)];
    let fragmentation =
        (fragmentation, 0u32..9).prop_map(|((index, occupancy), seed)| Fragmentation { index, occupancy, seed });
    (registered(), sizing, allocator, fragmentation).prop_map(|(memory, sizing, allocator, fragmentation)| {
        MemoryConfig { page_size: Bytes(4 << 10), sizing, allocator, fragmentation, ..memory }
    })
}

/// The same where every block has a frame to itself.
fn chunked(power: std::ops::RangeInclusive<u32>) -> impl Strategy<Value = MemoryConfig> {
    sized(power).prop_map(|mut config| {
        if config.sizing.name == "mosaic" {
            config.sizing.options.insert("compaction".to_owned(), "none".into());
        }
        MemoryConfig { allocator: Choice::named("chunks"), fragmentation: Fragmentation::default(), ..config }
    })
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

pub const RESIZED: Mix = Mix { resize: Some(20), ..LIVELY };
pub const THINNED: Mix = Mix { thinned: true, ..RESIZED };
/// Programs say things; capacities stay, so that device memory has room.
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

    /// Whatever is registered, known to the model or not: the machine never sees data lost, stale or misplaced.
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
        let (preferred, accessed_by) = (preferred.map(MemoryId), ProcessorMask(accessed_by));
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
            let memories = MemoryMask(bits).intersection(MemoryMask::all_gpus(topology.gpus()));
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

    /// Frames with numbers: what is one large page is in order, and changes only after it was splintered.
    #[test]
    fn pages_of_several_sizes_on_the_machine(config in sized(1..=3), capacity in vec(6u32..60, 1..5), ops in vec(op(THINNED), 1..60)) {
        play_sized(&config, capacity, (41, 22), THINNED, &ops);
    }
}

proptest! {
    #![proptest_config(cases(100))]

    /// A frame for every block: whatever lies on a GPU whole and mapped alike is one large page, however full it is.
    #[test]
    fn blocks_with_frames_of_their_own(config in chunked(1..=3), capacity in vec(6u32..60, 1..5), ops in vec(op(THINNED), 1..60)) {
        play_sized(&config, capacity, (41, 22), THINNED, &ops);
    }

    /// Large frames as large as they are in fact, mostly filled by the prefetcher.
    #[test]
    fn large_pages_of_many_base_pages(config in sized(5..=9), capacity in vec(400u32..2000, 1..4), ops in vec(op(FILLED), 5..50)) {
        play_sized(&config, capacity, (1100, 700), FILLED, &ops);
    }
}
