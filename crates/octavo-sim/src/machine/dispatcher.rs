//! How fast a GPU starts work-groups.

use std::num::NonZeroU32;

use octavo_node::ComputeConfig;

/// Starts this many work-groups a cycle, or one after each interval, at the beginning of a launch and later.
#[derive(Clone)]
pub(super) struct Dispatcher {
    /// The cycle or the interval, in picoseconds.
    cycle: u64,
    each_cycle: u32,
    /// When the last cycle with a start began, and how many starts it has.
    began: u64,
    starts: u32,
}

impl Dispatcher {
    pub fn new(compute: &ComputeConfig, cycle: u64) -> Self {
        if compute.group_interval.0 > 0 {
            return Self { cycle: compute.group_interval.0, each_cycle: 1, began: 0, starts: 0 };
        }
        let each_cycle = NonZeroU32::new(compute.groups_per_cycle).map_or(u32::MAX, NonZeroU32::get);
        Self { cycle, each_cycle, began: 0, starts: 0 }
    }

    /// The start of a work-group that is possible at `time`.
    pub fn start(&mut self, time: u64) -> u64 {
        if time >= self.began + self.cycle {
            (self.began, self.starts) = (time, 0);
        } else if self.starts == self.each_cycle {
            (self.began, self.starts) = (self.began + self.cycle, 0);
        }
        self.starts += 1;
        self.began.max(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(each_cycle: u32, times: &[u64]) -> Vec<u64> {
        let mut dispatcher = Dispatcher { cycle: 10, each_cycle, began: 0, starts: 0 };
        times.iter().map(|&time| dispatcher.start(time)).collect()
    }

    #[test]
    fn a_cycle_has_so_many_starts_whenever_they_are_asked_for() {
        assert_eq!(starts(2, &[0, 0, 0, 0, 0]), [0, 0, 10, 10, 20]);
        assert_eq!(starts(2, &[0, 3, 4, 25, 26, 27, 100]), [0, 3, 10, 25, 26, 35, 100]);
        assert_eq!(starts(u32::MAX, &[5, 5, 5]), [5, 5, 5]);
    }
}
