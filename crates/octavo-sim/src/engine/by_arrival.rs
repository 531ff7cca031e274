//! A resource that serves one thing after another, in the order in which they arrive: the head of a switch's input, a
//! link behind a switch.
//!
//! Requests are made ahead of the clock and not in order of their times: an answer is booked with its request, before
//! requests that pass the same link earlier. So a request is served after all known requests that arrive before it, in
//! whatever order they were made. Requests that arrive later have their times already, so the requests after them pay
//! for it. (A [`Lane`](super::lane::Lane) depends less on the order and is cheaper.)

use std::collections::VecDeque;

/// Stretches are 131 ns long: where links are busy, one holds about as many requests as there are stretches ahead of
/// the clock.
const SHIFT: u32 = 17;

#[derive(Default)]
pub(crate) struct ByArrival {
    /// The stretches in which requests arrive, in order of time.
    stretches: VecDeque<Stretch>,
    /// The end of all stretches before these.
    over: u64,
    busy: u64,
}

/// Requests that arrive in a stretch of time.
struct Stretch {
    number: u64,
    /// Their arrival times, in order, and their durations.
    requests: Vec<(u64, u64)>,
    /// Their total duration.
    sum: u64,
    /// Their end if there were nothing before them.
    alone: u64,
}

impl Stretch {
    const fn new(number: u64) -> Self {
        Self { number, requests: Vec::new(), sum: 0, alone: 0 }
    }

    /// The end of those that arrive until `time`, if all before them end at `over`.
    fn over_until(&self, over: u64, time: u64) -> u64 {
        let until = self.requests.iter().take_while(|(came, _)| *came <= time);
        until.fold(over, |over, &(came, duration)| over.max(came) + duration)
    }

    /// The end of all of them, if all before them end at `over`.
    fn over(&self, over: u64) -> u64 {
        self.alone.max(over + self.sum)
    }

    fn insert(&mut self, came: u64, duration: u64) {
        let place = self.requests.partition_point(|&(other, _)| other <= came);
        self.requests.insert(place, (came, duration));
        self.sum += duration;
        let last = place + 1 == self.requests.len();
        self.alone = if last { self.alone.max(came) + duration } else { self.over_until(0, u64::MAX) };
    }
}

impl ByArrival {
    /// The turn of a request that arrives at `came`.
    pub fn turn(&self, came: u64) -> u64 {
        let (number, place) = self.place(came);
        let over = self.stretches.range(..place).fold(self.over, |over, stretch| stretch.over(over));
        let own = self.stretches.get(place).filter(|stretch| stretch.number == number);
        own.map_or(over, |stretch| stretch.over_until(over, came)).max(came)
    }

    /// Takes in a request that arrives at `came` and occupies the resource for `duration`. `now` is the simulation's
    /// clock: nothing will ever arrive before.
    pub fn take_in(&mut self, now: u64, came: u64, duration: u64) {
        debug_assert!(came >= now);
        self.busy += duration;
        self.forget_before(now >> SHIFT);
        let (number, place) = self.place(came);
        if self.stretches.get(place).is_none_or(|stretch| stretch.number > number) {
            self.stretches.insert(place, Stretch::new(number));
        }
        self.stretches[place].insert(came, duration);
    }

    /// Serves a request that arrives at `came` for `duration`; returns its end.
    pub fn serve(&mut self, now: u64, came: u64, duration: u64) -> u64 {
        let turn = self.turn(came);
        self.take_in(now, came, duration);
        turn + duration
    }

    /// All busy time ever booked.
    pub fn busy(&self) -> u64 {
        self.busy
    }

    /// Number of the stretch of a time, and its place among those in which requests arrive.
    fn place(&self, time: u64) -> (u64, usize) {
        let number = time >> SHIFT;
        (number, self.stretches.partition_point(|stretch| stretch.number < number))
    }

    fn forget_before(&mut self, number: u64) {
        while let Some(first) = self.stretches.front().filter(|first| first.number < number) {
            self.over = first.over(self.over);
            self.stretches.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_request_waits_for_those_that_arrived_before_it_and_for_no_others() {
        let mut link = ByArrival::default();
        assert_eq!(link.serve(0, 1_000, 100), 1_100);
        assert_eq!(link.serve(0, 500, 600), 1_100, "made later, arrives earlier");
        assert_eq!(link.serve(0, 1_050, 100), 1_300, "behind both");
        assert_eq!(link.serve(0, 2_000, 100), 2_100);
    }

    #[test]
    fn requests_at_one_time_are_served_in_the_order_in_which_they_are_made() {
        let mut link = ByArrival::default();
        assert_eq!([10, 20, 5].map(|duration| link.serve(0, 7, duration)), [17, 37, 42]);
    }

    #[test]
    fn what_is_booked_far_ahead_costs_no_more_than_what_is_near() {
        let mut link = ByArrival::default();
        link.take_in(0, 10_000_000_000_000, 5);
        assert_eq!((link.stretches.len(), link.turn(10_000_000_000_000), link.turn(3)), (1, 10_000_000_000_005, 3));
    }

    /// The same, slow and obvious: all requests, in order of arrival.
    #[derive(Default)]
    struct Queue(Vec<(u64, u64)>);

    impl Queue {
        fn serve(&mut self, came: u64, duration: u64) -> u64 {
            let place = self.0.partition_point(|&(other, _)| other <= came);
            self.0.insert(place, (came, duration));
            self.0[..=place].iter().fold(0, |over: u64, &(came, duration)| over.max(came) + duration)
        }
    }

    proptest! {
        #[test]
        fn requests_are_served_in_order_of_arrival(
            requests in prop::collection::vec((0u64..90_000, 0u64..700_000, 1u64..60_000), 1..120),
        ) {
            let (mut link, mut queue, mut now) = (ByArrival::default(), Queue::default(), 0);
            for (step, ahead, duration) in requests {
                now += step;
                prop_assert_eq!(link.serve(now, now + ahead, duration), queue.serve(now + ahead, duration));
            }
            prop_assert_eq!(link.busy(), queue.0.iter().map(|(_, duration)| duration).sum::<u64>());
        }
    }
}
