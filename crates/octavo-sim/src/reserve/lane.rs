//! A resource that serves one thing after another at a fixed rate: a link direction, a memory bank.
//!
//! Requests are made ahead of the clock and not in order of their times. A single next-free time would make an early
//! request wait behind a late one; instead time is cut into buckets, each with a budget of busy time, and a request
//! takes what is left in the first buckets from its own time on. When the whole ring of buckets is booked, requests
//! queue behind a next-free time. A request for a time beyond the ring is served then without being booked: booking it
//! would mean to book everything before it. The node defers work that lies so far ahead, so this is rare.

const BUCKETS: u64 = 512;

#[derive(Clone, Copy, Default)]
struct Bucket {
    /// Busy picoseconds.
    used: u32,
    /// How many buckets on the next one lies that may have budget left; 0 while this one has. Kept short by halving
    /// paths as in a disjoint-set forest, so that a booked-up stretch is crossed in a few steps.
    skip: u32,
}

pub(crate) struct Lane {
    /// Duration of a bucket in picoseconds; a power of two.
    shift: u32,
    ring: Box<[Bucket]>,
    /// Absolute number of the oldest bucket in the ring. It follows the clock when the ring is too short, not before.
    base: u64,
    /// One past the last bucket in the ring that was ever booked.
    booked: u64,
    /// Everything beyond the ring is booked until here.
    far_free: u64,
    /// All busy time ever booked.
    busy: u64,
}

impl Lane {
    /// A lane with buckets of `1 << shift` picoseconds.
    pub fn new(shift: u32) -> Self {
        Self { shift, ring: vec![Bucket::default(); BUCKETS as usize].into(), base: 0, booked: 0, far_free: 0, busy: 0 }
    }

    /// Books `cost` picoseconds from `time` on and returns when they are over. `now` is the simulation's clock:
    /// nothing will ever be asked for an earlier time.
    #[inline]
    pub fn reserve(&mut self, now: u64, time: u64, cost: u64) -> u64 {
        self.busy += cost;
        let bucket = time >> self.shift;
        let slot = &mut self.ring[(bucket % BUCKETS) as usize];
        let used = u64::from(slot.used) + cost;
        // The common case: all of it fits where it was asked for.
        if bucket < self.base + BUCKETS && used < 1 << self.shift {
            slot.used = used as u32;
            self.booked = self.booked.max(bucket + 1);
            return ((bucket << self.shift) + used).max(time + cost);
        }
        if now >> self.shift > self.base {
            self.recycle(now >> self.shift);
        }
        if time >> self.shift >= self.base + BUCKETS {
            return self.far_free.max(time) + cost;
        }
        self.reserve_over_buckets(time, cost)
    }

    fn reserve_over_buckets(&mut self, time: u64, cost: u64) -> u64 {
        let width = 1u64 << self.shift;
        let mut bucket = time >> self.shift;
        let mut left = cost;
        let end = self.base + BUCKETS;
        loop {
            bucket = self.first_with_budget(bucket, end);
            if bucket >= end {
                break;
            }
            let slot = &mut self.ring[(bucket % BUCKETS) as usize];
            let taken = left.min(width - u64::from(slot.used));
            slot.used += taken as u32;
            slot.skip = u32::from(u64::from(slot.used) == width);
            left -= taken;
            self.booked = self.booked.max(bucket + 1);
            if left == 0 {
                let over = (bucket << self.shift) + u64::from(slot.used);
                return over.max(time + cost);
            }
        }
        self.far_free = self.far_free.max(end << self.shift) + left;
        self.far_free
    }

    /// The first bucket from `bucket` on that has budget left, or one at or beyond `end`.
    #[inline]
    fn first_with_budget(&mut self, mut bucket: u64, end: u64) -> u64 {
        while bucket < end {
            let skip = self.ring[(bucket % BUCKETS) as usize].skip;
            if skip == 0 {
                break;
            }
            let next = bucket + u64::from(skip);
            if next < end {
                self.ring[(bucket % BUCKETS) as usize].skip += self.ring[(next % BUCKETS) as usize].skip;
            }
            bucket = next;
        }
        bucket
    }

    /// All busy picoseconds ever booked.
    pub fn busy(&self) -> u64 {
        self.busy
    }

    /// Forgets buckets before `target`. Only booked buckets need clearing, so that an idle lane costs nothing.
    fn recycle(&mut self, target: u64) {
        let end = self.base + BUCKETS;
        self.clear(self.base, self.booked.min(target));
        self.base = target;
        if self.far_free > end << self.shift {
            self.book_far(end.max(target), target + BUCKETS);
        }
    }

    /// Empties the buckets `from..to`, at most the whole ring.
    fn clear(&mut self, from: u64, to: u64) {
        if from >= to {
            return;
        }
        let (first, last) = ((from % BUCKETS) as usize, ((to - 1) % BUCKETS) as usize);
        if first <= last {
            self.ring[first..=last].fill(Bucket::default());
        } else {
            self.ring[first..].fill(Bucket::default());
            self.ring[..=last].fill(Bucket::default());
        }
    }

    /// Buckets that have just come into the ring are full as far as the far booking reaches.
    fn book_far(&mut self, from: u64, to: u64) {
        let width = 1u64 << self.shift;
        for bucket in from..to.min((self.far_free >> self.shift) + 1) {
            let used = (self.far_free - (bucket << self.shift)).min(width);
            self.ring[(bucket % BUCKETS) as usize] = Bucket { used: used as u32, skip: u32::from(used == width) };
            self.booked = bucket + 1;
        }
    }
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
