//! Advice of programs about the use of their pages.

use crate::contract::ids::{PageId, PageRun};
use crate::contract::kind::Advice;

/// Runs of pages about which something was said, ascending and disjoint.
#[derive(Clone, Default)]
pub(crate) struct Advised(Vec<(PageRun, Advice)>);

impl Advised {
    /// Whether no page has advice.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The latest advice for `page`.
    pub fn of(&self, page: PageId) -> Advice {
        let after = self.0.partition_point(|(run, _)| run.first <= page);
        let below = after.checked_sub(1).map(|at| self.0[at]);
        below.filter(|(run, _)| page.0 - run.first.0 < run.count).map(|(_, advice)| advice).unwrap_or_default()
    }

    /// From now on, this is the advice for these pages; earlier advice no longer holds.
    pub fn set(&mut self, pages: PageRun, advice: Advice) {
        self.forget(pages);
        if advice != Advice::default() {
            let at = self.0.partition_point(|(run, _)| run.first < pages.first);
            self.0.insert(at, (pages, advice));
        }
    }

    /// These pages lose their advice.
    pub fn forget(&mut self, pages: PageRun) {
        let (first, end) = (pages.first.0, pages.first.0 + pages.count);
        let left = |&(run, advice): &(PageRun, Advice)| {
            let (from, to) = (run.first.0, run.first.0 + run.count);
            let pieces = [(from, to.min(first)), (from.max(end), to)];
            let pieces = pieces.into_iter().filter(|(from, to)| from < to);
            pieces.map(move |(from, to)| (PageRun { first: PageId(from), count: to - from }, advice))
        };
        self.0 = self.0.iter().flat_map(left).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::ids::HOST_MEMORY;

    fn run(first: u32, count: u32) -> PageRun {
        PageRun { first: PageId(first), count }
    }

    #[test]
    fn what_was_said_last_about_a_page_holds() {
        let read = Advice { read_mostly: true, ..Advice::default() };
        let preferred = Advice { preferred: Some(HOST_MEMORY), ..Advice::default() };
        let mut advised = Advised::default();
        advised.set(run(10, 10), read);
        advised.set(run(10, 5), preferred);
        let nothing = Advice::default();
        let said = [9, 10, 14, 15, 19, 20].map(|page| advised.of(PageId(page)));
        assert_eq!(said, [nothing, preferred, preferred, read, read, nothing]);
        advised.forget(run(12, 5));
        let said = [11, 12, 16, 17].map(|page| advised.of(PageId(page)));
        assert_eq!(said, [preferred, nothing, nothing, read]);
        assert!(!advised.is_empty());
        advised.set(run(0, 30), nothing);
        assert!(advised.is_empty());
    }
}
