//! The rules that every executor must keep: a suite that all of them run.
//!
//! [`conforms`] plays random programs on a [`Subject`] that refuses plans, begins steps late, ends them in any order,
//! wakes late, tries accesses late and loses entries. Requests are served at once, by servers, or in batches.
//! Alongside, a [`Machine`](machine::Machine) carries out the same steps with data. After each step both have the same
//! tables and copies, and:
//!
//! 1. Every load sees the latest store, for any interleaving of unfinished plans.
//! 2. There is one writable copy, or there are read-only ones, and entries lead to copies. At rest the manager believes
//!    exactly that, or more entries if some were taken away.
//! 3. Memories hold no more than they have room for.
//! 4. Each fault is woken or killed once; none is left at the end, nor after a free, a refusal or an end of memory.
//! 5. Plans are refused at random, and by [`refused_everywhere`] after each step and page: the rest holds all the same.
//! 6. Entries that vanish are made again.
//! 7. Progress: where nothing is refused and no entry vanishes, each transfer of a page that a fault asked for is followed
//!    by an access of those who waited.
//! 8. By [`decides_alike`]: the same program leads to the same plans on every executor.

mod faulty;
mod instant;
pub mod machine;
mod prompt;
mod session;
mod subject;

use std::ops::Range;

use octavo_manager::{EVICTIONS, MemoryConfig, OutstandingAccesses, PLACEMENTS, PREFETCHERS, Topology, Why};

use octavo_units::Bytes;

pub use faulty::{Faulty, Mood, Troubles};
pub use prompt::Prompt;
pub use session::{Case, Session};
pub use subject::{Subject, Watched};

use crate::instant::Instant;

/// Every registered placement with every prefetcher and every eviction strategy; in half of them, pages stay while
/// accesses to them are under way.
#[must_use]
pub fn compositions() -> Vec<MemoryConfig> {
    let mut all = Vec::new();
    for placement in PLACEMENTS.names() {
        for prefetch in PREFETCHERS.names() {
            all.extend(EVICTIONS.names().enumerate().map(|(number, eviction)| MemoryConfig {
                outstanding: [OutstandingAccesses::Leave, OutstandingAccesses::Stay][(number + prefetch.len()) % 2],
                ..composition(placement, prefetch, eviction)
            }));
        }
    }
    all
}

/// Every registered placement on GPUs that keep victims for each other: each page is a block, or a 32nd of one.
#[must_use]
pub fn lending() -> Vec<MemoryConfig> {
    let lending = |(number, (placement, page_size)): (usize, (&str, u64))| {
        let mut config = composition(placement, "none", "lru-block");
        config.page_size = Bytes(page_size);
        let neighbour = ["round-robin", "fewest-pending"][number / 2 % 2];
        let options =
            [("reserve", format!("{}B", page_size * (number as u64 % 3))), ("neighbour", neighbour.to_owned())];
        config.demotion.name = "spare-memory".to_owned();
        config.demotion.options = options.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect();
        config.demotion.options.insert("pre_eviction".to_owned(), (number % 8 > 3).into());
        config
    };
    let sizes = |placement| [2 << 20, 64 << 10].map(|size| (placement, size));
    PLACEMENTS.names().flat_map(sizes).enumerate().map(lending).collect()
}

/// These strategies with their default options.
#[must_use]
pub fn composition(placement: &str, prefetch: &str, eviction: &str) -> MemoryConfig {
    let mut config = MemoryConfig::default();
    config.placement.name = placement.to_owned();
    config.prefetch.name = prefetch.to_owned();
    config.eviction.name = eviction.to_owned();
    config
}

/// Possible failures: none, each one alone, and all at once.
#[must_use]
pub fn moods() -> Vec<Mood> {
    let calm = Mood::default();
    let refusing = Mood { refuses: 8, ..calm };
    vec![
        calm,
        Mood { delays: 2, wakes_late: 3, retries_late: 2, ..calm },
        refusing,
        Mood { entries_vanish: 2, ..calm },
        Mood { refuses: 8, delays: 3, wakes_late: 4, retries_late: 3, entries_vanish: 4, ..calm },
        Mood { why: Some(Why::NoMemory), refuses: 20, delays: 4, ..calm },
        Mood { why: Some(Why::Gone), delays: 4, ..refusing },
        Mood { why: Some(Why::Broken), delays: 4, ..refusing },
    ]
}

/// Plays programs of this many events on an executor in each [mood](moods), one for each seed.
///
/// # Panics
/// If it does not conform; says how the failing case differs from others.
pub fn conforms<S: Subject>(make: impl Fn(&Topology) -> S, config: &MemoryConfig, seeds: Range<u32>, events: u32) {
    for mood in moods() {
        for seed in seeds.clone() {
            let case = Case { config: config.clone(), topology: topology(seed), mood, seed, events };
            described(&case, || drop(Session::new(&case, make(&case.topology)).play(events)));
        }
    }
}

/// What goes wrong while a program of this many events runs in a [mood](moods), and how many entries vanish.
///
/// # Panics
/// If the executor does not conform.
pub fn troubles<S: Subject>(subject: S, config: &MemoryConfig, mood: Mood, seed: u32, events: u32) -> (Troubles, u64) {
    let case = Case { config: config.clone(), topology: topology(seed), mood, seed, events };
    let node = Session::new(&case, subject).play(events).node;
    (node.troubles, node.inner.vanished)
}

/// Plays one program again and again, each time with one beginning refused after another step or page.
///
/// # Panics
/// If the executor does not conform.
pub fn refused_everywhere<S: Subject>(make: impl Fn(&Topology) -> S, config: &MemoryConfig, seed: u32, events: u32) {
    let calm = Case { config: config.clone(), topology: topology(seed), mood: Mood::default(), seed, events };
    let play = |case: &Case| Session::new(case, make(&case.topology)).play(events);
    let points = play(&calm).node.points;
    for point in points {
        let case = Case { mood: Mood { at: Some(point), ..Mood::default() }, ..calm.clone() };
        described(&case, || drop(play(&case)));
    }
}

/// Plays the same program on an executor and on [`Instant`].
///
/// # Panics
/// If the plans differ.
pub fn decides_alike<S: Subject>(make: impl Fn(&Topology) -> S, config: &MemoryConfig, seed: u32, events: u32) {
    let case = Case { config: config.clone(), topology: topology(seed), mood: Mood::default(), seed, events };
    let own = Session::new(&case, make(&case.topology)).play(events).node.inner.made;
    let instant = Session::new(&case, Instant::new(case.topology.gpus())).play(events).node.inner.made;
    assert_eq!(own, instant, "{case:?}");
}

/// One to four GPUs, mostly with little memory.
fn topology(seed: u32) -> Topology {
    let capacities = [vec![4, 3], vec![2, 7, 5, 3], vec![12], vec![30, 20, 24]];
    Topology::of(capacities[seed as usize % 4].clone())
}

/// Says which case it was, if it fails.
fn described(case: &Case, test: impl FnOnce()) {
    struct Say<'a>(&'a Case);
    impl Drop for Say<'_> {
        fn drop(&mut self) {
            if std::thread::panicking() {
                let Case { config, topology, mood, seed, events } = self.0;
                let names = [&config.placement.name, &config.prefetch.name, &config.eviction.name];
                let capacity: Vec<u32> = topology.gpu_memories().map(|memory| memory.capacity_pages).collect();
                eprintln!("{names:?} on {capacity:?}, {mood:?}, seed {seed}, {events} events");
            }
        }
    }
    let say = Say(case);
    test();
    drop(say);
}
