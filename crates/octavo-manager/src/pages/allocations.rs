//! Which pages exist, and whose they are.

use crate::contract::ids::{PageId, PageRun, SpaceId};
use crate::contract::kind::Kind;

/// All allocations, in order of their pages.
#[derive(Clone, Default)]
pub(super) struct Allocations {
    /// Sorted and disjoint.
    runs: Vec<PageRun>,
    /// Whose each is.
    spaces: Vec<SpaceId>,
    /// Those of managed memory.
    managed: Vec<PageRun>,
    /// Whose all are, unless they are of several: saves a search for each view of a page.
    only: Option<SpaceId>,
}

impl Allocations {
    pub fn runs(&self) -> &[PageRun] {
        &self.runs
    }

    pub fn managed(&self) -> &[PageRun] {
        &self.managed
    }

    /// The allocation that `page` is part of, which exists.
    pub fn of(&self, page: PageId) -> PageRun {
        self.runs[self.index(page)]
    }

    /// Whose `page` is, which is part of an allocation.
    #[inline]
    pub fn space(&self, page: PageId) -> SpaceId {
        self.only.unwrap_or_else(|| self.spaces[self.index(page)])
    }

    /// Whether all these pages are allocated, and by `space`.
    pub fn all_of_space(&self, run: PageRun, space: SpaceId) -> bool {
        let (first, end) = (run.first.0, u64::from(run.first.0) + u64::from(run.count));
        let at = self.runs.partition_point(|known| known.first.0 <= first);
        let mut reached = u64::from(first);
        for index in at.saturating_sub(1)..self.runs.len() {
            let known = self.runs[index];
            let (from, to) = (u64::from(known.first.0), u64::from(known.first.0) + u64::from(known.count));
            if reached >= end || from > reached || self.spaces[index] != space {
                break;
            }
            reached = reached.max(to);
        }
        reached >= end
    }

    /// A new one, of pages that are in no other.
    pub fn insert(&mut self, run: PageRun, space: SpaceId, kind: Kind) {
        let at = self.runs.partition_point(|known| known.first < run.first);
        self.runs.insert(at, run);
        self.spaces.insert(at, space);
        if kind == Kind::Managed {
            let at = self.managed.partition_point(|known| known.first < run.first);
            self.managed.insert(at, run);
        }
        self.note_only();
    }

    /// Takes `run` out; what is left of an allocation on either side stays.
    pub fn remove(&mut self, run: PageRun) {
        let (first, end) = (run.first.0, run.first.0 + run.count);
        let cut = |known: &PageRun| {
            let (from, to) = (known.first.0, known.first.0 + known.count);
            [(from, to.min(first)), (from.max(end), to)]
        };
        let left = |known: &PageRun| {
            let pieces = cut(known).into_iter().filter(|(from, to)| from < to);
            pieces.map(|(from, to)| PageRun { first: PageId(from), count: to - from })
        };
        let owned = self.runs.iter().zip(&self.spaces);
        (self.runs, self.spaces) = owned.flat_map(|(known, &space)| left(known).map(move |run| (run, space))).unzip();
        self.managed = self.managed.iter().flat_map(left).collect();
        self.note_only();
    }

    fn note_only(&mut self) {
        let first = self.spaces.first().copied();
        self.only = first.filter(|first| self.spaces.iter().all(|space| space == first));
    }

    /// Index of the allocation that `page` is part of.
    fn index(&self, page: PageId) -> usize {
        self.runs.partition_point(|known| known.first <= page) - 1
    }
}
