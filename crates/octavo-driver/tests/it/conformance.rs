//! `Instant` runs the suite.

use octavo_driver::Instant;
use octavo_driver::conformance::{composition, compositions, conforms, decides_alike, lending, refused_everywhere};
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
