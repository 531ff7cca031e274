//! A calendar queue: events in buckets of about a clock cycle, with a heap for the far future.
//!
//! Events pop in the order (time, order of pushing), which is all that determinism needs. Those in buckets are lists
//! through one array, whose free places are used again last out first in: the events of a running simulation stay in
//! few cache lines, and none allocates.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

const BUCKET_SHIFT: u32 = 10; // 1024 ps
const BUCKETS: usize = 8192; // a horizon of 8.4 µs
const WORDS: usize = BUCKETS / 64;
const NONE: u32 = u32::MAX;

/// A pending event: when, and what (opaque to the queue).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub time: u64,
    pub what: u64,
}

/// An event in a bucket, or a free place.
#[derive(Clone, Copy)]
struct Node {
    entry: Entry,
    /// The event that was pushed into the same bucket before, or the next free place.
    next: u32,
}

pub(crate) struct Calendar {
    /// The bucket being emptied, latest first.
    current: Vec<Entry>,
    /// Absolute number of the current bucket.
    now: u64,
    nodes: Vec<Node>,
    /// First free place among the nodes.
    free: u32,
    /// The node last pushed into each bucket.
    buckets: Box<[u32; BUCKETS]>,
    occupied: [u64; WORDS],
    /// Events beyond the horizon: (time, order of pushing, what).
    far: BinaryHeap<Reverse<(u64, u64, u64)>>,
    pushed: u64,
    len: usize,
}

impl Calendar {
    pub fn new() -> Self {
        Self {
            current: Vec::new(),
            now: 0,
            nodes: Vec::new(),
            free: NONE,
            buckets: Box::new([NONE; BUCKETS]),
            occupied: [0; WORDS],
            far: BinaryHeap::new(),
            pushed: 0,
            len: 0,
        }
    }

    /// How many events are pending.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Adds an event; `time` must not lie before the last popped event.
    #[inline]
    pub fn push(&mut self, time: u64, what: u64) {
        let bucket = time >> BUCKET_SHIFT;
        self.len += 1;
        if bucket <= self.now {
            self.insert_current(Entry { time, what });
        } else if bucket < self.now + BUCKETS as u64 {
            self.insert(bucket, Entry { time, what });
        } else {
            self.pushed += 1;
            self.far.push(Reverse((time, self.pushed, what)));
        }
    }

    /// Removes the next event.
    #[inline]
    pub fn pop(&mut self) -> Option<Entry> {
        if self.len == 0 {
            return None;
        }
        self.len -= 1;
        self.current.pop().or_else(|| self.first_of_next())
    }

    #[inline]
    fn insert(&mut self, bucket: u64, entry: Entry) {
        let slot = bucket as usize % BUCKETS;
        let node = Node { entry, next: self.buckets[slot] };
        self.buckets[slot] = self.place(node);
        self.occupied[slot / 64] |= 1 << (slot % 64);
    }

    /// Stores a node in a free place.
    #[inline]
    fn place(&mut self, node: Node) -> u32 {
        let at = self.free;
        if at == NONE {
            self.nodes.push(node);
            return self.nodes.len() as u32 - 1;
        }
        let place = &mut self.nodes[at as usize];
        self.free = place.next;
        *place = node;
        at
    }

    /// Removes the only event of a bucket, or moves its events into the empty current one, in the order in which they
    /// are popped from its end, and frees their places.
    #[inline]
    fn empty_bucket(&mut self, slot: usize) -> Option<Entry> {
        let first = std::mem::replace(&mut self.buckets[slot], NONE);
        let node = &mut self.nodes[first as usize];
        let (entry, mut at) = (node.entry, node.next);
        node.next = self.free;
        self.free = first;
        if at == NONE {
            return Some(entry);
        }
        self.current.push(entry);
        while at != NONE {
            let node = &mut self.nodes[at as usize];
            self.current.push(node.entry);
            let next = std::mem::replace(&mut node.next, self.free);
            self.free = at;
            at = next;
        }
        // Stable: what was pushed last is first, and popped last of its time. Mostly there are two.
        if let [first, second] = &mut self.current[..] {
            if first.time < second.time {
                std::mem::swap(first, second);
            }
        } else {
            self.current.sort_by_key(|entry| Reverse(entry.time));
        }
        self.current.pop()
    }

    /// Keeps the current bucket sorted, after the events of the same time that came before.
    fn insert_current(&mut self, entry: Entry) {
        let at = self.current.partition_point(|other| other.time > entry.time);
        self.current.insert(at, entry);
    }

    /// Makes the next non-empty bucket current and removes its first event.
    fn first_of_next(&mut self) -> Option<Entry> {
        self.now = self.next_occupied().or_else(|| self.far_bucket())?;
        if !self.far.is_empty() {
            self.refill_from_far();
        }
        let slot = self.now as usize % BUCKETS;
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        self.empty_bucket(slot)
    }

    /// Absolute number of the bucket of the first event beyond the horizon.
    fn far_bucket(&self) -> Option<u64> {
        self.far.peek().map(|Reverse((time, ..))| time >> BUCKET_SHIFT)
    }

    /// Events that the horizon has reached go into their buckets, before anything newer can be pushed there.
    fn refill_from_far(&mut self) {
        while let Some(&Reverse((time, _, what))) = self.far.peek() {
            let bucket = time >> BUCKET_SHIFT;
            if bucket >= self.now + BUCKETS as u64 {
                break;
            }
            self.far.pop();
            self.insert(bucket, Entry { time, what });
        }
    }

    /// Absolute number of the first occupied bucket after the current one.
    fn next_occupied(&self) -> Option<u64> {
        let start = (self.now as usize + 1) % BUCKETS;
        for step in 0..=WORDS {
            let word = (start / 64 + step) % WORDS;
            let mut bits = self.occupied[word];
            if step == 0 {
                bits &= u64::MAX << (start % 64);
            } else if step == WORDS {
                bits &= !(u64::MAX << (start % 64));
            }
            if bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                let distance = (slot + BUCKETS - start) % BUCKETS;
                return Some(self.now + 1 + distance as u64);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a sorted list: pops come in the order (time, order of pushing), with pushes in between.
        #[test]
        fn pops_in_order_of_time_then_pushing(steps in prop::collection::vec((0u64..40_000_000, 0u8..4), 1..300)) {
            let mut calendar = Calendar::new();
            let mut reference: Vec<(u64, u64)> = Vec::new();
            let mut now = 0;
            for (number, (delay, pops)) in steps.into_iter().enumerate() {
                // Short delays are common, zero delays included.
                let delay = if delay % 3 == 0 { delay % 3000 } else { delay };
                calendar.push(now + delay, number as u64);
                reference.push((now + delay, number as u64));
                for _ in 0..pops {
                    reference.sort_by_key(|&(time, number)| (time, number));
                    let expected = if reference.is_empty() { None } else { Some(reference.remove(0)) };
                    let found = calendar.pop().map(|entry| (entry.time, entry.what));
                    prop_assert_eq!(found, expected);
                    now = found.map_or(now, |(time, _)| time);
                }
            }
        }
    }
}
