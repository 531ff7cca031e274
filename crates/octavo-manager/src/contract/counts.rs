//! Counts of what the manager decided. A plan that fails is counted like one that succeeds.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// What happened so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Statistics {
    /// Faults on a page that was not mapped, each counted once however long it waited.
    pub far_faults: u64,
    /// Stores to a page that was mapped read-only.
    pub protection_faults: u64,
    /// Faults that were the first on their page since its allocation.
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
    /// Pages moved at a time that the placement had named; also in `migrations`. Not listed if there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub timed_migrations: u64,
    /// Pages that were prefetched.
    pub prefetched: u64,
    /// Plans that brought pages apart from the faults that they were prefetched with. Not listed if there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub prefetch_plans: u64,
    /// Pages that got their first frame at a touch or by a prefetch, or with their allocation. Not listed if there are
    /// none, as where all pages lie on the host from the beginning.
    #[serde(skip_serializing_if = "is_zero")]
    pub populated: u64,
    /// Pages that came to be local to every GPU and take up no room from then on (`ideal`), each time: GPUs then hold more
    /// than their memory has room for. Not listed if there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub pages_without_room: u64,
    /// Sole copies written to the host because a memory was full.
    pub evictions_written: u64,
    /// Sole copies that another GPU's memory keeps since a memory was full. Not listed if there are none, nor are the
    /// next three.
    #[serde(skip_serializing_if = "is_zero")]
    pub evictions_to_spare: u64,
    /// Of those, pages of which the host got a copy.
    #[serde(skip_serializing_if = "is_zero")]
    pub written_back: u64,
    /// Of those, pages that were removed without a copy because the GPU that kept them needed the room.
    #[serde(skip_serializing_if = "is_zero")]
    pub yielded: u64,
    /// Of those, pages that came back from the memory that kept them.
    #[serde(skip_serializing_if = "is_zero")]
    pub fetched_from_spare: u64,
    /// Pages of the host that another GPU's idle memory got a copy of, to be fetched from there. Not listed if there are
    /// none.
    #[serde(skip_serializing_if = "is_zero")]
    pub staged: u64,
    /// Pages that `multi-path` brought as `local-path` does, because more GPUs borrowed memory than lent it. Not listed if
    /// there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub fell_back: u64,
    /// Replicas given up because a memory was full.
    pub evictions_dropped: u64,
    /// Pages that a program discarded while a memory held them. Not listed if there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub discarded: u64,
    /// Pages that came to a GPU's memory again after they had left one that was full, each time. Not listed if there are
    /// none.
    #[serde(skip_serializing_if = "is_zero")]
    pub thrashed: u64,
    /// Written pages that went to the host when it waited for the GPUs between launches. Not listed if there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub synchronised: u64,
    /// Of the pages that left a full memory, those that made room for another address space, if these are counted
    /// apart. Not listed if there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub evictions_for_others: u64,
    /// Replicas given up because they were not read.
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
    /// Large frames that allocated memory should have had: none was free, and no more could be freed. Not listed if there
    /// are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub large_frames_lacking: u64,
    /// Large pages with holes that were splintered because no other frame was left.
    pub emergency_splinters: u64,
    /// The frame allocator's counts, with those of all other allocators.
    #[serde(flatten)]
    #[schemars(skip)]
    pub allocator: NamedCounts,
    /// Plans that failed.
    pub failed_plans: u64,
    /// The counts of the placement of managed memory, with those of all other placements.
    #[serde(flatten)]
    #[schemars(skip)]
    pub placement: NamedCounts,
    /// What the guard counts.
    #[serde(flatten)]
    #[schemars(skip)]
    pub guard: NamedCounts,
    /// The counts of placements that decide only about a part of the memory. Not listed if they count nothing.
    #[serde(skip_serializing_if = "PlacementCounts::is_empty")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub placements: PlacementCounts,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Statistics {
    /// The count of a strategy under this name, or this name in a group, such as `scheme_changes.unchanged`.
    #[must_use]
    pub fn named(&self, path: &str) -> Option<u64> {
        self.allocator.get(path).or_else(|| self.placement.get(path)).or_else(|| self.guard.get(path))
    }
}

/// The counts of a strategy, by name, in the order of summaries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedCounts(Vec<(&'static str, Counted)>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Counted {
    One(u64),
    Group(Vec<(&'static str, u64)>),
}

impl NamedCounts {
    /// And one more.
    #[must_use]
    pub fn with(mut self, name: &'static str, count: u64) -> Self {
        self.0.push((name, Counted::One(count)));
        self
    }

    /// And some that belong together.
    #[must_use]
    pub fn with_group(mut self, name: &'static str, counts: impl IntoIterator<Item = (&'static str, u64)>) -> Self {
        self.0.push((name, Counted::Group(counts.into_iter().collect())));
        self
    }

    /// The count of this name, or of `group.name`.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<u64> {
        let (first, rest) = path.split_once('.').map_or((path, None), |(group, name)| (group, Some(name)));
        let (_, counted) = self.0.iter().find(|(name, _)| *name == first)?;
        match (counted, rest) {
            (Counted::One(count), None) => Some(*count),
            (Counted::Group(counts), Some(rest)) => {
                counts.iter().find(|(name, _)| *name == rest).map(|(_, count)| *count)
            }
            _ => None,
        }
    }

    /// These counts with the values of `own` where it has them. Its other counts come last.
    pub(crate) fn updated(mut self, own: Self) -> Self {
        for (name, counted) in own.0 {
            match self.0.iter_mut().find(|(known, _)| *known == name) {
                Some((_, value)) => *value = counted,
                None => self.0.push((name, counted)),
            }
        }
        self
    }
}

/// The counts of placements, by the part that they decide about: `system` for the operating system's memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacementCounts(Vec<(String, NamedCounts)>);

impl PlacementCounts {
    /// The placements that count anything.
    pub(crate) fn of(counts: impl Iterator<Item = (String, NamedCounts)>) -> Self {
        Self(counts.filter(|(_, counts)| !counts.0.is_empty()).collect())
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The counts of the placement for this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&NamedCounts> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, counts)| counts)
    }
}

impl Serialize for PlacementCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, counts)| (name, counts)))
    }
}

impl Serialize for NamedCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, counted)| (name, counted)))
    }
}

impl Serialize for Counted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(count) => serializer.serialize_u64(*count),
            Self::Group(counts) => serializer.collect_map(counts.iter().map(|(name, count)| (name, count))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strategy_fills_in_its_own_counts_and_adds_to_the_list() {
        let listed = NamedCounts::default().with_group("turns", [("left", 0), ("right", 0)]).with("stops", 0);
        let own = NamedCounts::default().with("starts", 1).with("stops", 2);
        let counts = listed.updated(own);
        assert_eq!(serde_json::to_string(&counts).unwrap(), r#"{"turns":{"left":0,"right":0},"stops":2,"starts":1}"#);
        let found = ["stops", "turns.left", "turns", "turns.up", "stops.left"].map(|path| counts.get(path));
        assert_eq!(found, [Some(2), Some(0), None, None, None]);
    }

    #[test]
    fn what_seldom_happens_is_listed_only_where_it_did() {
        let listed = serde_json::to_value(Statistics { populated: 3, ..Statistics::default() }).unwrap();
        assert_eq!((&listed["populated"], &listed["migrations"]), (&3.into(), &0.into()));
        assert!(listed.get("staged").is_none(), "{listed}");
    }
}
