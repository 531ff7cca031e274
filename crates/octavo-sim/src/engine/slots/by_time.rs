//! Places that are given out in order of time.
//!
//! Requests are made ahead of the clock and not in order of their times. If each took the place that is free first, an
//! early request would wait for places that are free until a later one begins. So a place is held from a request's
//! beginning to its end, and is free before and after. There are never more held than there are places. Time for which
//! a request would hold a place while all are taken is added at the first later times with room, so that later requests
//! pay for it.

use std::collections::VecDeque;

pub(crate) struct ByTime {
    places: usize,
    /// How many are held at the clock, as of the last look.
    held: usize,
    /// Times after that at which one more is held, and one less; sorted, and without those that cancel out.
    starts: VecDeque<u64>,
    ends: VecDeque<u64>,
}

/// A time, and how many of the starts and ends are not after it.
#[derive(Clone, Copy)]
struct Cursor {
    time: u64,
    started: usize,
    ended: usize,
}

impl ByTime {
    /// `places` places, at least one.
    pub fn new(places: u32) -> Self {
        Self { places: places as usize, held: 0, starts: VecDeque::new(), ends: VecDeque::new() }
    }

    /// When `count` requests that come together at `time` all have a place; those beyond the places share them. `now` is
    /// the simulation's clock: nothing is ever asked for an earlier time.
    #[inline(never)]
    pub fn available_for(&mut self, count: usize, now: u64, time: u64) -> u64 {
        debug_assert!(time >= now);
        // The common case: so few are outstanding that it does not matter when they begin.
        if self.ends.len() + count <= self.places {
            return time;
        }
        self.forget_before(now);
        self.first_with_room(count.min(self.places), time)
    }

    /// Takes `count` places from `from`, when there were so many, until `until`.
    #[inline(never)]
    pub fn take_for(&mut self, count: usize, now: u64, from: u64, until: u64) {
        for _ in 0..count.min(self.places) {
            self.take(now, from, until);
        }
    }

    fn take(&mut self, now: u64, from: u64, until: u64) {
        if until <= from {
            return;
        }
        self.forget_before(now);
        if self.ends.len() < self.places {
            self.hold(from, until);
        } else {
            self.hold_in_parts(from, until);
        }
    }

    /// Holds a place for so long in all, at the first times from `from` on that have one.
    fn hold_in_parts(&mut self, from: u64, until: u64) {
        let (mut from, mut left) = (from, until - from);
        while left > 0 {
            from = self.first_with_room(1, from);
            let part = (self.first_full(from, from + left) - from).min(left);
            self.hold(from, from + part);
            from += part;
            left -= part;
        }
    }

    /// A request that begins when another ends changes nothing at that time.
    fn hold(&mut self, from: u64, until: u64) {
        if !remove(&mut self.ends, from) {
            insert(&mut self.starts, from);
        }
        if !remove(&mut self.starts, until) {
            insert(&mut self.ends, until);
        }
    }

    /// The first time from `time` on at which `count` places are free.
    fn first_with_room(&self, count: usize, time: u64) -> u64 {
        let mut at = self.cursor(time);
        while self.held_at(at) + count > self.places {
            at = self.next_end(at);
        }
        at.time
    }

    /// The first time from `from` to before `to` from which on all places are held; otherwise `to`.
    fn first_full(&self, from: u64, to: u64) -> u64 {
        let Cursor { mut started, mut ended, .. } = self.cursor(from);
        while let Some(&start) = self.starts.get(started).filter(|&&start| start < to) {
            started += 1;
            while self.ends.get(ended).is_some_and(|&end| end <= start) {
                ended += 1;
            }
            if self.held + started - ended == self.places {
                return start;
            }
        }
        to
    }

    fn cursor(&self, time: u64) -> Cursor {
        let until = |times: &VecDeque<u64>| times.partition_point(|&at| at <= time);
        Cursor { time, started: until(&self.starts), ended: until(&self.ends) }
    }

    /// The next time at which a request ends, of which there is one.
    fn next_end(&self, at: Cursor) -> Cursor {
        let time = self.ends[at.ended];
        let after = |times: &VecDeque<u64>, from| (from..times.len()).find(|&next| times[next] > time);
        let started = after(&self.starts, at.started).unwrap_or(self.starts.len());
        Cursor { time, started, ended: after(&self.ends, at.ended).unwrap_or(self.ends.len()) }
    }

    const fn held_at(&self, at: Cursor) -> usize {
        self.held + at.started - at.ended
    }

    /// Counts what begins and ends until the clock.
    #[inline]
    fn forget_before(&mut self, now: u64) {
        while self.starts.front().is_some_and(|&start| start <= now) {
            self.starts.pop_front();
            self.held += 1;
        }
        while self.ends.front().is_some_and(|&end| end <= now) {
            self.ends.pop_front();
            self.held -= 1;
        }
    }
}

/// Removes a time from sorted ones; `false` if it is not there.
#[inline]
fn remove(times: &mut VecDeque<u64>, time: u64) -> bool {
    times.binary_search(&time).is_ok_and(|at| times.remove(at).is_some())
}

/// Inserts into sorted times; most belong near the end.
#[inline]
fn insert(times: &mut VecDeque<u64>, time: u64) {
    if times.back().is_none_or(|&last| last <= time) {
        times.push_back(time);
    } else {
        times.insert(times.partition_point(|&at| at <= time), time);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// When a request at `time` that lasts so long gets its place.
    fn ask(slots: &mut ByTime, now: u64, time: u64, duration: u64) -> u64 {
        let from = slots.available_for(1, now, time);
        slots.take_for(1, now, from, from + duration);
        from
    }

    #[test]
    fn requests_that_come_together_wait_for_as_many_places() {
        let mut slots = ByTime::new(4);
        slots.take(0, 0, 10);
        slots.take(0, 0, 20);
        assert_eq!([2, 3, 4, 9].map(|count| slots.available_for(count, 0, 0)), [0, 10, 20, 20]);
        slots.take_for(9, 0, 20, 50);
        assert_eq!(slots.available_for(4, 0, 0), 50);
    }

    #[test]
    fn a_place_that_comes_back_early_is_used_before_those_taken_earlier() {
        let mut slots = ByTime::new(2);
        ask(&mut slots, 0, 0, 500);
        ask(&mut slots, 0, 0, 10);
        assert_eq!(ask(&mut slots, 0, 0, 10), 10);
    }

    #[test]
    fn an_early_request_does_not_wait_for_one_that_begins_later() {
        let mut slots = ByTime::new(1);
        assert_eq!(ask(&mut slots, 0, 1_000, 100), 1_000);
        assert_eq!(ask(&mut slots, 0, 0, 100), 0);
        assert_eq!(ask(&mut slots, 0, 50, 950), 100, "until 1000, and from 1100 on");
        assert_eq!(ask(&mut slots, 0, 0, 1), 1_150);
    }

    /// The same, slow and obvious: how many places are held at each time.
    struct Held {
        places: u32,
        at: Vec<u32>,
    }

    impl Held {
        fn available_for(&self, count: u32, time: usize) -> usize {
            let room = |&at: &usize| self.at[at] + count.min(self.places) <= self.places;
            (time..).find(room).unwrap()
        }

        fn take(&mut self, from: usize, duration: usize) {
            let times = (from..).filter(|&at| self.at[at] < self.places).take(duration).collect::<Vec<_>>();
            for at in times {
                self.at[at] += 1;
            }
        }
    }

    proptest! {
        #[test]
        fn places_are_free_when_counting_says_so(
            places in 1u32..6,
            requests in prop::collection::vec((0u64..30, 0u64..300, 0u64..200, 1usize..8), 1..100),
        ) {
            let mut slots = ByTime::new(places);
            let mut counted = Held { places, at: vec![0; 200_000] };
            let mut now = 0;
            for (step, ahead, duration, count) in requests {
                now += step;
                let from = slots.available_for(count, now, now + ahead);
                prop_assert_eq!(from as usize, counted.available_for(count as u32, (now + ahead) as usize));
                slots.take_for(count, now, from, from + duration);
                for _ in 0..count.min(places as usize) {
                    counted.take(from as usize, duration as usize);
                }
            }
        }
    }
}
