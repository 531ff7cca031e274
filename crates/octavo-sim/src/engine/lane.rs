//! A resource that serves one thing after another at a fixed rate: a link direction, a memory bank.
//!
//! Requests are made ahead of the clock and not in order of their times. With a single next-free time, an early request
//! would wait behind a late one. Instead, time is cut into buckets, each with a budget of busy time. A request takes
//! the rest of the first buckets from its own time on. When the whole ring of buckets is booked, requests queue behind
//! a next-free time. A request for a time beyond the ring joins that queue, too, and is done no earlier than its own
//! time allows. So the lane never serves more than its rate, and others can still use the time before such a request.
//!
//! A node has hundreds of these, most of them booked for the next microsecond only. Therefore the ring begins with few
//! places and gets more when a request needs them.

/// Buckets of the ring: how far ahead anything is booked.
const BUCKETS: u64 = 512;
/// Places to begin with.
const FIRST_PLACES: usize = 64;

/// A stretch of time, one of those that share a place in the ring.
#[derive(Clone, Copy, Default)]
struct Bucket {
    /// Low bits of its absolute number. A place whose number belongs to another bucket was booked for the past and is
    /// empty, so that nothing has to be cleared as time passes. Numbers repeat after a minute of simulated time.
    number: u32,
    /// Busy picoseconds. For a full bucket: its duration and the number of full buckets known to follow. Paths are
    /// halved as in a disjoint-set forest, so that a booked-up stretch is crossed in a few steps.
    booked: u32,
}

impl Bucket {
    /// The booked time of the bucket with that number, which is here or nowhere.
    #[inline(always)]
    fn booked_of(self, number: u64) -> u32 {
        // A mask, not a branch: which it is cannot be predicted.
        self.booked & 0u32.wrapping_sub(u32::from(self.number == number as u32))
    }
}

pub(crate) struct Lane {
    /// Duration of a bucket in picoseconds; a power of two.
    shift: u32,
    /// Places of buckets from the clock on: a power of two.
    places: Vec<Bucket>,
    /// Absolute number of the bucket from which the ring's end is counted: the clock's bucket when the common case last
    /// failed. Bookings before the clock may be gone.
    base: u64,
    /// Everything beyond the ring is booked until here.
    far_free: u64,
    /// All busy time ever booked.
    busy: u64,
}

impl Lane {
    /// A lane with buckets of `1 << shift` picoseconds.
    pub fn new(shift: u32) -> Self {
        Self::with_places(shift, FIRST_PLACES)
    }

    fn with_places(shift: u32, places: usize) -> Self {
        Self { shift, places: vec![Bucket::default(); places], base: 0, far_free: 0, busy: 0 }
    }

    /// Books `cost` picoseconds from `time` on and returns their end. `now` is the simulation's clock: nothing will
    /// ever be asked for an earlier time.
    #[inline(always)]
    pub fn reserve(&mut self, now: u64, time: u64, cost: u64) -> u64 {
        debug_assert!(time >= now);
        self.busy += cost;
        let (bucket, end) = (time >> self.shift, self.end());
        let place = self.place(bucket);
        let has_place = self.has_place(now, bucket);
        let known = &mut self.places[place];
        let booked = u64::from(known.booked_of(bucket)) + cost;
        // The common case: all of it fits where it was asked for.
        if bucket < end && booked < 1 << self.shift && has_place {
            *known = Bucket { number: bucket as u32, booked: booked as u32 };
            return ((bucket << self.shift) + booked).max(time + cost);
        }
        self.reserve_elsewhere(now, time, cost)
    }

    #[inline(never)]
    fn reserve_elsewhere(&mut self, now: u64, time: u64, cost: u64) -> u64 {
        if now >> self.shift > self.base {
            self.recycle(now);
        }
        self.reserve_over_buckets(now, time, cost)
    }

    fn reserve_over_buckets(&mut self, now: u64, time: u64, cost: u64) -> u64 {
        let width = 1u64 << self.shift;
        let mut bucket = time >> self.shift;
        let mut left = cost;
        let end = self.end();
        loop {
            bucket = self.first_with_budget(bucket, end);
            if bucket >= end {
                break;
            }
            self.make_place(now, bucket);
            let before = u64::from(self.booked(bucket));
            let taken = left.min(width - before);
            self.book(bucket, before + taken);
            left -= taken;
            if left == 0 {
                let over = (bucket << self.shift) + before + taken;
                return over.max(time + cost);
            }
        }
        self.far_free = self.far_free.max(end << self.shift) + left;
        self.far_free.max(time + cost)
    }

    /// The first bucket from `bucket` on that has budget left, or one at or beyond `end`.
    #[inline]
    fn first_with_budget(&mut self, mut bucket: u64, end: u64) -> u64 {
        let width = 1u32 << self.shift;
        while bucket < end {
            let booked = self.booked(bucket);
            if booked < width {
                break;
            }
            let next = bucket + u64::from(booked - width) + 1;
            if next < end {
                let then = self.booked(next);
                if then >= width {
                    self.book(bucket, u64::from(booked + then - width) + 1);
                }
            }
            bucket = next;
        }
        bucket
    }

    /// One past the last bucket in the ring.
    #[inline]
    fn end(&self) -> u64 {
        self.base + BUCKETS
    }

    /// The booked time of a bucket in the ring, as described for [`Bucket`].
    #[inline(always)]
    fn booked(&self, bucket: u64) -> u32 {
        self.places[self.place(bucket)].booked_of(bucket)
    }

    #[inline(always)]
    fn book(&mut self, bucket: u64, booked: u64) {
        let place = self.place(bucket);
        self.places[place] = Bucket { number: bucket as u32, booked: booked as u32 };
    }

    /// Where a bucket is in the ring.
    #[inline(always)]
    fn place(&self, bucket: u64) -> usize {
        bucket as usize & (self.places.len() - 1)
    }

    /// Whether no other bucket of the ring, from the clock on, can be where `bucket` belongs.
    #[inline(always)]
    fn has_place(&self, now: u64, bucket: u64) -> bool {
        bucket.wrapping_sub(now >> self.shift) < self.places.len() as u64
    }

    /// Gives the ring enough places for `bucket`.
    #[inline]
    fn make_place(&mut self, now: u64, bucket: u64) {
        while bucket >= (now >> self.shift) + self.places.len() as u64 {
            self.double(now);
        }
    }

    #[cold]
    fn double(&mut self, now: u64) {
        let clock = now >> self.shift;
        let places = vec![Bucket::default(); 2 * self.places.len()];
        let before = std::mem::replace(&mut self.places, places);
        // Buckets of the past would take the places of others.
        for bucket in clock..clock + before.len() as u64 {
            let booked = before[bucket as usize & (before.len() - 1)].booked_of(bucket);
            self.book(bucket, booked.into());
        }
    }

    /// All busy picoseconds ever booked.
    pub fn busy(&self) -> u64 {
        self.busy
    }

    /// Forgets buckets before the clock; those that have just come into the ring are full as far as the far booking
    /// reaches.
    fn recycle(&mut self, now: u64) {
        let (end, target) = (self.end(), now >> self.shift);
        self.base = target;
        let width = 1u64 << self.shift;
        for bucket in end.max(target)..self.end().min(self.far_free.div_ceil(width)) {
            self.make_place(now, bucket);
            self.book(bucket, (self.far_free - (bucket << self.shift)).min(width));
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

    #[test]
    fn what_is_booked_beyond_the_ring_stays_booked_when_the_clock_gets_there() {
        let mut lane = Lane::new(14);
        assert_eq!(lane.reserve(0, 0, 12_000_000), 12_000_000, "the ring ends at 8.4 µs");
        assert_eq!(lane.reserve(5_000_000, 10_000_000, 500), 12_000_500);
    }

    #[test]
    fn a_lane_that_is_asked_far_ahead_serves_at_its_rate() {
        let mut lane = Lane::new(14);
        let last = (0..100_000).map(|_| lane.reserve(0, 20_000_000, 1_000)).max().unwrap();
        assert!((100_000_000..=110_000_000).contains(&last), "{last}");
    }

    proptest! {
        /// A ring that has had all its places from the start does the same.
        #[test]
        fn places_come_when_they_are_needed(
            requests in prop::collection::vec((0u64..60_000, 0u64..9_000_000, 1u64..60_000, 1usize..40), 1..60),
        ) {
            let (mut growing, mut whole) = (Lane::with_places(14, 2), Lane::with_places(14, BUCKETS as usize));
            let mut now = 0;
            for (step, ahead, cost, times) in requests {
                now += step;
                for _ in 0..times {
                    prop_assert_eq!(growing.reserve(now, now + ahead, cost), whole.reserve(now, now + ahead, cost));
                }
            }
            prop_assert_eq!(growing.busy(), whole.busy());
        }

        /// No window gets more than a bucket's worth of work, for any order of requests: the work finished by time T
        /// never exceeds T, and nothing finishes before it could.
        #[test]
        fn never_serves_faster_than_its_rate(requests in prop::collection::vec((0u64..200, 0u64..20_000_000, 1u64..200_000), 1..200)) {
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
