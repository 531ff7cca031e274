//! A resource that serves one thing after another at a fixed rate: a link direction, a memory bank.
//!
//! Requests are made ahead of the clock and not in order of their times. A single next-free time would make an early
//! request wait behind a late one; instead time is cut into buckets, each with a budget of busy time, and a request
//! takes what is left in the first buckets from its own time on. When the whole ring of buckets is booked, requests
//! queue behind a next-free time. A request for a time beyond the ring is served then without being booked: booking it
//! would mean to book everything before it. The node defers work that lies so far ahead, so this is rare.

const BUCKETS: usize = 512;

/// A stretch of time, one of those that share a place in the ring.
#[derive(Clone, Copy, Default)]
struct Bucket {
    /// Low bits of its absolute number. A place whose number is another's was booked for the past and is empty, so
    /// that nothing has to be cleared as time goes on. Numbers repeat after a minute of simulated time.
    number: u32,
    /// Busy picoseconds.
    used: u32,
}

pub(crate) struct Lane {
    /// Duration of a bucket in picoseconds; a power of two.
    shift: u32,
    ring: Box<[Bucket; BUCKETS]>,
    /// For full buckets: how many on the next one lies that may have budget left. Kept short by halving paths as in a
    /// disjoint-set forest, so that a booked-up stretch is crossed in a few steps.
    skips: Box<[u16; BUCKETS]>,
    /// Absolute number of the oldest bucket in the ring. It follows the clock when the ring is too short, not before.
    base: u64,
    /// Everything beyond the ring is booked until here.
    far_free: u64,
    /// All busy time ever booked.
    busy: u64,
}

impl Lane {
    /// A lane with buckets of `1 << shift` picoseconds.
    pub fn new(shift: u32) -> Self {
        let (ring, skips) = (Box::new([Bucket::default(); BUCKETS]), Box::new([0; BUCKETS]));
        Self { shift, ring, skips, base: 0, far_free: 0, busy: 0 }
    }

    /// Books `cost` picoseconds from `time` on and returns when they are over. `now` is the simulation's clock:
    /// nothing will ever be asked for an earlier time.
    #[inline(always)]
    pub fn reserve(&mut self, now: u64, time: u64, cost: u64) -> u64 {
        self.busy += cost;
        let bucket = time >> self.shift;
        let used = u64::from(self.used(bucket)) + cost;
        // The common case: all of it fits where it was asked for.
        if bucket < self.end() && used < 1 << self.shift {
            self.set_used(bucket, used);
            return ((bucket << self.shift) + used).max(time + cost);
        }
        self.reserve_elsewhere(now, time, cost)
    }

    #[inline(never)]
    fn reserve_elsewhere(&mut self, now: u64, time: u64, cost: u64) -> u64 {
        if now >> self.shift > self.base {
            self.recycle(now >> self.shift);
        }
        if time >> self.shift >= self.end() {
            return self.far_free.max(time) + cost;
        }
        self.reserve_over_buckets(time, cost)
    }

    fn reserve_over_buckets(&mut self, time: u64, cost: u64) -> u64 {
        let width = 1u64 << self.shift;
        let mut bucket = time >> self.shift;
        let mut left = cost;
        let end = self.end();
        loop {
            bucket = self.first_with_budget(bucket, end);
            if bucket >= end {
                break;
            }
            let before = u64::from(self.used(bucket));
            let taken = left.min(width - before);
            self.set_used(bucket, before + taken);
            left -= taken;
            if left == 0 {
                let over = (bucket << self.shift) + before + taken;
                return over.max(time + cost);
            }
        }
        self.far_free = self.far_free.max(end << self.shift) + left;
        self.far_free
    }

    /// The first bucket from `bucket` on that has budget left, or one at or beyond `end`.
    #[inline]
    fn first_with_budget(&mut self, mut bucket: u64, end: u64) -> u64 {
        while bucket < end && self.is_full(bucket) {
            let next = bucket + u64::from(self.skips[place(bucket)]);
            if next < end && self.is_full(next) {
                self.skips[place(bucket)] += self.skips[place(next)];
            }
            bucket = next;
        }
        bucket
    }

    /// One past the last bucket in the ring.
    #[inline]
    fn end(&self) -> u64 {
        self.base + BUCKETS as u64
    }

    /// Busy picoseconds of a bucket in the ring.
    #[inline]
    fn used(&self, bucket: u64) -> u32 {
        let known = self.ring[place(bucket)];
        // A mask, not a branch: which it is cannot be predicted.
        known.used & 0u32.wrapping_sub(u32::from(known.number == bucket as u32))
    }

    #[inline]
    fn is_full(&self, bucket: u64) -> bool {
        self.used(bucket) == 1 << self.shift
    }

    #[inline]
    fn set_used(&mut self, bucket: u64, used: u64) {
        self.ring[place(bucket)] = Bucket { number: bucket as u32, used: used as u32 };
        if used == 1 << self.shift {
            self.skips[place(bucket)] = 1;
        }
    }

    /// All busy picoseconds ever booked.
    pub fn busy(&self) -> u64 {
        self.busy
    }

    /// Forgets buckets before `target`; those that have just come into the ring are full as far as the far booking
    /// reaches.
    fn recycle(&mut self, target: u64) {
        let end = self.end();
        self.base = target;
        let width = 1u64 << self.shift;
        for bucket in end.max(target)..self.end().min(self.far_free.div_ceil(width)) {
            self.set_used(bucket, (self.far_free - (bucket << self.shift)).min(width));
        }
    }
}

/// Where a bucket is in the ring.
#[inline]
fn place(bucket: u64) -> usize {
    bucket as usize % BUCKETS
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_early_request_does_not_wait_behind_a_late_one() {
        let mut lane = Lane::new(16);
        assert_eq!(lane.reserve(0, 10_000_000, 500), 10_000_500);
        assert_eq!(lane.reserve(0, 1_000, 500), 1_500);
    }

    #[test]
    fn a_saturated_lane_serves_at_its_rate() {
        let mut lane = Lane::new(16);
        let last = (0..100_000).map(|_| lane.reserve(0, 0, 1_000)).max().unwrap();
        assert_eq!(last, 100_000_000);
    }

    proptest! {
        /// No more than a bucket's worth of work ends up in any window, whatever the order of requests: the work
        /// finished by time T never exceeds T, and nothing finishes before it could.
        #[test]
        fn never_serves_faster_than_its_rate(requests in prop::collection::vec((0u64..200, 0u64..3_000_000, 1u64..200_000), 1..200)) {
            let mut lane = Lane::new(14);
            let mut now = 0;
            let mut finished: Vec<(u64, u64)> = Vec::new();
            for (step, ahead, cost) in requests {
                now += step * 100;
                let end = lane.reserve(now, now + ahead, cost);
                prop_assert!(end >= now + ahead + cost);
                finished.push((end, cost));
            }
            finished.sort_unstable();
            let mut work = 0;
            for (end, cost) in finished {
                work += cost;
                prop_assert!(work <= end + (1 << 14), "{work} ps of work done by {end}");
            }
        }
    }
}
