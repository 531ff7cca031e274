//! Least-recently-used order of keys (pages, blocks) in two bytes a key, or three or four where there are many.

mod stamps;

use self::stamps::Stamps;

/// The fewest keys that are put in order at once.
const FEW: usize = 64;
/// One in this many of the keys in use is put in order at once.
const SHARE: usize = 16;

/// Keys by when they were last used. A use is one store of a stamp. The order is looked at only when the oldest key is
/// wanted: then all stamps are read, and some of the oldest keys put in order for those who ask next.
#[derive(Default)]
pub(crate) struct UseQueue {
    /// The time of each key's last use; 0 for keys that are not in the queue.
    stamps: Stamps,
    /// Every stamp in the queue lies in `lowest..next`.
    lowest: u32,
    next: u32,
    /// Keys whose stamp is or was below `bound`, the oldest last; those used since no longer count. No other key in
    /// the queue has a stamp below it.
    oldest: Vec<u32>,
    bound: u32,
}

impl UseQueue {
    pub fn grow(&mut self, keys: usize) {
        if self.stamps.grow(keys) || self.next == 0 {
            self.number_anew(|_| true);
        }
    }

    /// `key` becomes the most recently used. `live` says which keys still matter; the others may be forgotten.
    pub fn push(&mut self, key: u32, live: impl Fn(u32) -> bool) {
        if self.next > self.stamps.last() {
            self.number_anew(live);
        }
        self.stamps.set(key, self.next);
        self.next += 1;
    }

    /// Takes the least recently used key out.
    pub fn pop(&mut self) -> Option<u32> {
        loop {
            let Some(key) = self.oldest.pop() else { if self.find_oldest() { continue } else { return None } };
            if self.contains(key) && self.stamps.get(key) < self.bound {
                self.stamps.set(key, 0);
                return Some(key);
            }
        }
    }

    /// Makes a key that is not in the queue the least recently used.
    pub fn put_back(&mut self, key: u32) {
        if self.contains(key) {
            return;
        }
        if self.lowest == 1 {
            self.number_anew(|_| true);
        }
        self.lowest -= 1;
        self.stamps.set(key, self.lowest);
        if self.lowest < self.bound {
            self.oldest.push(key);
        }
    }

    pub fn contains(&self, key: u32) -> bool {
        self.stamps.get(key) > 0
    }

    pub fn bytes(&self) -> usize {
        self.stamps.bytes() + self.oldest.capacity() * size_of::<u32>()
    }

    /// Puts some of the oldest keys in order; `false` if there are none.
    fn find_oldest(&mut self) -> bool {
        self.bound = self.stamp_above_oldest();
        let stamps = &self.stamps;
        self.oldest.extend(stamps.used().filter(|&(_, stamp)| stamp < self.bound).map(|(key, _)| key));
        self.oldest.sort_unstable_by_key(|&key| std::cmp::Reverse(stamps.get(key)));
        !self.oldest.is_empty()
    }

    /// A stamp below which a fair number of keys in use lie, all of them if there are few.
    fn stamp_above_oldest(&self) -> u32 {
        const BINS: usize = 256;
        let width = ((self.next - self.lowest) / BINS as u32 + 1).max(1);
        let mut bins = [0usize; BINS];
        self.stamps.used().for_each(|(_, stamp)| bins[((stamp - self.lowest) / width) as usize] += 1);
        let enough = (bins.iter().sum::<usize>() / SHARE).max(FEW);
        let mut below = 0;
        let full = bins.iter().position(|&keys| {
            below += keys;
            below >= enough
        });
        full.map_or(self.next, |bin| self.lowest + (bin as u32 + 1) * width)
    }

    /// Gives live keys new stamps in the same order, with room before and after them; forgets the others.
    fn number_anew(&mut self, live: impl Fn(u32) -> bool) {
        let mut used: Vec<(u32, u32)> = self.stamps.used().map(|(key, stamp)| (stamp, key)).collect();
        used.sort_unstable();
        self.oldest.clear();
        self.bound = 0;
        self.lowest = self.stamps.last() / 8;
        self.next = self.lowest;
        for (_, key) in used {
            let stays = live(key);
            self.stamps.set(key, if stays { self.next } else { 0 });
            self.next += u32::from(stays);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

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
    fn a_key_that_is_used_again_right_after_the_oldest_was_looked_for_is_the_newest() {
        let mut queue = UseQueue::default();
        queue.grow(3);
        [0, 1, 2].into_iter().for_each(|key| queue.push(key, |_| true));
        assert_eq!(queue.pop(), Some(0));
        queue.push(1, |_| true);
        assert_eq!([queue.pop(), queue.pop(), queue.pop()], [Some(2), Some(1), None]);
    }

    #[test]
    fn order_outlasts_stamps_that_run_out() {
        let mut queue = UseQueue::default();
        queue.grow(4);
        for round in 0..200_000 {
            queue.push(round % 4, |key| key != 3);
        }
        for _ in 0..100_000 {
            let oldest = queue.pop().unwrap();
            queue.put_back(oldest);
        }
        let order: Vec<u32> = std::iter::from_fn(|| queue.pop()).filter(|&key| key != 3).collect();
        assert_eq!(order, [0, 1, 2]);
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

    #[test]
    fn thousands_of_keys_leave_in_the_order_of_their_use() {
        let mut queue = UseQueue::default();
        queue.grow(5000);
        let mut list: VecDeque<u32> = VecDeque::new();
        // Keys far apart in time, close together, and all at once.
        let uses = (0..5000).chain((0..3000).map(|use_| use_ * 7919 % 5000)).chain(1000..1100);
        for key in uses {
            queue.push(key, |_| true);
        }
        let again: Vec<u32> = (0..3000).map(|use_| use_ * 7919 % 5000).chain(1000..1100).collect();
        let last = |key: u32| again.iter().rposition(|&used| used == key).map_or(0, |at| at + 1);
        let mut order: Vec<u32> = (0..5000).collect();
        order.sort_by_key(|&key| last(key));
        list.extend(order);
        for _ in 0..2500 {
            assert_eq!(queue.pop(), list.pop_front());
        }
        for key in [4, 9, 2] {
            queue.push(key, |_| true);
            list.retain(|&other| other != key);
            list.push_back(key);
        }
        assert_eq!(std::iter::from_fn(|| queue.pop()).collect::<VecDeque<_>>(), list);
    }

    #[test]
    fn what_is_put_back_keeps_its_order_when_keys_are_numbered_anew() {
        let mut queue = UseQueue::default();
        queue.grow(4);
        [3, 2, 1, 0].into_iter().for_each(|key| queue.push(key, |_| true));
        let out: Vec<u32> = (0..3).filter_map(|_| queue.pop()).collect();
        out.iter().rev().for_each(|&key| queue.put_back(key));
        queue.grow(1 << 16);
        assert_eq!(std::iter::from_fn(|| queue.pop()).collect::<Vec<_>>(), [3, 2, 1, 0]);
    }

    proptest! {
        /// Compared with a list, oldest first, for few keys and for so many that stamps have three bytes.
        #[test]
        fn agrees_with_a_list(steps in prop::collection::vec((0u8..4, 0u32..300), 1..600), many in any::<bool>()) {
            let mut queue = UseQueue::default();
            queue.grow(10);
            queue.grow(if many { 100_000 } else { 300 });
            let mut list: VecDeque<u32> = VecDeque::new();
            for (what, key) in steps {
                match what {
                    0 | 1 => {
                        queue.push(key, |_| true);
                        list.retain(|&other| other != key);
                        list.push_back(key);
                    }
                    2 => prop_assert_eq!(queue.pop(), list.pop_front()),
                    _ => {
                        queue.put_back(key);
                        if !list.contains(&key) {
                            list.push_front(key);
                        }
                    }
                }
                prop_assert_eq!(queue.contains(key), list.contains(&key));
            }
            prop_assert_eq!(std::iter::from_fn(|| queue.pop()).collect::<VecDeque<_>>(), list);
        }
    }
}
