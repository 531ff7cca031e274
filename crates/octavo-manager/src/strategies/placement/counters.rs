//! Options that every strategy with hardware access counters has.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::event::CounterSpec;
use crate::contract::geometry::Geometry;
use crate::contract::ids::{PageId, PageRun};
use crate::strategies::context::Context;

/// The treatment of a page on the host when a GPU touches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum HostPages {
    /// It stays and is mapped over the host link; its accesses are counted like any remote ones.
    Map,
    /// It moves to the toucher.
    Migrate,
}

/// The pages that move when an access counter reaches its threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CounterMoves {
    /// The page whose access was the last to be counted.
    Page,
    /// Every page of its 64 KiB counter group.
    Group,
}

/// Most lines a hardware counter can count (`uvm_perf_access_counter_threshold`).
const MAX_THRESHOLD: u32 = 65_535;

pub(super) fn check_threshold(key: &str, threshold: u32) -> Result<(), octavo_registry::OptionError> {
    if (1..=MAX_THRESHOLD).contains(&threshold) {
        return Ok(());
    }
    let message = format!("expected 1 to {MAX_THRESHOLD} lines, found {threshold}");
    Err(octavo_registry::OptionError::new(key, message))
}

pub(super) fn spec(threshold: u32, geometry: &Geometry) -> CounterSpec {
    CounterSpec { threshold, group_pages: geometry.counter_group_pages() }
}

/// The pages to move for a notification about `page`.
pub(super) fn run(page: PageId, moves: CounterMoves, context: &Context<'_>) -> PageRun {
    match moves {
        CounterMoves::Page => PageRun::one(page),
        CounterMoves::Group => {
            let count = context.geometry().counter_group_pages();
            PageRun { first: PageId(page.0 / count * count), count }
        }
    }
}
