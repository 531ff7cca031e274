//! Least-recently-used order of keys (pages, blocks) in two bytes a key and four an entry.

use std::collections::VecDeque;

/// Entries a queue may have before it is compacted for the first time.
const SMALL: usize = 1024;

/// A queue of uses, oldest first, in which a key may occur several times; only its last occurrence counts. Using a
/// key is one push, and entries that no longer count are dropped when they come to the front or when there are as
/// many of them as of others.
#[derive(Default)]
pub(crate) struct UseQueue {
    entries: VecDeque<u32>,
    /// Entries of each key.
    occurrences: Vec<u16>,
    limit: usize,
}

impl UseQueue {
    pub fn grow(&mut self, keys: usize) {
        if keys > self.occurrences.len() {
            self.occurrences.resize(keys, 0);
        }
    }

    /// `key` becomes the most recently used. `live` tells which keys still matter.
    pub fn push(&mut self, key: u32, live: impl Fn(u32) -> bool) {
        if self.entries.back() == Some(&key) {
            return;
        }
        if self.entries.len() >= self.limit.max(SMALL) || self.occurrences[key as usize] == u16::MAX {
            self.compact(live);
        }
        self.entries.push_back(key);
        self.occurrences[key as usize] += 1;
    }

    /// Takes the least recently used key out.
    pub fn pop(&mut self) -> Option<u32> {
        loop {
            let key = self.entries.pop_front()?;
            let left = &mut self.occurrences[key as usize];
            *left -= 1;
            if *left == 0 {
                return Some(key);
            }
        }
    }

    /// Makes a key that is not in the queue the least recently used.
    pub fn put_back(&mut self, key: u32) {
        if !self.contains(key) {
            self.entries.push_front(key);
            self.occurrences[key as usize] = 1;
        }
    }

    pub fn contains(&self, key: u32) -> bool {
        self.occurrences[key as usize] > 0
    }

    pub fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<u32>() + self.occurrences.capacity() * size_of::<u16>()
    }

    fn compact(&mut self, live: impl Fn(u32) -> bool) {
        let occurrences = &mut self.occurrences;
        self.entries.retain(|&key| {
            let left = &mut occurrences[key as usize];
            let last = *left == 1 && live(key);
            if !last {
                *left -= 1;
            }
            last
        });
        self.limit = 2 * self.entries.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_use_counts() {
        let mut queue = UseQueue::default();
        queue.grow(3);
        for key in [0, 1, 0, 2, 1] {
            queue.push(key, |_| true);
        }
        assert_eq!([queue.pop(), queue.pop(), queue.pop(), queue.pop()], [Some(0), Some(2), Some(1), None]);
    }

    #[test]
    fn compaction_keeps_order_and_forgets_the_dead() {
        let mut queue = UseQueue::default();
        queue.grow(4);
        for round in 0..100_000 {
            queue.push(round % 3, |key| key != 0);
        }
        assert!(queue.entries.len() <= SMALL);
        queue.push(3, |_| true);
        let order: Vec<u32> = std::iter::from_fn(|| queue.pop()).filter(|&key| key != 0).collect();
        assert_eq!(order, [1, 2, 3]);
    }

    #[test]
    fn what_is_put_back_leaves_first() {
        let mut queue = UseQueue::default();
        queue.grow(2);
        queue.push(0, |_| true);
        queue.push(1, |_| true);
        let oldest = queue.pop().unwrap();
        queue.put_back(oldest);
        queue.put_back(1);
        assert_eq!([queue.pop(), queue.pop(), queue.pop()], [Some(0), Some(1), None]);
    }
}
