//! The PA-Cache: the PA-Table entries used last, in front of host memory.

use crate::contract::ids::PageId;

/// A set-associative cache of page numbers with LRU replacement, write-allocate and write-back. The set is chosen by
/// the low bits of the page number. Each lookup is for a fault that is counted, so every entry in it is dirty.
pub(super) struct PaCache {
    ways: usize,
    /// Sets one after another, each with its most recently used entry first.
    lines: Vec<Option<PageId>>,
}

impl PaCache {
    pub fn new(entries: u32, ways: u32) -> Self {
        Self { ways: ways as usize, lines: vec![None; entries as usize] }
    }

    /// Looks `page` up and leaves it as the most recently used of its set. If it was not there, `Err` with the entry
    /// that had to make room, if one did.
    pub fn access(&mut self, page: PageId) -> Result<(), Option<PageId>> {
        let set = self.set(page);
        if let Some(way) = set.iter().position(|line| *line == Some(page)) {
            set[..=way].rotate_right(1);
            return Ok(());
        }
        set.rotate_right(1);
        Err(set[0].replace(page))
    }

    /// Removes `page`; its way is the next to be filled.
    pub fn remove(&mut self, page: PageId) {
        let set = self.set(page);
        if let Some(way) = set.iter().position(|line| *line == Some(page)) {
            set[way] = None;
            set[way..].rotate_left(1);
        }
    }

    pub fn contains(&self, page: PageId) -> bool {
        let first = self.first(page);
        self.lines[first..first + self.ways].contains(&Some(page))
    }

    fn set(&mut self, page: PageId) -> &mut [Option<PageId>] {
        let first = self.first(page);
        &mut self.lines[first..first + self.ways]
    }

    fn first(&self, page: PageId) -> usize {
        page.index() % (self.lines.len() / self.ways) * self.ways
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_of_a_set_makes_room() {
        let mut cache = PaCache::new(64, 4);
        for page in [0, 16, 32, 48] {
            assert_eq!(cache.access(PageId(page)), Err(None));
        }
        assert_eq!(cache.access(PageId(0)), Ok(()));
        assert_eq!(cache.access(PageId(64)), Err(Some(PageId(16))));
        assert_eq!(cache.access(PageId(1)), Err(None), "another set");
        cache.remove(PageId(0));
        assert_eq!(cache.access(PageId(80)), Err(None), "a removed entry leaves room");
        assert!(cache.contains(PageId(32)) && !cache.contains(PageId(0)));
    }
}
