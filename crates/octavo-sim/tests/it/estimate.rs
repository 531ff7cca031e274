//! The estimated memory of a run before it begins.

use octavo_manager::{MemoryConfig, SpaceConfig};
use octavo_registry::Choice;
use octavo_sim::{Job, Kept, estimate_memory};

use crate::support::{Script, node};

const PAGES: u64 = 1000;
const GPUS: u32 = 2;

/// Bytes for a page, of a job whose memory has this evictor.
fn a_page(evictor: Option<&str>, walks: bool) -> u64 {
    let script = Script::sequence(PAGES, vec![Vec::new()]);
    let memory = SpaceConfig { eviction: evictor.map(Choice::named), ..SpaceConfig::default() };
    let job = Job { memory, ..Job::alone(&script, None) };
    let kept = Kept { in_time: true, events: false, intervals: false, walks };
    estimate_memory(&node(GPUS), &MemoryConfig::default(), &[job], kept).unwrap().pages / PAGES
}

/// Eight bytes for each GPU if accesses are reported.
#[test]
fn evictors_that_are_told_of_accesses_count_whoever_names_them() {
    let none = a_page(None, false);
    assert_eq!(a_page(Some("lru-page"), false), none);
    assert_eq!(a_page(Some("lfu-block"), false), none + 8 * u64::from(GPUS));
    assert_eq!(a_page(Some("./my_policy.py"), false), none + 8 * u64::from(GPUS), "it may want to be told");
}

#[test]
fn walks_by_what_the_placement_keeps_count() {
    assert_eq!(a_page(None, true), a_page(None, false) + 1);
}
