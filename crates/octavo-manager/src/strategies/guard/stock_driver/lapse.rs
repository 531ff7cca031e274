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
}
