//! Numbers of pages, given out and taken back.

use std::collections::BTreeMap;

use octavo_manager::{PageId, PageRun};

/// Numbers that no page has.
pub(crate) struct Numbers {
    /// First and count; none begins where another ends.
    free: BTreeMap<u32, u32>,
}

impl Default for Numbers {
    fn default() -> Self {
        Self { free: BTreeMap::from([(0, u32::MAX)]) }
    }
}

impl Numbers {
    /// The lowest that lie together; `None` if there are too few.
    pub fn take(&mut self, count: u32) -> Option<PageRun> {
        let (&first, &length) = self.free.iter().find(|&(_, &length)| length >= count)?;
        self.free.remove(&first);
        if length > count {
            self.free.insert(first + count, length - count);
        }
        Some(PageRun { first: PageId(first), count })
    }

    /// These are nobody's any more.
    pub fn put(&mut self, run: PageRun) {
        let (mut first, mut count) = (run.first.0, run.count);
        if let Some(behind) = self.free.remove(&(first + count)) {
            count += behind;
        }
        if let Some((&before, &length)) = self.free.range(..first).next_back()
            && before + length == first
        {
            (first, count) = (before, length + count);
        }
        self.free.insert(first, count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_back_is_taken_again_and_joins_its_neighbours() {
        let mut numbers = Numbers::default();
        let runs: Vec<PageRun> = (0..3).map(|_| numbers.take(4).unwrap()).collect();
        assert_eq!(runs.iter().map(|run| run.first.0).collect::<Vec<_>>(), [0, 4, 8]);
        numbers.put(runs[0]);
        assert_eq!(numbers.take(5).unwrap().first.0, 12);
        numbers.put(runs[1]);
        assert_eq!(numbers.take(8).unwrap().first.0, 0);
        [PageRun { first: PageId(0), count: 8 }, PageRun { first: PageId(12), count: 5 }, runs[2]]
            .into_iter()
            .for_each(|run| numbers.put(run));
        assert_eq!(numbers.free, BTreeMap::from([(0, u32::MAX)]));
    }
}
