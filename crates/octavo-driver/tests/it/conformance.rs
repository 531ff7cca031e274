//! `Instant` runs the suite.

use octavo_driver::Instant;
use octavo_driver::conformance::{
    Mood, Troubles, composition, compositions, conforms, decides_alike, lending, moods, refused_everywhere, troubles,
};
use octavo_manager::{PLACEMENTS, Topology};

fn instant(topology: &Topology) -> Instant {
    Instant::new(topology.gpus())
}

#[test]
fn instant_conforms_under_every_composition() {
    for (seed, config) in (0..).zip(compositions()) {
        conforms(instant, &config, seed..seed + 2, 60);
    }
}

#[test]
fn instant_conforms_wherever_it_refuses() {
    for placement in PLACEMENTS.names() {
        refused_everywhere(instant, &composition(placement, "tree", "lru-page"), 0, 25);
    }
}

/// A suite in which nothing goes wrong would hold whatever it is about.
#[test]
fn plans_are_refused_delayed_and_reordered_and_entries_vanish() {
    let all = Mood { refuses: 8, delays: 3, wakes_late: 4, retries_late: 3, entries_vanish: 4, ..Mood::default() };
    let config = composition("on-touch", "tree", "lru-page");
    let (seen, vanished) = troubles(Instant::new(4), &config, all, 9, 400);
    let Troubles { refused, delayed, reordered, wakes_reordered, retries_put_off } = seen;
    assert!(
        [refused, delayed, reordered, wakes_reordered, retries_put_off].iter().all(|&times| times > 10),
        "{seen:?}"
    );
    assert!(vanished > 0 && moods().contains(&all));
    for mood in [Mood::default(), Mood { refuses: 8, ..Mood::default() }] {
        let (seen, vanished) = troubles(Instant::new(4), &config, mood, 9, 400);
        assert_eq!((seen.delayed, seen.reordered, seen.wakes_reordered, vanished), (0, 0, 0, 0));
        assert_eq!(seen.refused > 0, mood.refuses > 0);
    }
}

#[test]
fn instant_decides_like_itself() {
    for placement in PLACEMENTS.names() {
        decides_alike(instant, &composition(placement, "tree", "lru-block"), 1, 100);
    }
}

#[test]
fn instant_conforms_where_idle_gpus_keep_victims() {
    for (seed, config) in (0..).zip(lending()) {
        conforms(instant, &config, seed..seed + 4, 80);
        refused_everywhere(instant, &config, seed, 25);
    }
}
