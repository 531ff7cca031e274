//! The driver's prefetcher as the publication describes it.

use std::collections::BTreeSet;

use super::Prefetcher;

/// The most pages of one fault.
const MOST: u64 = 256;

/// Strided faults of one multiprocessor double the number of pages each time, 1, 2, 4, … up to 256, and then start
/// again at one. One of these for each multiprocessor.
///
/// The publication does not say how a stride is found, nor where the pages lie. Here it is a distance that two faults
/// in a row have (a fault is expected behind what the one before brought), and the pages lie along it. Any other fault
/// brings only its own page.
#[derive(Clone, Debug, Default)]
pub struct Doubling {
    last: Option<Stride>,
}

/// The pattern of a multiprocessor's faults.
#[derive(Clone, Copy, Debug)]
struct Stride {
    /// The last page that faulted.
    page: u64,
    /// The distance from the page before it; 0 if there is none.
    distance: i64,
    /// Pages that it brought, itself counted.
    fetched: u64,
}

impl Stride {
    /// Where the next fault is if the stride continues.
    fn next(self) -> Option<u64> {
        let step = self.distance.checked_mul(i64::try_from(self.fetched).ok()?)?;
        self.page.checked_add_signed(step).filter(|_| self.distance != 0)
    }
}

impl Prefetcher for Doubling {
    fn fault(&mut self, page: u64, _: &BTreeSet<u64>) -> Vec<u64> {
        let now = match self.last {
            None => Stride { page, distance: 0, fetched: 1 },
            Some(last) if last.next() == Some(page) => Stride {
                page,
                distance: last.distance,
                fetched: if last.fetched == MOST { 1 } else { last.fetched * 2 },
            },
            Some(last) => Stride { page, distance: page.wrapping_sub(last.page).cast_signed(), fetched: 1 },
        };
        self.last = Some(now);
        (1..now.fetched)
            .filter_map(|step| page.checked_add_signed(now.distance.checked_mul(step.cast_signed())?))
            .collect()
    }
}
