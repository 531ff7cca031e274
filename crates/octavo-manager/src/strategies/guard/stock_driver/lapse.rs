//! The time within which two moves belong together, as release 595 adapts it.

use octavo_units::Time;

const MOST: Time = Time(500_000_000_000);
const MOST_GROWTH: Time = Time(50_000_000_000);
const LEAST_SHRINKING: Time = Time(5_000_000);
/// `uvm_perf_lapse_vote_threshold`.
const VOTES: i8 = 32;

/// The lapse of one address space.
#[derive(Clone)]
pub(super) struct Lapse {
    pub time: Time,
    vote: i8,
}

impl Lapse {
    pub fn new(time: Time) -> Self {
        Self { time, vote: 0 }
    }

    /// Two moves followed one another after `gap`.
    pub fn adapt(&mut self, gap: Time) {
        self.vote = self.vote.saturating_add(if gap >= self.time { 1 } else { -1 });
        let eighth = Time(self.time.0 / 8);
        // Compared as an unsigned number, every negative vote is beyond the threshold.
        if self.vote < 0 && self.time < MOST {
            self.time = (self.time + eighth.min(MOST_GROWTH)).min(MOST);
            self.vote /= 2;
        } else if self.vote >= VOTES && self.time >= MOST {
            self.time = self.time - eighth.max(LEAST_SHRINKING);
            self.vote /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_at_once_and_shrinks_from_the_top_alone() {
        let mut lapse = Lapse::new(Time(800));
        lapse.adapt(Time(799));
        assert_eq!((lapse.time, lapse.vote), (Time(900), 0));
        (0..100).for_each(|_| lapse.adapt(Time(900)));
        assert_eq!(lapse.time, Time(900), "below the top nothing shrinks");
        let mut top = Lapse::new(MOST);
        (0..31).for_each(|_| top.adapt(MOST));
        assert_eq!(top.time, MOST);
        top.adapt(MOST);
        assert_eq!(top.time, Time(437_500_000_000));
    }

    #[test]
    fn it_grows_when_more_moves_are_close_than_far_apart() {
        let mut lapse = Lapse::new(Time(800));
        lapse.adapt(Time(800));
        lapse.adapt(Time(0));
        assert_eq!(lapse.time, Time(800), "as many of both");
        lapse.adapt(Time(0));
        assert_eq!(lapse.time, Time(900));
    }

    #[test]
    fn at_the_top_close_moves_keep_it_there_for_longer() {
        let mut top = Lapse::new(MOST);
        top.adapt(Time(0));
        (0..32).for_each(|_| top.adapt(MOST));
        assert_eq!(top.time, MOST, "only 31 more were far apart");
        top.adapt(MOST);
        assert!(top.time < MOST);
    }

    #[test]
    fn half_of_what_made_it_shrink_counts_against_growing() {
        let mut lapse = Lapse::new(MOST);
        (0..32).for_each(|_| lapse.adapt(MOST));
        let shrunk = lapse.time;
        (0..16).for_each(|_| lapse.adapt(Time(0)));
        assert_eq!(lapse.time, shrunk);
        lapse.adapt(Time(0));
        assert!(lapse.time > shrunk);
    }
}
