//! Which pages the driver brings in addition to those that fault: two prefetchers, and the number of faults with them.

mod doubling;
mod tree;

use std::collections::BTreeSet;
use std::ops::Range;

use octavo_units::Bytes;

pub use doubling::Doubling;
pub use tree::{BadTree, Tree};

/// Decides which pages come with a faulting page.
pub trait Prefetcher {
    /// Pages to bring besides `page` because it faults; some may be there already. `present` are those that are,
    /// without `page`.
    fn fault(&mut self, page: u64, present: &BTreeSet<u64>) -> Vec<u64>;
}

/// No prefetcher.
#[derive(Clone, Copy, Debug, Default)]
pub struct OnlyFaults;

impl Prefetcher for OnlyFaults {
    fn fault(&mut self, _: u64, _: &BTreeSet<u64>) -> Vec<u64> {
        Vec::new()
    }
}

/// The result of touching pages one after another when none is present at first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fetches {
    /// Pages that faulted.
    pub faults: u64,
    /// Pages that came without a fault of their own.
    pub prefetched: u64,
    /// Prefetched pages that were touched later.
    pub useful: u64,
    /// Pages that each fault brought, itself counted.
    pub each: Vec<u64>,
}

/// Touches pages of one allocation in order. The allocation has page numbers `pages`; no page outside it comes.
pub fn replay(touches: impl IntoIterator<Item = u64>, pages: &Range<u64>, prefetcher: &mut dyn Prefetcher) -> Fetches {
    let (mut present, mut unused) = (BTreeSet::new(), BTreeSet::new());
    let mut found = Fetches::default();
    for page in touches.into_iter().filter(|page| pages.contains(page)) {
        found.useful += u64::from(unused.remove(&page));
        if present.contains(&page) {
            continue;
        }
        let asked = prefetcher.fault(page, &present);
        present.insert(page);
        let come: BTreeSet<u64> =
            asked.into_iter().filter(|other| pages.contains(other) && !present.contains(other)).collect();
        found.faults += 1;
        found.prefetched += come.len() as u64;
        found.each.push(1 + come.len() as u64);
        present.extend(&come);
        unused.extend(come);
    }
    found
}

/// Pages of `size`, from `base` on.
#[must_use]
pub fn pages_of(base: u64, size: Bytes, page: Bytes) -> Range<u64> {
    base / page.0..(base + size.0).div_ceil(page.0)
}
