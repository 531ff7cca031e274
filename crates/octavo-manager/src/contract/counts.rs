//! Counts of what the manager decided. A plan that fails is counted like one that succeeds.

use serde::Serialize;

use crate::contract::page::Scheme;

/// What happened so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Statistics {
    /// Faults on a page that was not mapped, each counted once however long it waited.
    pub far_faults: u64,
    /// Stores to a page that was mapped read-only.
    pub protection_faults: u64,
    /// Of all faults, the first on their page since it was allocated.
    pub cold_faults: u64,
    /// Faults on a page that was mapped in the meantime.
    pub stale_faults: u64,
    /// Times a fault had to wait because its page was in an unfinished plan.
    pub faults_on_busy_pages: u64,
    /// Times a fault had to wait because no frame could be freed.
    pub faults_without_room: u64,
    /// Times a fault had to wait until memory was compacted.
    pub faults_on_compaction: u64,
    /// Pages moved for a fault, a counter or a report.
    pub migrations: u64,
    /// Replicas made.
    pub duplications: u64,
    /// Times a write removed all copies but the writer's.
    pub collapses: u64,
    /// Times the replicas of a page were removed because its scheme no longer has any.
    pub replicas_left: u64,
    /// Mappings made to another processor's memory.
    pub remote_maps: u64,
    /// Read-only sole copies made writable for their owner.
    pub upgrades: u64,
    /// Pages moved because an access counter reached its threshold; also in `migrations`.
    pub counter_migrations: u64,
    /// Counter notifications that moved nothing.
    pub counters_ignored: u64,
    /// Pages moved at a report; also in `migrations`.
    pub report_migrations: u64,
    /// Pages brought before they were asked for.
    pub prefetched: u64,
    /// Sole copies written to the host because a memory was full.
    pub evictions_written: u64,
    /// Replicas given up because a memory was full.
    pub evictions_dropped: u64,
    /// Replicas given up because nobody read them.
    pub unsubscribed: u64,
    /// Times the base pages of a block became a large page.
    pub coalesced: u64,
    /// Times a large page became base pages again.
    pub splintered: u64,
    /// Times base pages were moved so that a large frame became free.
    pub compactions: u64,
    /// Base pages moved for that, foreign ones included.
    pub pages_compacted: u64,
    /// Large frames that became free by that.
    pub frames_freed_by_compaction: u64,
    /// Large pages with holes that were splintered because no other frame was left.
    pub emergency_splinters: u64,
    /// Base pages that were put into a large frame with pages of another application.
    pub soft_guarantee_broken: u64,
    /// Base pages of a whole block that did not get their own place in a large frame.
    pub identity_missed: u64,
    /// Plans that failed.
    pub failed_plans: u64,
    /// Decisions about the scheme of a page.
    pub scheme_changes: SchemeChanges,
    /// Allocated pages by scheme.
    pub pages_by_scheme: PagesByScheme,
    /// Pages whose scheme changed because their neighbours' did.
    pub predictions: u64,
    /// Groups of pages formed, of any size.
    pub groups_formed: u64,
    /// Times a group was split by one level.
    pub groups_split: u64,
    /// Lookups that GRIT's PA-Cache served.
    pub pa_cache_hits: u64,
    /// Lookups that it did not serve, or that were made without it.
    pub pa_cache_misses: u64,
    /// Reads of GRIT's PA-Table in memory.
    pub pa_table_reads: u64,
    /// Writes of it.
    pub pa_table_writes: u64,
}

/// Decisions about the scheme of a page, by old and new scheme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SchemeChanges {
    /// On-touch to access counter.
    pub on_touch_to_access_counter: u64,
    /// On-touch to duplication.
    pub on_touch_to_duplication: u64,
    /// Access counter to duplication.
    pub access_counter_to_duplication: u64,
    /// Duplication to access counter.
    pub duplication_to_access_counter: u64,
    /// Decisions for the scheme the page had.
    pub unchanged: u64,
}

impl SchemeChanges {
    /// Counts one decision.
    pub fn count(&mut self, old: Scheme, new: Scheme) {
        let counter = match (old, new) {
            (Scheme::OnTouch, Scheme::AccessCounter) => &mut self.on_touch_to_access_counter,
            (Scheme::OnTouch, Scheme::Duplication) => &mut self.on_touch_to_duplication,
            (Scheme::AccessCounter, Scheme::Duplication) => &mut self.access_counter_to_duplication,
            (Scheme::Duplication, Scheme::AccessCounter) => &mut self.duplication_to_access_counter,
            _ => &mut self.unchanged,
        };
        *counter += 1;
    }
}

/// Allocated pages by the scheme in their entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PagesByScheme {
    /// The placement keeps no scheme for each page.
    pub none: u64,
    /// PTE\[10:9\] = 01.
    pub on_touch: u64,
    /// PTE\[10:9\] = 10.
    pub access_counter: u64,
    /// PTE\[10:9\] = 11.
    pub duplication: u64,
}
