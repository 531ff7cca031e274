//! Page-table walkers of a GPU with their page-walk cache and queue.

use octavo_node::WalkerConfig;

use crate::engine::slots::{Order, Servers, Slots};

/// log2 of the entries of a page-table page, at each level above the last.
pub(super) const LEVEL_BITS: u32 = 9;

/// The shape of a radix page table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TableShape {
    /// Levels, the last of which holds the entries of pages.
    pub levels: u32,
    /// log2 of the page entries in a table page of the last level.
    pub leaf_bits: u32,
}

impl TableShape {
    /// Four levels down to 2 MiB tables of small pages, three for 2 MiB pages themselves.
    pub fn for_page(bytes: u64) -> Self {
        const LARGE: u64 = 2 << 20;
        if bytes >= LARGE {
            return Self { levels: 3, leaf_bits: LEVEL_BITS };
        }
        Self { levels: 4, leaf_bits: (LARGE / bytes).trailing_zeros() }
    }
}

pub(crate) struct Walker {
    walkers: Servers,
    /// Walkers and places in the queue together: how many walks may be in progress or waiting.
    places: Slots,
    cache: WalkCache,
    shape: TableShape,
    level_time: u64,
    distance: u64,
}

/// A finished walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Walk {
    pub done: u64,
    /// Page-table levels that were read from memory.
    pub levels: u32,
}

/// A walk that reads its levels one by one: `first_level..levels`, 0 being the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Begun {
    /// The time when it got its place.
    admitted: u64,
    pub start: u64,
    pub first_level: u32,
    pub levels: u32,
}

impl Walker {
    pub fn new(config: &WalkerConfig, order: Order, shape: TableShape, cycle: u64) -> Self {
        Self {
            walkers: Servers::new(config.walkers, order),
            places: Slots::new(config.walkers + config.queue, order),
            cache: WalkCache::new(config.cache_entries as usize),
            shape,
            level_time: config.level.0 * cycle,
            distance: config.distance.0 * cycle,
        }
    }

    /// The levels down to the entry of a page, or of a large page: an entry of the last level but one leads there.
    const fn levels(&self, large: bool) -> u32 {
        self.shape.levels - large as u32
    }

    /// The time when a walk that is requested at `time` can begin, the levels that it has to read, and its walker. It
    /// lasts until [`Walker::end`]. `at` is the clock and that time; the walk is for `page` or the large page around
    /// it.
    pub fn begin(&mut self, (now, time): (u64, u64), page: u32, large: bool) -> Begun {
        let levels = self.levels(large);
        let admitted = self.places.available(now, time + self.distance);
        let first_level = self.cache.lookup(page, self.shape, levels);
        Begun { admitted, start: self.walkers.available(now, admitted), first_level, levels }
    }

    /// A walk has read its last level at `walked`; returns when the answer is back.
    pub fn end(&mut self, now: u64, walk: Begun, walked: u64) -> u64 {
        self.walkers.take(now, walk.start, walked);
        self.places.take(now, walk.admitted, walked);
        walked + self.distance
    }

    /// Walks the table at a fixed time a level, beginning at `time` or when there is room.
    pub fn walk(&mut self, at: (u64, u64), page: u32, large: bool) -> Walk {
        let begun = self.begin(at, page, large);
        let levels = begun.levels - begun.first_level;
        Walk { done: self.end(at.0, begun, begun.start + u64::from(levels) * self.level_time), levels }
    }
}

/// Page-walk cache: fully associative, LRU, keyed by (level, address prefix).
struct WalkCache {
    /// Most recently used first.
    keys: Vec<u64>,
    capacity: usize,
}

impl WalkCache {
    fn new(capacity: usize) -> Self {
        Self { keys: Vec::with_capacity(capacity), capacity }
    }

    /// How many of the levels above the last of this many need not be read, after which all of them are cached.
    fn lookup(&mut self, page: u32, shape: TableShape, levels: u32) -> u32 {
        let upper = levels - 1;
        let key = |depth| u64::from(depth) << 56 | prefix(page, depth, shape);
        // The longest cached prefix serves: depth `upper` names the table page that holds the entry itself.
        let known = (1..=upper).rev().find(|&depth| self.touch(key(depth))).unwrap_or(0);
        for depth in known + 1..=upper {
            self.insert(key(depth));
        }
        known
    }

    fn touch(&mut self, key: u64) -> bool {
        let Some(at) = self.keys.iter().position(|&other| other == key) else { return false };
        self.keys.copy_within(0..at, 1);
        self.keys[0] = key;
        true
    }

    fn insert(&mut self, key: u64) {
        if self.capacity == 0 {
            return;
        }
        self.keys.truncate(self.capacity - 1);
        self.keys.insert(0, key);
    }
}

/// The address bits that name the table page reached after `depth` levels on the way to `page`.
fn prefix(page: u32, depth: u32, shape: TableShape) -> u64 {
    u64::from(page) >> (shape.leaf_bits + LEVEL_BITS * (shape.levels - 1 - depth))
}

#[cfg(test)]
mod tests {
    use octavo_units::Cycles;

    use super::*;
    use octavo_node::WalkerScope;

    fn walker(walkers: u32, cache_entries: u32) -> Walker {
        let config = WalkerConfig {
            walkers,
            level: Cycles(100),
            in_memory: false,
            cache_entries,
            queue: 64,
            scope: WalkerScope::PerGpu,
            distance: Cycles(0),
        };
        Walker::new(&config, Order::Requests, TableShape::for_page(4096), 1000)
    }

    #[test]
    fn the_second_page_of_a_table_page_reads_one_level() {
        let mut walker = walker(8, 128);
        assert_eq!(walker.walk((0, 0), 0, false), Walk { done: 400_000, levels: 4 });
        assert_eq!(walker.walk((0, 0), 511, false), Walk { done: 100_000, levels: 1 });
        assert_eq!(walker.walk((0, 0), 512, false).levels, 2, "another table page below the same directory");
        assert_eq!(walker.walk((0, 0), 512 * 512, false).levels, 3);
    }

    #[test]
    fn a_large_page_is_found_one_level_earlier() {
        let mut walker = walker(8, 128);
        assert_eq!(walker.walk((0, 0), 3, true), Walk { done: 300_000, levels: 3 });
        assert_eq!(walker.walk((0, 0), 512, true).levels, 1, "the next large page, in the same table page");
        assert_eq!(walker.walk((0, 0), 3, false).levels, 2, "the table page of its base pages was never read");
    }

    #[test]
    fn without_a_cache_every_walk_reads_every_level_and_walks_queue_for_walkers() {
        let mut walker = walker(1, 0);
        assert_eq!(walker.walk((0, 0), 0, false), Walk { done: 400_000, levels: 4 });
        assert_eq!(walker.walk((0, 0), 0, false), Walk { done: 800_000, levels: 4 });
    }

    #[test]
    fn the_least_recently_used_prefix_is_forgotten() {
        let mut walker = walker(8, 3);
        for page in [0, 512, 1024] {
            walker.walk((0, 0), page, false);
        }
        assert_eq!(
            walker.walk((0, 0), 1, false).levels,
            2,
            "three entries: the prefix of page 0's own table was dropped"
        );
    }
}
