//! A calendar queue: events in buckets of about a clock cycle, with a heap for the far future.
//!
//! Events pop in the order (time, order of pushing), which is all that determinism needs. Buckets are lists through one
//! array, three events a place. The place freed last is reused first, so the events of a running simulation stay in few
//! cache lines, and nothing allocates. The next few are taken out of their buckets early, so that the simulating
//! machine can be asked in time for the data that they need.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use prefetch_index::prefetch_index;

const BUCKET_SHIFT: u32 = 10; // 1024 ps
const IN_BUCKET: u64 = (1 << BUCKET_SHIFT) - 1;
const BUCKETS: usize = 8192; // a horizon of 8.4 µs
const WORDS: usize = BUCKETS / 64;
const NONE: u32 = u32::MAX >> 2;
const NO_BUCKET: u64 = u64::MAX;

/// How many buckets beyond the next event's are taken in advance: events pushed in between have to be sorted in.
const NEAR: u64 = 64;
/// Popped events that are kept before those that are taken move to the front.
const POPPED: usize = 64;

/// A pending event: its time, and its content (opaque to the queue; its high 10 bits are zero).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub time: u64,
    pub what: u64,
}

/// Events of a place.
const PLACES: usize = 3;

/// Events of one bucket, or a free place. Events are one word each: the content, and the time within the bucket.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Node {
    events: [u64; PLACES],
    /// The full node with the events that were pushed into the same bucket before, or the next free place; `NONE` if
    /// there is none.
    next: u32,
}

/// The node last begun in a bucket, and how many events it has.
#[derive(Clone, Copy)]
struct Bucket(u32);

impl Bucket {
    /// The next event begins a node.
    const EMPTY: Self = Self(u32::MAX);

    const fn node(self) -> u32 {
        self.0 >> 2
    }

    const fn events(self) -> usize {
        self.0 as usize & 3
    }
}

const _: () = assert!(Bucket::EMPTY.node() == NONE && Bucket::EMPTY.events() == PLACES);

pub(crate) struct Calendar {
    /// All events up to the end of bucket `taken_until`, in order, behind some that have been popped.
    taken: Vec<Entry>,
    /// The first of them that has not been popped.
    next: usize,
    /// Absolute number of the last bucket whose events were taken.
    taken_until: u64,
    /// Absolute number of the next bucket that has any; `NO_BUCKET` if none within the horizon has.
    following: u64,
    nodes: Vec<Node>,
    /// First free place among the nodes.
    free: u32,
    buckets: Box<[Bucket; BUCKETS]>,
    occupied: [u64; WORDS],
    /// Events beyond the horizon: (time, order of pushing, content).
    far: BinaryHeap<Reverse<(u64, u64, u64)>>,
    /// Absolute number of the bucket of the first of them; `NO_BUCKET` if there are none.
    far_bucket: u64,
    pushed: u64,
    len: usize,
}

impl Calendar {
    pub fn new() -> Self {
        Self {
            taken: Vec::new(),
            next: 0,
            taken_until: 0,
            following: NO_BUCKET,
            nodes: Vec::new(),
            free: NONE,
            buckets: Box::new([Bucket::EMPTY; BUCKETS]),
            occupied: [0; WORDS],
            far: BinaryHeap::new(),
            far_bucket: NO_BUCKET,
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
        debug_assert!(what >> (u64::BITS - BUCKET_SHIFT) == 0);
        let bucket = time >> BUCKET_SHIFT;
        self.len += 1;
        if bucket <= self.taken_until {
            self.insert_taken(Entry { time, what });
        } else if bucket < self.taken_until + BUCKETS as u64 {
            self.insert(bucket, Entry { time, what });
        } else {
            self.pushed += 1;
            self.far.push(Reverse((time, self.pushed, what)));
            self.far_bucket = self.far_bucket.min(bucket);
        }
    }

    /// Removes the next event, and takes `ahead` more out of their buckets, if there are enough near ones.
    #[inline]
    pub fn pop(&mut self, ahead: usize) -> Option<Entry> {
        let taken = self.taken.len() - self.next;
        if taken <= ahead && taken < self.len {
            self.take_more(ahead);
        }
        let entry = *self.taken.get(self.next)?;
        self.next += 1;
        self.len -= 1;
        Some(entry)
    }

    /// The next events, in order, as far as they are known.
    #[inline]
    pub fn upcoming(&self) -> &[Entry] {
        &self.taken[self.next..]
    }

    #[inline(always)]
    fn insert(&mut self, bucket: u64, entry: Entry) {
        let slot = bucket as usize % BUCKETS;
        let event = entry.what << BUCKET_SHIFT | entry.time & IN_BUCKET;
        let last = self.buckets[slot];
        if last.events() < PLACES {
            self.nodes[last.node() as usize].events[last.events()] = event;
            self.buckets[slot].0 += 1;
        } else {
            let node = self.place(Node { events: [event, 0, 0], next: last.node() });
            self.buckets[slot] = Bucket(node << 2 | 1);
            self.occupied[slot / 64] |= 1 << (slot % 64);
            self.following = self.following.min(bucket);
        }
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

    /// Takes events out of buckets until there are `ahead` beyond the next, if there are enough near ones.
    #[inline(never)]
    fn take_more(&mut self, ahead: usize) {
        self.forget_popped();
        while self.taken.len() - self.next <= ahead {
            let bucket = self.following.min(self.far_bucket);
            // The next event may be as far away as it will: everything before it has happened.
            let near = self.taken.get(self.next).map_or(NO_BUCKET - 1, |next| (next.time >> BUCKET_SHIFT) + NEAR);
            if bucket > near {
                return;
            }
            self.taken_until = bucket;
            if self.far_bucket < bucket + BUCKETS as u64 {
                self.refill_from_far();
            }
            self.take_bucket(bucket);
        }
    }

    /// Moves the events of the next bucket behind those that are taken.
    #[inline(always)]
    fn take_bucket(&mut self, bucket: u64) {
        let slot = bucket as usize % BUCKETS;
        let last = std::mem::replace(&mut self.buckets[slot], Bucket::EMPTY);
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        self.following = self.next_occupied();
        if self.following != NO_BUCKET {
            // Read when the next event is taken, and there by then.
            prefetch_index(&self.nodes, self.buckets[self.following as usize % BUCKETS].node() as usize);
        }
        let node = &mut self.nodes[last.node() as usize];
        if last.events() > 1 || node.next != NONE {
            return self.take_several(bucket, last);
        }
        self.taken.push(unpack(bucket, node.events[0]));
        node.next = self.free;
        self.free = last.node();
    }

    #[inline(never)]
    fn take_several(&mut self, bucket: u64, last: Bucket) {
        let (first, mut node, mut count) = (self.taken.len(), last.node(), last.events());
        while node != NONE {
            let place = &mut self.nodes[node as usize];
            self.taken.extend(place.events[..count].iter().rev().map(|&event| unpack(bucket, event)));
            let next = std::mem::replace(&mut place.next, self.free);
            self.free = node;
            (node, count) = (next, PLACES);
        }
        in_order(&mut self.taken[first..]);
    }

    #[inline(always)]
    fn forget_popped(&mut self) {
        if self.next == self.taken.len() {
            self.taken.clear();
            self.next = 0;
        } else if self.next >= POPPED {
            self.taken.drain(..self.next);
            self.next = 0;
        }
    }

    /// Keeps taken events in order: after earlier events of the same time.
    fn insert_taken(&mut self, entry: Entry) {
        let at = self.taken[self.next..].partition_point(|other| other.time <= entry.time);
        self.taken.insert(self.next + at, entry);
    }

    /// Events that the horizon has reached go into their buckets, before anything newer can be pushed there.
    #[inline(never)]
    fn refill_from_far(&mut self) {
        self.far_bucket = NO_BUCKET;
        while let Some(&Reverse((time, _, what))) = self.far.peek() {
            let bucket = time >> BUCKET_SHIFT;
            if bucket >= self.taken_until + BUCKETS as u64 {
                self.far_bucket = bucket;
                break;
            }
            self.far.pop();
            self.insert(bucket, Entry { time, what });
        }
    }

    /// Absolute number of the first occupied bucket after those that are taken.
    fn next_occupied(&self) -> u64 {
        let start = (self.taken_until as usize + 1) % BUCKETS;
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
                return self.taken_until + 1 + distance as u64;
            }
        }
        NO_BUCKET
    }
}

/// An event of a bucket.
#[inline(always)]
const fn unpack(bucket: u64, event: u64) -> Entry {
    Entry { time: bucket << BUCKET_SHIFT | event & IN_BUCKET, what: event >> BUCKET_SHIFT }
}

/// Sorts events that are listed from the last pushed to the first.
#[inline]
fn in_order(events: &mut [Entry]) {
    match events {
        [] | [_] => {}
        // Mostly there are two.
        [last, first] => {
            if first.time <= last.time {
                std::mem::swap(first, last);
            }
        }
        _ => {
            events.reverse();
            events.sort_by_key(|entry| entry.time);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A delay: none, within a bucket or a few, within the horizon or beyond.
    fn delay() -> impl Strategy<Value = u64> {
        prop_oneof![Just(0), 0u64..100, 0u64..3000, 0u64..100_000, 0u64..40_000_000]
    }

    proptest! {
        /// Against a sorted list: pops come in the order (time, order of pushing), with pushes in between, and nothing
        /// else is said to be upcoming.
        #[test]
        fn pops_in_order_of_time_then_pushing(
            steps in prop::collection::vec((prop::collection::vec(delay(), 0..9), 0usize..9, 0usize..4), 1..60),
            // Of microseconds: so that events pushed beyond the horizon and within it meet at the same time.
            grain in prop::sample::select(vec![1, 1_000_000]),
        ) {
            let mut calendar = Calendar::new();
            let mut reference: Vec<Entry> = Vec::new();
            let (mut now, mut number) = (0, 0);
            for (delays, pops, ahead) in steps {
                for delay in delays {
                    let delay = delay / grain * grain;
                    // So that the highest bits differ, too.
                    number += 1 << 44;
                    calendar.push(now + delay, number);
                    reference.push(Entry { time: now + delay, what: number });
                }
                reference.sort_by_key(|&Entry { time, what }| (time, what));
                for _ in 0..pops {
                    let expected = if reference.is_empty() { None } else { Some(reference.remove(0)) };
                    prop_assert_eq!(calendar.pop(ahead), expected);
                    now = expected.map_or(now, |entry| entry.time);
                    prop_assert!(reference.starts_with(calendar.upcoming()));
                }
                prop_assert_eq!(calendar.len(), reference.len());
            }
        }
    }

    #[test]
    fn events_that_are_near_are_known_ahead() {
        let mut calendar = Calendar::new();
        let times = [1, 2, 40_000, 60_000, 60_000, 900_000];
        times.into_iter().for_each(|time| calendar.push(time, time));
        let mut known = || calendar.pop(2).map(|_| calendar.upcoming().len());
        assert_eq!(known(), Some(2), "one of the same bucket and one of another");
        assert_eq!(known(), Some(3), "a bucket is taken as a whole");
        assert_eq!([known(), known()], [Some(2), Some(1)], "the last is too far away");
        assert_eq!([known(), known()], [Some(0), Some(0)]);
        [1_800_000, 2_700_000, 90_000_000].into_iter().for_each(|time| calendar.push(time, time));
        assert_eq!(
            calendar.pop(2).map(|_| calendar.upcoming().len()),
            Some(0),
            "nor is any taken where none was known"
        );
    }
}
