//! GRIT's PA-Table as a map and its PA-Cache as sixteen lists, with every memory access counted.

use std::collections::BTreeMap;

const SETS: u32 = 16;
const WAYS: usize = 4;

/// What is remembered about the faults on one page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    pub faults: u32,
    pub written: bool,
}

/// The table in host memory and, unless it is switched off, the cache in front of it.
#[derive(Debug)]
pub struct PageAttributes {
    pub table: BTreeMap<u32, Entry>,
    /// Each set from the least to the most recently used entry.
    cache: Option<Vec<Vec<(u32, Entry)>>>,
    pub hits: u64,
    pub misses: u64,
    pub reads: u64,
    pub writes: u64,
}

impl PageAttributes {
    pub fn new(cached: bool) -> Self {
        let cache = cached.then(|| vec![Vec::new(); SETS as usize]);
        Self { table: BTreeMap::new(), cache, hits: 0, misses: 0, reads: 0, writes: 0 }
    }

    /// Counts a fault on `page`; answers whether any fault was a write once `threshold` is reached, and then forgets
    /// the page.
    pub fn fault(&mut self, page: u32, write: bool, threshold: u32) -> Option<bool> {
        let Entry { faults, written } = self.bring(page);
        let entry = Entry { faults: faults + 1, written: written || write };
        if entry.faults >= threshold {
            self.forget(page, true);
            return Some(entry.written);
        }
        self.update(page, entry);
        None
    }

    /// The page's entry or a new one; from now on it is the cache's most recently used.
    fn bring(&mut self, page: u32) -> Entry {
        if let Some(entry) = self.take_cached(page) {
            self.hits += 1;
            self.put_cached(page, entry);
            return entry;
        }
        self.misses += 1;
        self.reads += 1;
        let entry = self.table.get(&page).copied().unwrap_or_default();
        self.put_cached(page, entry);
        entry
    }

    fn take_cached(&mut self, page: u32) -> Option<Entry> {
        let set = &mut self.cache.as_mut()?[(page % SETS) as usize];
        let way = set.iter().position(|(cached, _)| *cached == page)?;
        Some(set.remove(way).1)
    }

    /// Puts an entry into the cache, if there is one; the least recently used of a full set is written back.
    fn put_cached(&mut self, page: u32, entry: Entry) {
        let Some(cache) = &mut self.cache else { return };
        let set = &mut cache[(page % SETS) as usize];
        set.push((page, entry));
        if set.len() > WAYS {
            let (victim, entry) = set.remove(0);
            self.writes += 1;
            self.table.insert(victim, entry);
        }
    }

    fn update(&mut self, page: u32, entry: Entry) {
        if self.cache.is_some() {
            self.take_cached(page);
            self.put_cached(page, entry);
        } else {
            self.writes += 1;
            self.table.insert(page, entry);
        }
    }

    /// Deletes the entry everywhere; in the fault path, taking it out of the table is a write.
    pub fn forget(&mut self, page: u32, pays: bool) {
        self.take_cached(page);
        let stored = self.table.remove(&page).is_some();
        self.writes += u64::from(stored && pays);
    }
}
