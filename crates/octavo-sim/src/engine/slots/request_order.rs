//! Places that are given out in the order of requests.

use prefetch_index::prefetch_index;

/// Places by the time each was promised back, reused in the order they were taken. A request that returns before an
/// older one therefore frees its place only with the older one: slightly pessimistic, and constant time.
pub(crate) struct ByRequest {
    until: Box<[u64]>,
    next: usize,
}

impl ByRequest {
    /// `places` places; 0 for no limit.
    pub fn new(places: u32) -> Self {
        Self { until: vec![0; places as usize].into(), next: 0 }
    }

    /// A hint to the simulating machine that the next place is needed soon.
    #[inline(always)]
    pub fn hint(&self) {
        prefetch_index(&self.until, self.next);
    }

    /// The time when a request that arrives at `time` gets a place.
    #[inline]
    pub fn available(&self, time: u64) -> u64 {
        self.until.get(self.next).map_or(time, |&free| free.max(time))
    }

    /// The time when all of `count` requests that arrive together at `time` have a place. Callers keep `count` within
    /// the places; where they cannot (misses of one long instruction), those beyond share places.
    #[inline]
    pub fn available_for(&self, count: usize, time: u64) -> u64 {
        let places = self.until.len();
        if places == 0 {
            return time;
        }
        let last = self.next + count.min(places) - 1;
        self.until[if last < places { last } else { last - places }].max(time)
    }

    /// Takes `count` places until `until`.
    #[inline]
    pub fn take_for(&mut self, count: usize, until: u64) {
        for _ in 0..count.min(self.until.len()) {
            self.take(until);
        }
    }

    /// Takes the next place until `until`.
    #[inline]
    pub fn take(&mut self, until: u64) {
        let Some(place) = self.until.get_mut(self.next) else { return };
        *place = until;
        self.next += 1;
        if self.next == self.until.len() {
            self.next = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ByRequest;

    #[test]
    fn a_third_request_waits_for_the_first_of_two_places() {
        let mut slots = ByRequest::new(2);
        for _ in 0..2 {
            assert_eq!(slots.available(0), 0);
            slots.take(100);
        }
        assert_eq!(slots.available(5), 100);
        assert_eq!(ByRequest::new(0).available(5), 5);
    }

    #[test]
    fn requests_that_come_together_wait_for_as_many_places() {
        let mut slots = ByRequest::new(4);
        slots.take(10);
        slots.take(20);
        assert_eq!((slots.available_for(2, 0), slots.available_for(3, 0), slots.available_for(9, 0)), (0, 10, 20));
        slots.take_for(9, 50);
        assert_eq!((slots.available_for(4, 0), ByRequest::new(0).available_for(4, 7)), (50, 7));
    }
}
