//! The entries of summaries: the same names in the same order, under any memory system.

use octavo_manager::{Event, Manager, MemoryConfig, PageId, PageRun, Topology};
use octavo_units::Time;

use crate::common::choice;

/// The core's counts, with counts of frame allocators and placements in their places.
const NAMES: &str = "far_faults protection_faults cold_faults stale_faults faults_on_busy_pages faults_without_room \
    faults_on_compaction migrations duplications collapses replicas_left remote_maps upgrades counter_migrations \
    counters_ignored report_migrations prefetched evictions_written evictions_dropped unsubscribed coalesced \
    splintered compactions pages_compacted frames_freed_by_compaction emergency_splinters soft_guarantee_broken \
    identity_missed failed_plans scheme_changes pages_by_scheme predictions groups_formed groups_split pa_cache_hits \
    pa_cache_misses pa_table_reads pa_table_writes";

fn summary(placement: &str) -> String {
    let config = MemoryConfig { placement: choice(placement, "{}"), ..Default::default() };
    let mut manager = Manager::new(&config, &Topology::unlimited(2)).unwrap();
    manager.handle(Time::ZERO, Event::Allocate(PageRun { first: PageId(0), count: 5 }.into()), &mut Vec::new());
    serde_json::to_string(&manager.statistics()).unwrap()
}

#[test]
fn every_count_has_its_place_whether_or_not_its_owner_is_chosen() {
    for (placement, schemes) in [
        ("on-touch", r#"{"none":5,"on_touch":0,"access_counter":0,"duplication":0}"#),
        ("grit", r#"{"none":0,"on_touch":5,"access_counter":0,"duplication":0}"#),
    ] {
        let expected: Vec<String> = NAMES
            .split_whitespace()
            .map(|name| match name {
                "pages_by_scheme" => format!(r#""{name}":{schemes}"#),
                "scheme_changes" => {
                    format!(r#""{name}":{{"on_touch_to_access_counter":0,"on_touch_to_duplication":0,"#)
                        + r#""access_counter_to_duplication":0,"duplication_to_access_counter":0,"unchanged":0}"#
                }
                _ => format!(r#""{name}":0"#),
            })
            .collect();
        assert_eq!(summary(placement), format!("{{{}}}", expected.join(",")), "{placement}");
    }
}
