//! Which pages exist, and which address space owns them.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::contract::ids::{PageId, PageRun, SpaceId};
use crate::contract::kind::Kind;
use crate::pages::deciders::Decider;

/// All allocations, in order of their pages.
#[derive(Clone, Default)]
pub(super) struct Allocations {
    /// Sorted and disjoint.
    runs: Vec<PageRun>,
    /// The address space of each allocation.
    spaces: Vec<SpaceId>,
    /// Allocations of managed memory.
    managed: Vec<PageRun>,
    /// The allocations that each placement decides about.
    decided: Vec<Vec<PageRun>>,
    /// The number of allocations of each address space that has any.
    of_space: BTreeMap<SpaceId, u32>,
    /// The owner of all of them, unless there are several: saves a search for each view of a page.
    only: Option<SpaceId>,
}

impl Allocations {
    pub fn runs(&self) -> &[PageRun] {
        &self.runs
    }

    pub fn managed(&self) -> &[PageRun] {
        &self.managed
    }

    /// The allocations that a placement decides about.
    pub fn decided(&self, by: Decider) -> &[PageRun] {
        self.decided.get(by.index()).map_or(&[], Vec::as_slice)
    }

    /// The allocation that `page` is part of, which exists.
    pub fn of(&self, page: PageId) -> PageRun {
        self.runs[self.index(page)]
    }

    /// The allocation that contains `page`.
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

    /// A new allocation, of pages that are in no other and that a strategy decides about, unless they stay.
    pub fn insert(&mut self, run: PageRun, space: SpaceId, kind: Kind, by: Option<Decider>) {
        let at = self.runs.partition_point(|known| known.first < run.first);
        self.runs.insert(at, run);
        self.spaces.insert(at, space);
        count(&mut self.of_space, space, 1);
        if kind == Kind::Managed {
            insert(&mut self.managed, run);
        }
        if let Some(index) = by.map(Decider::index) {
            self.decided.resize_with(self.decided.len().max(index + 1), Vec::new);
            insert(&mut self.decided[index], run);
        }
        self.note_only();
    }

    /// Removes `run`; the rest of an allocation on either side stays.
    pub fn remove(&mut self, run: PageRun) {
        let at = overlapping(&self.runs, run);
        let owned = self.runs[at.clone()].iter().zip(&self.spaces[at.clone()]);
        let left: Vec<(PageRun, SpaceId)> =
            owned.flat_map(|(known, &space)| without(known, run).map(move |left| (left, space))).collect();
        self.spaces[at.clone()].iter().for_each(|space| count(&mut self.of_space, *space, -1));
        left.iter().for_each(|(_, space)| count(&mut self.of_space, *space, 1));
        self.runs.splice(at.clone(), left.iter().map(|(run, _)| *run));
        self.spaces.splice(at, left.iter().map(|(_, space)| *space));
        for runs in self.decided.iter_mut().chain([&mut self.managed]) {
            let at = overlapping(runs, run);
            let left: Vec<PageRun> = runs[at.clone()].iter().flat_map(|known| without(known, run)).collect();
            runs.splice(at, left);
        }
        self.note_only();
    }

    fn note_only(&mut self) {
        let mut spaces = self.of_space.keys();
        self.only = spaces.next().copied().filter(|_| spaces.next().is_none());
    }

    /// Index of the allocation that `page` is part of.
    fn index(&self, page: PageId) -> usize {
        self.runs.partition_point(|known| known.first <= page) - 1
    }
}

/// A space has one allocation more, or fewer.
fn count(of_space: &mut BTreeMap<SpaceId, u32>, space: SpaceId, change: i32) {
    let known = of_space.entry(space).or_default();
    *known = known.saturating_add_signed(change);
    if *known == 0 {
        of_space.remove(&space);
    }
}

/// The positions of those of `runs`, which are sorted and disjoint, that share a page with `run`.
fn overlapping(runs: &[PageRun], run: PageRun) -> Range<usize> {
    let from = runs.partition_point(|known| known.first.0 + known.count <= run.first.0);
    let to = runs.partition_point(|known| known.first.0 < run.first.0 + run.count);
    from..to.max(from)
}

/// The rest of `known` on either side of `run`.
fn without(known: &PageRun, run: PageRun) -> impl Iterator<Item = PageRun> + use<> {
    let (from, to) = (known.first.0, known.first.0 + known.count);
    let pieces = [(from, to.min(run.first.0)), (from.max(run.first.0 + run.count), to)];
    let pieces = pieces.into_iter().filter(|(from, to)| from < to);
    pieces.map(|(from, to)| PageRun { first: PageId(from), count: to - from })
}

fn insert(runs: &mut Vec<PageRun>, run: PageRun) {
    let at = runs.partition_point(|known| known.first < run.first);
    runs.insert(at, run);
}
