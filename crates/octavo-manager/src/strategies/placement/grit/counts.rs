//! GRIT's counts.

use super::bits::{SCHEME, Scheme};
use crate::contract::counts::NamedCounts;
use crate::pages::census::Census;

#[derive(Default)]
pub(in crate::strategies::placement) struct Counts {
    changes: SchemeChanges,
    /// Pages whose scheme changed because their neighbours' did.
    pub predictions: u64,
    /// Groups of pages formed, of any size.
    pub groups_formed: u64,
    /// Times a group was split by one level.
    pub groups_split: u64,
    /// Lookups that the PA-Cache served.
    pub pa_cache_hits: u64,
    /// Lookups that it did not serve, or that were made without it.
    pub pa_cache_misses: u64,
    /// Reads of the PA-Table in memory.
    pub pa_table_reads: u64,
    /// Writes of it.
    pub pa_table_writes: u64,
}

/// Decisions about the scheme of a page, by old and new scheme.
#[derive(Default)]
struct SchemeChanges {
    on_touch_to_access_counter: u64,
    on_touch_to_duplication: u64,
    access_counter_to_duplication: u64,
    duplication_to_access_counter: u64,
    /// Decisions for the scheme the page had.
    unchanged: u64,
}

impl Counts {
    /// Counts one decision.
    pub fn decided(&mut self, old: Scheme, new: Scheme) {
        let changes = &mut self.changes;
        let counter = match (old, new) {
            (Scheme::OnTouch, Scheme::AccessCounter) => &mut changes.on_touch_to_access_counter,
            (Scheme::OnTouch, Scheme::Duplication) => &mut changes.on_touch_to_duplication,
            (Scheme::AccessCounter, Scheme::Duplication) => &mut changes.access_counter_to_duplication,
            (Scheme::Duplication, Scheme::AccessCounter) => &mut changes.duplication_to_access_counter,
            _ => &mut changes.unchanged,
        };
        *counter += 1;
    }

    /// The counts as summaries list them.
    pub fn named(&self, census: &Census<'_>) -> NamedCounts {
        NamedCounts::default()
            .with_group("scheme_changes", self.changes.named())
            .with_group("pages_by_scheme", census.by(&SCHEME))
            .with("predictions", self.predictions)
            .with("groups_formed", self.groups_formed)
            .with("groups_split", self.groups_split)
            .with("pa_cache_hits", self.pa_cache_hits)
            .with("pa_cache_misses", self.pa_cache_misses)
            .with("pa_table_reads", self.pa_table_reads)
            .with("pa_table_writes", self.pa_table_writes)
    }
}

impl SchemeChanges {
    fn named(&self) -> [(&'static str, u64); 5] {
        [
            ("on_touch_to_access_counter", self.on_touch_to_access_counter),
            ("on_touch_to_duplication", self.on_touch_to_duplication),
            ("access_counter_to_duplication", self.access_counter_to_duplication),
            ("duplication_to_access_counter", self.duplication_to_access_counter),
            ("unchanged", self.unchanged),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_of_a_scheme_is_counted_as_what_it_is() {
        use Scheme::{AccessCounter, Duplication, OnTouch};
        let mut counts = Counts::default();
        let decisions = [
            (OnTouch, AccessCounter),
            (OnTouch, Duplication),
            (AccessCounter, Duplication),
            (Duplication, AccessCounter),
            (Duplication, Duplication),
        ];
        for (times, (old, new)) in (1..).zip(decisions) {
            (0..times).for_each(|_| counts.decided(old, new));
        }
        let expected = [
            ("on_touch_to_access_counter", 1),
            ("on_touch_to_duplication", 2),
            ("access_counter_to_duplication", 3),
            ("duplication_to_access_counter", 4),
            ("unchanged", 5),
        ];
        assert_eq!(counts.changes.named(), expected);
    }
}
