//! Alignment against a lane-by-lane model of its kernel, and scores worked out by hand.

use super::{refused, sized};
use crate::lanes::{Lanes, assert_same, base};
use octavo_program::Workload;
use octavo_workload::kernels::alignment::{Alignment, Sequences};

fn sequences(target: &str, query: &str) -> Sequences {
    Sequences { target: target.into(), query: query.into() }
}

#[test]
fn touches_what_every_lane_of_the_kernel_touches() {
    let drawn = Sequences::drawn(40_000, 60, 4);
    let found = drawn.clone();
    let matches = move |place: u64| {
        (0..=49).any(|run| (0..11).all(|letter| found.target[place as usize + letter] == found.query[run + letter]))
    };
    let marked = (0..39_989).filter(|&place| matches(place)).count();
    assert!((3..60).contains(&marked), "{marked} places match");
    let all = Alignment::new(drawn, 15_000);
    assert_eq!(all.launches(), 3);
    let [target, marks] = ["target", "matches"].map(|name| base(&all, name));
    assert_same(&all, |launch, group, _| {
        let begin = u64::from(launch) * 15_000;
        let first = begin + u64::from(group) * 64;
        let places = || first..39_989.min(begin + 15_000).min(first + 64);
        let mut lanes = Lanes::default();
        (0..11).for_each(|letter| lanes.load(places().map(|place| target + place + letter)));
        lanes.store(places().filter(|&place| matches(place)).map(|place| marks + place - begin));
        lanes
    });
}

#[test]
fn places_that_match_are_those_of_runs_of_the_query() {
    let all = sequences("TTTTACGTACGTACGTTTTT", "ACGTACGTACGT");
    assert_eq!(all.first_match(4), Some(0));
    assert_eq!(all.first_match(5), Some(1));
    assert_eq!(all.runs(0..all.places()), vec![4..6; 1]);
    assert_eq!(all.runs(5..all.places()), vec![5..6; 1], "a batch begins within a run");
}

/// Twelve letters the same are 48, one of them another 11 x 4 - 1, one left out 44 - 2.
#[test]
fn scores_are_those_by_hand() {
    let of = |target: &str| sequences(target, "ACGTTGCAAGCT").score(0..target.len() as u64);
    assert_eq!(of("GGACGTTGCAAGCTGG"), 48);
    assert_eq!(of("GGACGTTCCAAGCTGG"), 43);
    assert_eq!(of("GGACGTTCAAGCTGG"), 42);
    assert_eq!(of("A"), 4);
}

#[test]
fn the_host_looks_closer_at_what_it_has_around_the_places_that_match() {
    let all = Alignment::new(sequences("TTTTACGTACGTACGTTTTT", "ACGTACGTACGT"), 100);
    let said: Vec<_> = all
        .host_side()
        .exchanges()
        .iter()
        .map(|one| (one.before, one.buffer, one.bytes.clone(), one.writes, one.unchanged))
        .collect();
    assert_eq!(said, [(0, 2, 0..9, true, false), (1, 2, 0..9, false, false), (1, 0, 4..18, false, true)]);
}

#[test]
fn the_size_is_the_recorded_one_and_options_are_checked() {
    assert_eq!(sized("alignment", 1.0 / 16.0).footprint(), (2 << 20) + 64 + (1 << 20));
    for (key, value) in [("target", 11), ("query", 10), ("query", 1025), ("batch", 0)] {
        assert_eq!(refused("alignment", &[(key, value)]), key);
    }
    assert_eq!(refused("alignment", &[("target", (1 << 16) + 1), ("batch", 1)]), "batch");
}
