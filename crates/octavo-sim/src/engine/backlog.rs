//! A pipeline that is booked out of order: by the work that lies before it, not by the time from which it is free.

/// Work booked from the clock on. A request for a later time does not hold up one for an earlier time, unless there is
/// more work until then than the pipeline can do.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Backlog {
    /// The earliest end of all bookings.
    over: u64,
}

impl Backlog {
    /// It is `now`: books `busy` picoseconds of work that arrives at `time`; returns its end.
    #[inline]
    pub fn book(&mut self, now: u64, time: u64, busy: u64) -> u64 {
        self.over = self.over.max(now) + busy;
        self.over.max(time + busy)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_comes_later_holds_up_nobody_who_comes_earlier() {
        let mut backlog = Backlog::default();
        assert_eq!(backlog.book(100, 900, 50), 950);
        assert_eq!(backlog.book(100, 200, 50), 250, "there is time for both");
        assert_eq!(backlog.book(100, 100, 200), 400, "behind the 100 that are booked");
    }

    proptest! {
        #[test]
        fn never_does_more_than_one_thing_at_a_time(requests in prop::collection::vec((0u64..50, 0u64..1000, 1u64..100), 1..100)) {
            let (mut backlog, mut now, mut work, mut last) = (Backlog::default(), 0, 0, 0);
            for (step, ahead, busy) in requests {
                now += step;
                let over = backlog.book(now, now + ahead, busy);
                prop_assert!(over >= now + ahead + busy);
                work += busy;
                last = last.max(over);
            }
            prop_assert!(work <= last);
        }
    }
}
