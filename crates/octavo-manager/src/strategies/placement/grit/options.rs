//! Options of `grit`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::strategies::placement::counters::{CounterMoves, HostPages};

/// Options of `grit`.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Options {
    /// Faults on a page after which its scheme is decided, 1 to 16; default 4 (GRIT section 5.1). The published
    /// two-bit counter reaches 4; more needs a wider one (three bits up to 8, four up to 16).
    pub fault_threshold: u32,
    /// Whether a cache in front of the PA-Table exists; default true (section 5.2). Without it every counted fault
    /// reads and writes the table.
    pub pa_cache: bool,
    /// Entries of that cache; default 64 (section 5.2).
    pub pa_cache_entries: u32,
    /// Entries of one of its sets; default 4 (section 5.2).
    pub pa_cache_ways: u32,
    /// Whether accesses to the PA-Table delay the fault in full; default false: they run in parallel with the host's
    /// page-table walk, and only the time beyond it is charged (section 5.2).
    pub pa_visible: bool,
    /// Whether neighbours of a page are given its scheme before they reach the threshold; default true (section 5.4).
    pub prediction: bool,
    /// Remote lines of one GPU to one 64 KiB group after which pages of the access-counter scheme migrate; default
    /// 256 (section 3).
    pub counter_threshold: u32,
    /// The pages that move then: the touched page (the default) or its whole group.
    pub counter_moves: CounterMoves,
    /// How a page on the host with the access-counter scheme is served: migrated to the toucher (the default) or mapped
    /// over the host link. Pages of the other schemes come from the host at their first fault.
    pub host_pages: HostPages,
    /// Whether the owner's in-flight accesses are drained when a page enters duplication; default false. GRIT does not
    /// say.
    pub downgrade_drain: bool,
    /// Whether a load of a duplicated page on the host makes a replica and leaves the host its copy; default false: the
    /// page moves. GRIT does not say.
    pub host_replicas: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            fault_threshold: 4,
            pa_cache: true,
            pa_cache_entries: 64,
            pa_cache_ways: 4,
            pa_visible: false,
            prediction: true,
            counter_threshold: 256,
            counter_moves: CounterMoves::Page,
            host_pages: HostPages::Migrate,
            downgrade_drain: false,
            host_replicas: false,
        }
    }
}
