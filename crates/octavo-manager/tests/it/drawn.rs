//! Memory systems at random: those that the reference model knows, and any that can be chosen.

use octavo_manager::{EVICTIONS, Fragmentation, Kind, MemoryConfig, PLACEMENTS, PREFETCHERS, SHARINGS};
use octavo_registry::Choice;
use octavo_units::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use crate::harness::op::{World, advice};
use crate::reference::rules::{Eviction, Griffin, Grit, Guard, Links, Placement, Prefetch, Remote, Rules};
use crate::reference::sizes::rules::{Allocator, Mosaic, Sizes, Sizing};

pub fn remote() -> impl Strategy<Value = Remote> {
    (any::<bool>(), any::<bool>()).prop_map(|(map_host, moves_group)| Remote { map_host, moves_group })
}

pub fn grit() -> impl Strategy<Value = Placement> {
    (prop_oneof![2 => Just(4u32), 1 => 1u32..9], prop::bool::weighted(0.8), prop::bool::weighted(0.8), remote())
        .prop_map(|(threshold, cached, prediction, remote)| Grit { threshold, cached, prediction, remote })
        .prop_map(Placement::Grit)
}

pub fn uniform() -> impl Strategy<Value = Placement> {
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
pub fn replicating() -> impl Strategy<Value = Placement> {
    (0u32..4).prop_map(Placement::Gps)
}

pub fn interleaved() -> impl Strategy<Value = Placement> {
    (0u32..2).prop_map(Placement::Interleaved)
}

/// Griffin, with weights whose powers are exact.
pub fn griffin() -> impl Strategy<Value = Placement> {
    let ratios = (0u32..400, 100u32..300, 100u32..300);
    let smoothing = prop_oneof![3 => Just(50u32), 1 => Just(100)];
    (smoothing, ratios, 1u32..9, 0u32..4).prop_map(|(smoothing, (touched, dedicated, shifting), batch, lead)| {
        Placement::Griffin(Griffin { smoothing, touched, dedicated, shifting, batch, lead })
    })
}

pub fn page_size() -> impl Strategy<Value = u64> {
    prop_oneof![4 => Just(4u64 << 10), 1 => Just(64 << 10), 1 => Just(2 << 20)]
}

/// The same with the base page, where all pages are large ones.
pub fn page_sizes() -> impl Strategy<Value = (u64, Option<u64>)> {
    (page_size(), prop_oneof![2 => Just(None), 1 => Just(Some(4u64 << 10)), 1 => Just(Some(64 << 10))])
        .prop_map(|(size, base)| (size, base.filter(|base| *base < size)))
}

/// A node whose memories are unlimited.
pub fn roomy(placement: impl Strategy<Value = Placement>) -> impl Strategy<Value = Rules> {
    let gpus = prop_oneof![4 => 2usize..5, 1 => Just(1usize), 1 => 5usize..17];
    (gpus, placement, page_sizes()).prop_map(|(gpus, placement, (page_size, base_page))| Rules {
        page_size,
        base_page,
        ..Rules::unlimited(gpus, placement)
    })
}

/// A node whose memories hold a few pages each.
pub fn cramped(placement: impl Strategy<Value = Placement>) -> impl Strategy<Value = Rules> {
    let capacity = prop_oneof![3 => vec(1u32..9, 1..5), 1 => vec(16u32..40, 1..5)];
    (capacity, placement, page_sizes(), eviction(), any::<bool>()).prop_map(
        |(capacity, placement, (page_size, base_page), eviction, sees_accesses)| Rules {
            page_size,
            base_page,
            capacity,
            eviction,
            sees_accesses,
            ..Rules::unlimited(1, placement)
        },
    )
}

/// A placement without state of its own.
pub fn plain() -> impl Strategy<Value = Placement> {
    let counters = remote().prop_map(Placement::AccessCounter);
    prop_oneof![Just(Placement::OnTouch), Just(Placement::FirstTouch), Just(Placement::Duplication), counters]
}

/// The same if the two applications may have shares of each memory, and the second a placement of its own.
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
pub fn on_small_hosts(rules: impl Strategy<Value = Rules>) -> impl Strategy<Value = Rules> {
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

/// With any prefetcher, whose pages come in plans of their own or not.
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

pub fn eviction() -> impl Strategy<Value = Eviction> {
    let reserved = || prop_oneof![2 => Just(0u32), 1 => 0u32..100];
    prop_oneof![
        4 => Just(Eviction::LruPage),
        3 => Just(Eviction::LruBlock),
        2 => Just(Eviction::LfuBlock),
        2 => reserved().prop_map(Eviction::SequentialLocal),
        2 => reserved().prop_map(Eviction::TreeNeighborhood),
        2 => (0u32..9).prop_map(Eviction::RandomPage),
        1 => Just(Eviction::Nothing),
    ]
}

/// Any names of strategies, with their default options.
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

/// The production driver's guard against thrashing, with times of this many picoseconds.
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

/// The same as the model knows it: frames with numbers in memories of a few large frames, which foreign data may fill
/// in part, and pages of several sizes.
pub fn numbered(rules: impl Strategy<Value = Rules>) -> impl Strategy<Value = Rules> {
    let models = vec![Some("worst-case"), Some("bulk-copy"), Some("ideal"), None];
    let mosaic = (1u32..=3, 1u32..=8, proptest::sample::select(models)).prop_map(|(power, threshold, compaction)| {
        let pages = 1 << power;
        Sizing::Mosaic(Mosaic { pages, threshold: (threshold - 1) % pages + 1, compaction })
    });
    let sizing = prop_oneof![6 => mosaic, 1 => Just(Sizing::Base), 1 => Just(Sizing::WholeBlocks)];
    let cocoa = (1u32..4).prop_map(Allocator::Cocoa);
    let allocator = prop_oneof![4 => cocoa, 1 => Just(Allocator::FreeList), 1 => Just(Allocator::Chunks)];
    let foreign = prop_oneof![1 => Just((0, 0)), 1 => (1u32..=100, 1u32..=80)];
    let large_blocks = prop::bool::weighted(0.2);
    (rules, sizing, allocator, (foreign, 0u32..9), vec(6u32..60, 1..5), large_blocks).prop_map(
        |(rules, mut sizing, mut allocator, ((index, occupancy), seed), capacity, large_blocks)| {
            let mut fragmentation = Fragmentation { index, occupancy, seed };
            if sizing == Sizing::Base && allocator == Allocator::FreeList {
                // Without foreign data nobody would need to know frames.
                allocator = Allocator::Cocoa(1);
            }
            if allocator == Allocator::Chunks {
                fragmentation = Fragmentation::default();
                if let Sizing::Mosaic(mosaic) = &mut sizing {
                    mosaic.compaction = None;
                }
            }
            // Blocks of 512 pages hold all that there is, and those of 32 some of it.
            let page_size = if matches!(sizing, Sizing::Mosaic(_)) || large_blocks { 4 << 10 } else { 64 << 10 };
            let sizes = Some(Sizes { sizing, allocator, fragmentation });
            // Faults that wait for room are many things at once when there is some.
            let keeps = rules.eviction == Eviction::Nothing;
            let eviction = if keeps { Eviction::LruPage } else { rules.eviction };
            Rules { page_size, base_page: None, sizes, capacity, eviction, own_plan: false, ..rules }
        },
    )
}

/// The same where every block has a frame to itself.
pub fn chunked(power: std::ops::RangeInclusive<u32>) -> impl Strategy<Value = MemoryConfig> {
    sized(power).prop_map(|mut config| {
        if config.sizing.name == "mosaic" {
            config.sizing.options.insert("compaction".to_owned(), "none".into());
        }
        MemoryConfig { allocator: Choice::named("chunks"), fragmentation: Fragmentation::default(), ..config }
    })
}
