//! Places that are given out in order of time.
//!
//! Requests are made ahead of the clock and not in order of their times. If each took the place that is free first, an
//! early request would wait for places that are free until a later one begins. So a place is held from a request's
//! beginning to its end, and is free before and afterwards. There are never more held than there are places. Time for
//! which a request would hold a place while all are taken is added at the first later times with room, so that later
//! requests pay for it.
//!
//! While there are fewer requests than places, there is room whenever they begin: they are only noted.

use super::levels::Levels;

pub(crate) struct ByTime {
    places: usize,
    /// While there is room for all: the beginning and the end of each request, including past ones.
    requests: Vec<(u64, u64)>,
    /// Otherwise, how many places are held at which time.
    levels: Option<Box<Levels>>,
}

impl ByTime {
    /// `places` places, at least one.
    pub fn new(places: u32) -> Self {
        Self { places: places as usize, requests: Vec::new(), levels: None }
    }

    /// The time at which all of `count` requests that arrive together at `time` have a slot; those beyond the slots
    /// share them. `now` is the simulation's clock: nothing is ever asked for an earlier time.
    #[inline(never)]
    pub fn available_for(&mut self, count: usize, now: u64, time: u64) -> u64 {
        debug_assert!(time >= now);
        if self.levels.is_none() && self.requests.len() + count <= self.places {
            return time;
        }
        self.search(count, now, time)
    }

    fn search(&mut self, count: usize, now: u64, time: u64) -> u64 {
        if self.levels.is_none() {
            self.forget_before(now);
            if self.requests.len() + count <= self.places {
                return time;
            }
        }
        let count = count.min(self.places) as u32;
        self.levels(now).first_with_room(count, time)
    }

    /// Takes `count` places from `from` (when this many were there) to `until`.
    #[inline(never)]
    pub fn take_for(&mut self, count: usize, now: u64, from: u64, until: u64) {
        for _ in 0..count.min(self.places) {
            if self.levels.is_none() && self.requests.len() < self.places {
                self.requests.push((from, until));
            } else {
                self.take(now, from, until);
            }
        }
    }

    fn take(&mut self, now: u64, from: u64, until: u64) {
        if until <= from {
            return;
        }
        if self.levels.is_none() {
            self.forget_before(now);
            // So few that it takes as many more until there is another look.
            if self.requests.len() <= self.places / 2 {
                return self.requests.push((from, until));
            }
        }
        let few = self.places / 4;
        let levels = self.levels(now);
        levels.hold(from, until);
        if levels.len() <= few {
            self.requests = levels.requests(now);
            self.levels = None;
        }
    }

    fn forget_before(&mut self, now: u64) {
        self.requests.retain(|&(_, until)| until > now);
    }

    /// The number of places held, from the clock on.
    fn levels(&mut self, now: u64) -> &mut Levels {
        let Self { places, requests, levels } = self;
        let levels = levels.get_or_insert_with(|| {
            let mut levels = Levels::new(*places as u32);
            for (from, until) in requests.drain(..).filter(|(from, until)| from < until) {
                levels.hold(from.max(now), until);
            }
            levels.into()
        });
        levels.forget_before(now);
        levels
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The time when a request at `time` with this duration gets its place.
    fn ask(slots: &mut ByTime, now: u64, time: u64, duration: u64) -> u64 {
        let from = slots.available_for(1, now, time);
        slots.take_for(1, now, from, from + duration);
        from
    }

    #[test]
    fn requests_that_come_together_wait_for_as_many_places() {
        let mut slots = ByTime::new(4);
        slots.take_for(1, 0, 0, 10);
        slots.take_for(1, 0, 0, 20);
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
            places in 1u32..10,
            requests in prop::collection::vec((0u64..30, 0u64..300, 0u64..200, 1usize..12), 1..100),
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
